/** Points in the subspaces of a pattern: what is given, what is free, and their volumes. */
import type { Block, Pattern, Piece } from "./pattern.ts";

type Numbers = Float64Array | Float32Array;

/** out += y_a q_a over the directions a from … to of a piece. */
function addAlong(
  out: Numbers,
  { block: { coordinates }, directions }: Piece,
  y: Float64Array,
  from: number,
  to: number,
): void {
  const s = coordinates.length;
  for (let a = from; a < to; a++)
    for (let i = 0; i < s; i++) out[coordinates[i]] += y[a] * directions[a * s + i];
}

/**
 * Adds x P_S to `given` and x P to `drawn`, for the point whose z − mean is `centred`; what the
 * pattern hides may be anything.
 */
export function addKnown(
  pattern: Pattern,
  centred: ArrayLike<number>,
  { given, drawn }: { readonly given?: Numbers; readonly drawn?: Numbers },
): void {
  for (const piece of pattern.pieces) {
    const { places, factor } = piece;
    const o = drawn ? places.length : piece.given;
    // y = (z − mean)_O L⁻ᵀ, of which the first are those of S alone.
    const y = new Float64Array(o);
    for (let a = 0; a < o; a++) {
      let left = centred[places[a]];
      for (let b = 0; b < a; b++) left -= factor[a * places.length + b] * y[b];
      y[a] = left / factor[a * (places.length + 1)];
    }
    if (given) addAlong(given, piece, y, 0, piece.given);
    if (drawn) addAlong(drawn, piece, y, piece.given, o);
  }
}

/** Adds v P to `out`. */
export function addFree(out: Numbers, v: ArrayLike<number>, { pieces }: Pattern): void {
  for (const piece of pieces) {
    const { places, given, directions } = piece;
    const { coordinates } = piece.block;
    const s = coordinates.length;
    if (given === places.length) continue;
    if (places.length - given === s) {
      // All directions are free.
      for (const i of coordinates) out[i] += v[i];
      continue;
    }
    const y = new Float64Array(places.length);
    for (let a = given; a < places.length; a++)
      for (let i = 0; i < s; i++) y[a] += v[coordinates[i]] * directions[a * s + i];
    addAlong(out, piece, y, given, places.length);
  }
}

/** log √|A_OᵀA_O|, the volume that the columns of M of O span. */
export const logVolumeOf = ({ pieces }: Pattern): number =>
  pieces.reduce((sum, { places: { length: o }, factor }) => {
    for (let a = 0; a < o; a++) sum += Math.log(factor[a * (o + 1)]);
    return sum;
  }, 0);

/** How many directions are free. */
export const freedomOf = ({ pieces }: Pattern): number =>
  pieces.reduce((sum, { places, given }) => sum + places.length - given, 0);

/**
 * The free directions as arrays of one shape for all patterns: a mask of the coordinates in blocks
 * of one part, and of each other block its Q_T, [size, size] with columns of zeros after the last
 * direction, where `size` is that of the largest.
 */
export interface FreeLayout {
  /** The coordinates of x under the mask. */
  readonly masked: readonly number[];
  /** Of each other block its coordinates, then n up to `size`: a place that is always zero. */
  readonly gathered: readonly (readonly number[])[];
  readonly size: number;
}

export function freeLayoutOf(blocks: readonly Block[], n: number): FreeLayout {
  const joint = blocks.filter(({ parts }) => parts.length > 1);
  const size = Math.max(1, ...joint.map(({ coordinates }) => coordinates.length));
  return {
    masked: blocks.flatMap(({ parts, coordinates }) => (parts.length > 1 ? [] : coordinates)),
    gathered: joint.map(({ coordinates }) =>
      Array.from({ length: size }, (_, j) => coordinates[j] ?? n),
    ),
    size,
  };
}

/** Writes the free directions of a pattern into number `row` of arrays that are zero there. */
export function writeFree(
  { pieces }: Pattern,
  { size, gathered, masked }: FreeLayout,
  row: number,
  mask: Numbers,
  directions: Numbers,
): void {
  let [at, block] = [row * masked.length, 0];
  for (const {
    block: { parts, coordinates },
    places,
    given,
    directions: q,
  } of pieces) {
    const s = coordinates.length;
    if (parts.length === 1) {
      if (places.length > given) mask.fill(1, at, at + s);
      at += s;
      continue;
    }
    const from = (row * gathered.length + block++) * size * size;
    for (let a = given; a < places.length; a++)
      for (let i = 0; i < s; i++) directions[from + i * size + a - given] = q[a * s + i];
  }
}

/**
 * Writes an orthonormal basis of the free directions, zeros after the last, as rows of n numbers.
 */
export function writeBasis({ pieces }: Pattern, n: number, out: Numbers, at: number): void {
  let row = at;
  for (const {
    block: { coordinates },
    places,
    given,
    directions,
  } of pieces) {
    const s = coordinates.length;
    for (let a = given; a < places.length; a++, row += n)
      for (let i = 0; i < s; i++) out[row + coordinates[i]] = directions[a * s + i];
  }
}
