/**
 * 3×3 convolutions with fewer products (S. Winograd 1980; A. Lavin and S. Gray, CVPR 2016). Along
 * one axis, with points αₚ, polynomials of 4 and of 3 coefficients are multiplied by the values of
 * both at six points. The form
 *   Σ_{j<4, u<3} g[j] x[j+u] w[u] = Σₚ (C g)ₚ (A x)ₚ (K w)ₚ,   Cₚⱼ = αₚʲ,   Kₚᵤ = αₚᵘ,   A = V⁻ᵀ,   Vₚᵢ = αₚⁱ (i < 6)
 * holds because the 6 coefficients of g·w are V⁻¹ of its values. The point ∞ stands for the leading
 * coefficient.
 *
 * So the trilinear form of `../conv.ts` is Σ over 36 pairs of points of a product of matrices,
 * tiles by channels by channels:
 *   T(x, w, g) = Σₚ Σ (A x)ₚ (K w)ₚ (C g)ₚ,     conv2d = Cᵀ(x̃ w̃),   convInput = Aᵀ(g̃ w̃ᵀ),   convWeight = Kᵀ(x̃ᵀ g̃)
 * with 36 products for 4×4 pixels where there were 144. A, C and K are matrices over pixels and
 * taps: with pixels as rows, all of it is products of matrices and nothing is gathered.
 */
import { mul } from "../arithmetic.ts";
import { sum } from "../broadcast.ts";
import type { Geometry } from "../conv.ts";
import { matmul } from "../linalg.ts";
import { divisorNear, type Shape } from "../ndarray.ts";
import { reshape, transpose } from "../shape.ts";
import { constant, constantValue, type Target, type Tensor } from "../tensor.ts";

/** A matrix as a list of rows. */
type Rows = readonly (readonly number[])[];

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
 * With ∞. Powers of these stay nearer 1 than those of the usual 0, ±1, ±2: half the rounding error.
 * Exact in binary.
 */
const POINTS = [0, 0.75, -0.75, 1.5, -1.5];
const TILE = POINTS.length - 1;

/** αₚⁱ for i < count, with ∞ last. */
const powers = (count: number): Rows => [
  ...POINTS.map((a) => Array.from({ length: count }, (_, i) => a ** i)),
  Array.from({ length: count }, (_, i) => (i === count - 1 ? 1 : 0)),
];

/**
 * The transpose of the inverse of the powers: row p holds the coefficients of the polynomial that
 * is 1 at αₚ and 0 at the others.
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

/** Tiles of four outputs; what lies outside of the image is zero and left out. */
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
interface Plan {
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

type Side = "input" | "output";

/**
 * A or C across, for pixels that have tiles down already: [points, tiles down, tiles across] by
 * [tiles down, pixels].
 */
const overTiles = ({ down, across }: Plan, side: Side): Rows =>
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
 * In two products, along one axis and then the other, takes a third of the operations of one over
 * pixels; but products of so few rows pay on the CPU alone.
 */
const inTwo = ({ tiles }: Plan, target: Target): boolean => target === "cpu" && tiles > 1;

/** Numbers of A or C that meet every channel of an image. */
function spreading(plan: Plan, side: Side, target: Target): number {
  const { down, across } = plan;
  const [h, w] = [down[side][0].length, across[side][0].length];
  return inTwo(plan, target)
    ? down.points * down.tiles * (h * w + across.points * across.tiles * down.tiles * w)
    : plan.points * plan.tiles * h * w;
}

/**
 * Fewer rows to a product than this, and reading four times the weights takes longer than it saves.
 */
const LEAST_ROWS = 16;
/** Larger images are left to the plain form: their tiles are too many. */
const MOST_PIXELS = 1024;
/** The share of operations that must be left: each is a little slower. */
const WORTHWHILE = 0.7;

/** The plan of a 3×3 convolution of `batch` images by w, where it takes fewer operations. */
function planFor(batch: number, w: Tensor, q: Geometry, target: Target): Plan | undefined {
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

const matrix = (rows: Rows): Tensor =>
  constant(
    {
      shape: [rows.length, rows[0].length],
      dtype: "float64",
      data: Float64Array.from(rows.flat()),
    },
    "float32",
  );

const turned = (rows: Rows): Rows => rows[0].map((_, j) => rows.map((row) => row[j]));

/**
 * A or C over pixels, points of both axes before tiles of both. It is written as a product of small
 * constants, which are known to be equal wherever they are written, so that what it makes of x is
 * computed once; the runtime multiplies them beforehand.
 */
function overPixels({ down, across, points, tiles }: Plan, side: Side): Tensor {
  const [d, a] = [matrix(down[side]), matrix(across[side])];
  const [h, w] = [d.shape[1], a.shape[1]];
  const both = mul(
    reshape(d, [down.points, 1, down.tiles, 1, h, 1]),
    reshape(a, [1, across.points, 1, across.tiles, 1, w]),
  );
  return reshape(both, [points * tiles, h * w]);
}

/** Its transpose. */
function overPixelsTurned({ down, across, points, tiles }: Plan, side: Side): Tensor {
  const [d, a] = [matrix(turned(down[side])), matrix(turned(across[side]))];
  const [h, w] = [d.shape[0], a.shape[0]];
  const both = mul(
    reshape(d, [h, 1, down.points, 1, down.tiles, 1]),
    reshape(a, [1, w, 1, across.points, 1, across.tiles]),
  );
  return reshape(both, [h * w, points * tiles]);
}

/** A x or C g: [batch, h, w, c] to [points, tiles · batch, c]. */
function spread(x: Tensor, side: Side, plan: Plan, target: Target): Tensor {
  const [b, h, w, c] = x.shape;
  const { down } = plan;
  const pixelsFirst = transpose(reshape(x, [b, h * w, c]), [1, 0, 2]);
  const all = inTwo(plan, target)
    ? matmul(
        matrix(overTiles(plan, side)),
        reshape(matmul(matrix(down[side]), reshape(pixelsFirst, [h, w * b * c])), [
          down.points,
          down.tiles * w,
          b * c,
        ]),
      )
    : matmul(overPixels(plan, side), reshape(pixelsFirst, [h * w, b * c]));
  return reshape(all, [plan.points, plan.tiles * b, c]);
}

/** Aᵀ or Cᵀ of that. */
function gathered(y: Tensor, side: Side, plan: Plan, shape: Shape, target: Target): Tensor {
  const [b, h, w, c] = shape;
  const { down } = plan;
  const pixelsFirst = inTwo(plan, target)
    ? matmul(
        matrix(turned(down[side])),
        reshape(
          matmul(matrix(turned(overTiles(plan, side))), reshape(y, [down.points, -1, b * c])),
          [down.points * down.tiles, w * b * c],
        ),
      )
    : matmul(overPixelsTurned(plan, side), reshape(y, [plan.points * plan.tiles, b * c]));
  return reshape(transpose(reshape(pixelsFirst, [h * w, b, c]), [1, 0, 2]), shape);
}

/** K over taps. */
const overTaps = ({ down, across }: Plan): Rows =>
  down.kernel.flatMap((a) => across.kernel.map((b) => a.flatMap((u) => b.map((v) => u * v))));

function kernelOf(w: Tensor, plan: Plan): Tensor {
  const [inC, outC] = w.shape.slice(2);
  return reshape(matmul(matrix(overTaps(plan)), reshape(w, [9, inC * outC])), [
    plan.points,
    inC,
    outC,
  ]);
}

export function winogradOutput(
  x: Tensor,
  w: Tensor,
  q: Geometry,
  shape: Shape,
  target: Target,
): Tensor | undefined {
  const plan = planFor(x.shape[0], w, q, target);
  return (
    plan &&
    gathered(
      matmul(spread(x, "input", plan, target), kernelOf(w, plan)),
      "output",
      plan,
      shape,
      target,
    )
  );
}

export function winogradImage(
  g: Tensor,
  w: Tensor,
  q: Geometry,
  shape: Shape,
  target: Target,
): Tensor | undefined {
  const plan = planFor(g.shape[0], w, q, target);
  if (!plan) return undefined;
  const product = matmul(spread(g, "output", plan, target), transpose(kernelOf(w, plan)));
  return gathered(product, "input", plan, shape, target);
}

/** So many rows of a product with few results are one piece of it on a GPU. */
const PIECE = 512;

export function winogradKernel(
  x: Tensor,
  g: Tensor,
  w: Tensor,
  q: Geometry,
  target: Target,
): Tensor | undefined {
  const plan = planFor(x.shape[0], w, q, target);
  if (!plan) return undefined;
  const rows = plan.tiles * x.shape[0];
  const pieces = target === "gpu" ? divisorNear(rows, rows / PIECE) : 1;
  const cut = (t: Tensor, side: Side): Tensor =>
    reshape(spread(t, side, plan, target), [plan.points, pieces, rows / pieces, t.shape[3]]);
  const product = sum(matmul(transpose(cut(x, "input")), cut(g, "output")), 1);
  return reshape(
    matmul(matrix(turned(overTaps(plan))), reshape(product, [plan.points, -1])),
    w.shape,
  );
}
