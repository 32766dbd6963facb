/**
 * The matrices of Winograd's convolutions (`winograd.ts`): points and tiles along each axis, and
 * when the form needs fewer operations than the plain one.
 */
import type { Geometry } from "../conv.ts";
import { constantValue, type Target, type Tensor } from "../tensor.ts";

/** A matrix as a list of rows. */
export type Rows = readonly (readonly number[])[];

/**
 * One axis: K has a row for each point, A and C have one for each point and tile, tiles fastest.
 */
interface Axis {
  readonly points: number;
  readonly tiles: number;
  readonly input: Rows;
  readonly kernel: Rows;
  readonly output: Rows;
}

/**
 * The points, in addition to ∞. Their powers are closer to 1 than those of the usual 0, ±1, ±2,
 * which halves the rounding error. They are exact in binary.
 */
const POINTS = [0, 0.75, -0.75, 1.5, -1.5];
const TILE = POINTS.length - 1;

/** αₚⁱ for i < count, with ∞ last. */
const powers = (count: number): Rows => [
  ...POINTS.map((a) => Array.from({ length: count }, (_, i) => a ** i)),
  Array.from({ length: count }, (_, i) => (i === count - 1 ? 1 : 0)),
];

/**
 * The transpose of the inverse of the powers: row p has the coefficients of the polynomial that is
 * 1 at αₚ and 0 at the others.
 */
function interpolation(): Rows {
  const times = (a: readonly number[], root: number): number[] =>
    Array.from({ length: a.length + 1 }, (_, i) => (a[i - 1] ?? 0) - root * (a[i] ?? 0));
  const all = POINTS.reduce(times, [1]);
  const lagrange = POINTS.map((point) => {
    const others = POINTS.filter((a) => a !== point);
    const scale = others.reduce((s, a) => s * (point - a), 1);
    return [...others.reduce(times, [1]).map((c) => c / scale), 0];
  });
  return [...lagrange, all];
}

const zeros = (n: number): number[] => new Array<number>(n).fill(0);

/** Tiles of four outputs; pixels outside the image are 0 and omitted. */
function tiled(n: number, out: number, before: number): Axis {
  const tiles = Math.ceil(out / TILE);
  const [a, c] = [interpolation(), powers(TILE)];
  const rows = (matrix: Rows, size: number, first: number): Rows =>
    matrix.flatMap((row) =>
      Array.from({ length: tiles }, (_, t) => {
        const line = zeros(size);
        row.forEach((v, j) => {
          const at = t * TILE + j - first;
          if (at >= 0 && at < size) line[at] = v;
        });
        return line;
      }),
    );
  return {
    points: a.length,
    tiles,
    input: rows(a, n, before),
    kernel: powers(3),
    output: rows(c, out, 0),
  };
}

/**
 * Two pixels in, two out, by A. Karatsuba's three products: w₁(x₀ + x₁), (w₂ − w₁)x₁ and (w₀ −
 * w₁)x₀.
 */
const pair: Axis = {
  points: 3,
  tiles: 1,
  input: [
    [1, 1],
    [0, 1],
    [1, 0],
  ],
  kernel: [
    [0, 1, 0],
    [0, -1, 1],
    [1, -1, 0],
  ],
  output: [
    [1, 1],
    [1, 0],
    [0, 1],
  ],
};

const axisOf = (n: number, out: number, before: number): Axis =>
  n === 2 && out === 2 && before === 1 ? pair : tiled(n, out, before);

/** Both axes of a convolution. */
export interface Plan {
  readonly down: Axis;
  readonly across: Axis;
  /** Pairs of points, and of tiles. */
  readonly points: number;
  readonly tiles: number;
}

function planOf(q: Geometry): Plan {
  const [down, across] = [axisOf(q.h, q.oh, q.top), axisOf(q.w, q.ow, q.left)];
  return { down, across, points: down.points * across.points, tiles: down.tiles * across.tiles };
}

export type Side = "input" | "output";

/**
 * A or C across, for pixels that have tiles down already: [points, tiles down, tiles across] by
 * [tiles down, pixels].
 */
export const overTiles = ({ down, across }: Plan, side: Side): Rows =>
  Array.from({ length: across.points }, (_, q) =>
    Array.from({ length: down.tiles }, (__, s) =>
      Array.from({ length: across.tiles }, (___, t) => {
        const line = across[side][q * across.tiles + t];
        return Array.from({ length: down.tiles }, (____, own) =>
          own === s ? line : zeros(line.length),
        ).flat();
      }),
    ).flat(),
  ).flat();

/**
 * Two products, along one axis and then the other, need a third of the operations of one product
 * over pixels. But products of so few rows are faster on the CPU only.
 */
export const inTwo = ({ tiles }: Plan, target: Target): boolean => target === "cpu" && tiles > 1;

/** The numbers of A or C that multiply every channel of an image. */
function spreading(plan: Plan, side: Side, target: Target): number {
  const { down, across } = plan;
  const [h, w] = [down[side][0].length, across[side][0].length];
  return inTwo(plan, target)
    ? down.points * down.tiles * (h * w + across.points * across.tiles * down.tiles * w)
    : plan.points * plan.tiles * h * w;
}

/**
 * With fewer rows per product, reading four times the weights takes longer than the saved
 * operations.
 */
const LEAST_ROWS = 16;
/** Larger images use the plain form, because they have too many tiles. */
const MOST_PIXELS = 1024;
/**
 * The greatest share of operations for which the form is used, because each operation is slightly
 * slower.
 */
const WORTHWHILE = 0.7;

/**
 * The plan of a 3×3 convolution of `batch` images with w; undefined if it does not need fewer
 * operations.
 */
export function planFor(batch: number, w: Tensor, q: Geometry, target: Target): Plan | undefined {
  if (
    q.kh !== 3 ||
    q.kw !== 3 ||
    q.stride !== 1 ||
    w.dtype !== "float32" ||
    q.h * q.w > MOST_PIXELS
  )
    return undefined;
  const [inC, outC] = w.shape.slice(2);
  const plan = planOf(q);
  if (plan.tiles * batch < LEAST_ROWS) return undefined;
  const spread = inC * spreading(plan, "input", target) + outC * spreading(plan, "output", target);
  const kernel = constantValue(w) ? 0 : 2 * 9 * plan.points * inC * outC;
  const here = batch * (plan.points * plan.tiles * inC * outC + spread) + kernel;
  return here < WORTHWHILE * batch * q.oh * q.ow * 9 * inC * outC ? plan : undefined;
}

/** K over taps. */
export const overTaps = ({ down, across }: Plan): Rows =>
  down.kernel.flatMap((a) => across.kernel.map((b) => a.flatMap((u) => b.map((v) => u * v))));
