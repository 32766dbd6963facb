/**
 * What is known of a row, in x. The standard mixes coordinates, z − mean = x M, so that a known
 * part of z fixes the coordinates of x along some directions. Let A_S be the columns of M of the
 * coordinates S of z. Parts of a row are given (S), drawn (T) or hidden (H); nothing is known or
 * asked of hidden parts. With the columns of O = S ∪ T in the order S, T:
 *
 *   A_OᵀA_O = L Lᵀ,   Q = A_O L⁻ᵀ = [Q_S Q_T]         QᵀQ = L⁻¹A_OᵀA_O L⁻ᵀ = I
 *
 * Since L⁻ᵀ is upper triangular this is Gram–Schmidt: the columns of Q_S span those of A_S, and
 * those of Q span those of A_O. The projections on what is given and on what is free are therefore
 *
 *   P_S = Q_S Q_Sᵀ         P = P_O − P_S = Q_T Q_Tᵀ
 *
 * and as x A_O = (z − mean)_O, the coordinates along the directions are x Q = (z − mean)_O L⁻ᵀ.
 * Noise is isotropic in x, hence independent in orthogonal directions: given z_S exactly, the
 * noised x P_S says nothing more, and what is left to draw lives in the range of P.
 *
 * M is zero between coordinates that are whitened apart, so it falls into blocks, and so do L, Q
 * and P. Each block is factored alone. A block of one part is known whole or not at all, which
 * takes one factor for all rows.
 */
import type { Product } from "diffeo/domain";
import { cholesky } from "diffeo/host";
import type { Standard } from "./standard.ts";

/** What a part of a row is. */
export const DRAWN = 0;

export const GIVEN = 1;

export const HIDDEN = 2;

/** Coordinates of x and z that the standard mixes with each other and with no others. */
export interface Block {
  /** The coordinates, ascending, and the parts that they belong to. */
  readonly coordinates: readonly number[];
  readonly parts: readonly number[];
}

/** The directions of one block. */
export interface Piece {
  readonly block: Block;
  /** The coordinates O of z, those of S first, and how many those are. */
  readonly places: readonly number[];
  readonly given: number;
  /** L, row-major, and Qᵀ: a direction of the block's coordinates per row. */
  readonly factor: Float64Array;
  readonly directions: Float64Array;
}

export interface Pattern {
  readonly pieces: readonly Piece[];
  /** Which coordinates of z are in S. */
  readonly isGiven: readonly boolean[];
  /** For the network: of each part whether it is given, then of each whether it is hidden. */
  readonly flags: readonly number[];
}

/** The patterns of a domain and its standard. */
export interface Patterns {
  readonly blocks: readonly Block[];
  /** The pattern of the states of parts. */
  readonly of: (states: ArrayLike<number>) => Pattern;
}

/** The part that each coordinate belongs to. */
const partAtOf = ({ parts }: Product): readonly number[] =>
  parts.flatMap(({ domain: { dimension } }, k) => Array.from({ length: dimension }, () => k));

/** An entry of M counts as zero below this share of its column's length: it is rounding. */
const ROUNDING = 1e-13;

/** The blocks of a standard; coordinates of one part are in one block. */
function blocksOf(domain: Product, { mean, matrix }: Standard): readonly Block[] {
  const n = mean.length;
  const partAt = partAtOf(domain);
  const root = Int32Array.from(domain.parts.keys());
  const rootOf = (k: number): number => {
    let at = k;
    while (root[at] !== at) at = root[at];
    return at;
  };
  for (let j = 0; j < n; j++) {
    let square = 0;
    for (let i = 0; i < n; i++) square += matrix[i * n + j] ** 2;
    const least = ROUNDING * Math.sqrt(square);
    for (let i = 0; i < n; i++)
      if (Math.abs(matrix[i * n + j]) > least) {
        const [a, b] = [rootOf(partAt[i]), rootOf(partAt[j])];
        root[Math.max(a, b)] = Math.min(a, b);
      }
  }
  const found = new Map<number, { coordinates: number[]; parts: number[] }>();
  partAt.forEach((k, i) => {
    const at = rootOf(k);
    const block = found.get(at) ?? { coordinates: [], parts: [] };
    found.set(at, block);
    block.coordinates.push(i);
    if (block.parts.at(-1) !== k) block.parts.push(k);
  });
  return [...found.values()];
}

/** The columns of M of one block, row-major, and their inner products. */
function columnsOf({ coordinates }: Block, { mean, matrix }: Standard) {
  const [n, s] = [mean.length, coordinates.length];
  const columns = new Float64Array(s * s);
  for (let i = 0; i < s; i++)
    for (let j = 0; j < s; j++) columns[i * s + j] = matrix[coordinates[i] * n + coordinates[j]];
  const gram = new Float64Array(s * s);
  for (let i = 0; i < s; i++)
    for (let a = 0; a < s; a++) {
      const weight = columns[i * s + a];
      for (let b = 0; b <= a; b++) gram[a * s + b] += weight * columns[i * s + b];
    }
  for (let a = 0; a < s; a++) for (let b = 0; b < a; b++) gram[b * s + a] = gram[a * s + b];
  return { columns, gram };
}

/** L of the given columns of a block, by their places in it; M has an inverse, so there is one. */
function factorOf(gram: Float64Array, s: number, places: readonly number[]): Float64Array {
  const o = places.length;
  const own = new Float64Array(o * o);
  for (let a = 0; a < o; a++)
    for (let b = 0; b < o; b++) own[a * o + b] = gram[places[a] * s + places[b]];
  const l = cholesky(own, o);
  if (!l) throw new Error("internal: a standard whose columns depend on each other");
  return l;
}

/** Qᵀ = L⁻¹A_Oᵀ by forward substitution, a row at a time. */
function directionsOf(
  l: Float64Array,
  columns: Float64Array,
  s: number,
  places: readonly number[],
): Float64Array {
  const o = places.length;
  const q = new Float64Array(o * s);
  for (let a = 0; a < o; a++) {
    for (let i = 0; i < s; i++) q[a * s + i] = columns[i * s + places[a]];
    for (let b = 0; b < a; b++) {
      const weight = l[a * o + b];
      for (let i = 0; i < s; i++) q[a * s + i] -= weight * q[b * s + i];
    }
    const scale = l[a * (o + 1)];
    for (let i = 0; i < s; i++) q[a * s + i] /= scale;
  }
  return q;
}

/** Numbers that remembered pieces may take. */
const MOST = 2e7;

/** The patterns of a standard; pieces are remembered as long as there is room. */
export function patternsOf(domain: Product, standard: Standard): Patterns {
  const partAt = partAtOf(domain);
  const blocks = blocksOf(domain, standard);
  const columns = blocks.map((block) => columnsOf(block, standard));
  const made = blocks.map(() => new Map<string, Piece>());
  let room = 0;
  const pieceOf = (at: number, states: ArrayLike<number>): Piece => {
    const block = blocks[at];
    const name = block.parts.map((k) => states[k]).join("");
    const before = made[at].get(name);
    if (before) return before;
    const { coordinates } = block;
    const within = (state: number): number[] =>
      coordinates.flatMap((i, j) => (states[partAt[i]] === state ? [j] : []));
    const [given, drawn] = [within(GIVEN), within(DRAWN)];
    const places = [...given, ...drawn];
    const factor = factorOf(columns[at].gram, coordinates.length, places);
    const directions = directionsOf(factor, columns[at].columns, coordinates.length, places);
    const piece: Piece = {
      block,
      places: places.map((j) => coordinates[j]),
      given: given.length,
      factor,
      directions,
    };
    room += factor.length + directions.length;
    if (room > MOST) {
      for (const one of made) one.clear();
      room = factor.length + directions.length;
    }
    made[at].set(name, piece);
    return piece;
  };
  return {
    blocks,
    of: (states) => ({
      pieces: blocks.map((_, at) => pieceOf(at, states)),
      isGiven: partAt.map((k) => states[k] === GIVEN),
      flags: [GIVEN, HIDDEN].flatMap((state) => Array.from(states, (v) => (v === state ? 1 : 0))),
    }),
  };
}
