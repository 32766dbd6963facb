/**
 * 3×3 convolutions with fewer products (S. Winograd 1980; A. Lavin and S. Gray, CVPR 2016). Along
 * one axis, with points αₚ, polynomials of 4 and of 3 coefficients are multiplied by the values of
 * both at six points. The form
 *   Σ_{j<4, u<3} g[j] x[j+u] w[u] = Σₚ (C g)ₚ (A x)ₚ (K w)ₚ
 *   Cₚⱼ = αₚʲ,   Kₚᵤ = αₚᵘ,   A = V⁻ᵀ,   Vₚᵢ = αₚⁱ (i < 6)
 * holds because the 6 coefficients of g·w are V⁻¹ of its values. The point ∞ stands for the leading
 * coefficient.
 *
 * So the trilinear form of `../conv.ts` is Σ over 36 pairs of points of a product of matrices,
 * tiles by channels by channels:
 *   T(x, w, g) = Σₚ Σ (A x)ₚ (K w)ₚ (C g)ₚ
 *   conv2d = Cᵀ(x̃ w̃),   convInput = Aᵀ(g̃ w̃ᵀ),   convWeight = Kᵀ(x̃ᵀ g̃)
 * with 36 products for 4×4 pixels instead of 144. A, C and K are matrices over pixels and taps:
 * with pixels as rows, every step is a matrix product without a gather.
 */
import { mul } from "../arithmetic.ts";
import { sum } from "../broadcast.ts";
import type { Geometry } from "../conv.ts";
import { matmul } from "../linalg.ts";
import { divisorNear, type Shape } from "../ndarray.ts";
import { reshape, transpose } from "../shape.ts";
import { constant, type Target, type Tensor } from "../tensor.ts";
import {
  inTwo,
  overTaps,
  overTiles,
  type Plan,
  planFor,
  type Rows,
  type Side,
} from "./winograd-plan.ts";

const matrix = (rows: Rows): Tensor =>
  constant(
    {
      shape: [rows.length, rows[0].length],
      dtype: "float64",
      data: Float64Array.from(rows.flat()),
    },
    "float32",
  );

const transposeRows = (rows: Rows): Rows => rows[0].map((_, j) => rows.map((row) => row[j]));

/**
 * A or C over pixels, points of both axes before tiles of both. It is written as a product of small
 * constants, which are shared if equal, so that its product with x is computed once. The runtime
 * multiplies the constants beforehand.
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
  const [d, a] = [matrix(transposeRows(down[side])), matrix(transposeRows(across[side]))];
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
function gatherTiles(y: Tensor, side: Side, plan: Plan, shape: Shape, target: Target): Tensor {
  const [b, h, w, c] = shape;
  const { down } = plan;
  const pixelsFirst = inTwo(plan, target)
    ? matmul(
        matrix(transposeRows(down[side])),
        reshape(
          matmul(
            matrix(transposeRows(overTiles(plan, side))),
            reshape(y, [down.points, -1, b * c]),
          ),
          [down.points * down.tiles, w * b * c],
        ),
      )
    : matmul(overPixelsTurned(plan, side), reshape(y, [plan.points * plan.tiles, b * c]));
  return reshape(transpose(reshape(pixelsFirst, [h * w, b, c]), [1, 0, 2]), shape);
}

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
    gatherTiles(
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
  return gatherTiles(product, "input", plan, shape, target);
}

/** The rows per slice of a product with few results on a GPU. */
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
    matmul(matrix(transposeRows(overTaps(plan))), reshape(product, [plan.points, -1])),
    w.shape,
  );
}
