/**
 * α in closed form. The loss ½sᵀMs + c·s + Σ_k w_kᵀ(∇s)w_k of s = Σ_l α_l ∇k_l + h, h = ∇log q₀,
 * with a ridge is
 *
 *   ½ αᵀ(G + λI)α + b·α + const
 *   G_ll′ = E[∇k_lᵀ M ∇k_l′],   b_l = E[∂_{Mh + c} k_l + Σ_k ∂²_{w_k} k_l]
 *
 * so α = −(G + λI)⁻¹ b, λ = 10^{logLambda}. For GSSM-VR this is the appendix's G = E[g_lᵀCg_l′] and
 * b = E[g_lᵀCh + div C·g_l + wᵀ∇²k_l w].
 */
import {
  add,
  at,
  cast,
  concat,
  exp,
  expandDims,
  eye,
  inverse,
  matmul,
  mul,
  neg,
  reshape,
  slice,
  sqrt,
  square,
  squeeze,
  stack,
  stopGradient,
  sub,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import { mapValues, partsOf } from "../host/index.ts";
import { applyMetric, type Draws, type Objective, type Terms } from "../matching/index.ts";
import { baseScore, DERIVATIVES, type Dkef, kernelRows, type Pairs, pairs } from "./dkef.ts";

/** The matrix G and the vector b of a loss that is quadratic in α. */
export interface NormalEquations<T> {
  /** [L, L] */
  readonly g: T;
  /** [L] */
  readonly b: T;
}

/** A symmetric matrix, and its product with a column that does not need the matrix. */
interface Operator {
  readonly matrix: Tensor;
  readonly times: (column: Tensor) => Tensor;
}

/**
 * Normal equations whose G is a product of rows: G α costs two products with a vector, and so does
 * its derivative.
 */
export interface LinearSystem extends NormalEquations<Tensor> {
  readonly times: (column: Tensor) => Tensor;
}

const total = (terms: readonly Tensor[]): Tensor => terms.reduce((a, b) => add(a, b));
const gram = (left: Tensor, right: Tensor): Operator => ({
  matrix: matmul(transpose(left), right),
  times: (column) => matmul(transpose(left), matmul(right, column)),
});
const totalOperator = (terms: readonly Operator[]): Operator => ({
  matrix: total(terms.map((t) => t.matrix)),
  times: (column) => total(terms.map((t) => t.times(column))),
});

/** The number of points per block; all points together would not fit into the cache. */
const POINTS = 256;

/** G and b of an objective, as means over points x of shape [B, n]. */
export function normalEquations(
  p: Dkef<Tensor>,
  objective: Objective,
  x: Tensor,
  draws: Draws<Tensor>,
): LinearSystem {
  const count = x.shape[0];
  const sums = partsOf(count, POINTS).map((range) => {
    const part = slice(x, range);
    const drawn = mapValues(draws, (t) => slice(t, range));
    return sumsOver(p, part, objective.terms(part, drawn));
  });
  const { matrix, times } = totalOperator(sums.map(({ g }) => g));
  return {
    g: mul(matrix, 1 / count),
    b: mul(total(sums.map(({ b }) => b)), 1 / count),
    times: (column) => mul(times(column), 1 / count),
  };
}

/**
 * The contribution of a set of directions: G, and b = Σ κ ∘ (linear · columns + squares) in the
 * terms of `KernelRows`.
 */
interface Share {
  readonly g: readonly Operator[];
  /** [R, B, width + 1] */
  readonly linear: readonly Tensor[];
  /** [R, B, L] */
  readonly squares: readonly Tensor[];
}

function sumsOver(
  p: Dkef<Tensor>,
  x: Tensor,
  terms: Terms,
): { readonly g: Operator; readonly b: Tensor } {
  const all = pairs(p, x);
  const shares = [fewDirections(p, x, all, terms), allDirections(p, x, all, terms)];
  const linear = total(shares.flatMap((s) => s.linear));
  const inside = total([matmul(linear, all.columns), ...shares.flatMap((s) => s.squares)]);
  return { g: totalOperator(shares.flatMap((s) => s.g)), b: sum(mul(all.kappa, inside), [0, 1]) };
}

/** Mh + c, the directions of M and those of the curvature, in one stack. */
function fewDirections(
  p: Dkef<Tensor>,
  x: Tensor,
  all: Pairs,
  { metric, drift, slices }: Terms,
): Share {
  const { kappa, columns, fx } = all;
  const [kernels, points, size] = kappa.shape;
  const pull = applyMetric(metric, baseScore(x));
  const own = metric.directions === slices ? undefined : metric.directions;
  const directions = [expandDims(drift ? add(pull, drift) : pull, 1), own, slices].filter(
    (t) => t !== undefined,
  );
  const rows = kernelRows(p, x, fx, concat(directions, 1), slices?.shape[1]);

  /** U of some of the directions, [R, B, count, L] */
  const derivatives = (from: number, count: number): Tensor => {
    const some = reshape(slice(rows.first, null, null, [from, from + count]), [
      kernels,
      points * count,
      -1,
    ]);
    return reshape(matmul(some, columns), [kernels, points, count, size]);
  };
  const ownCount = own?.shape[1] ?? 0;
  const u = slices && derivatives(1 + ownCount, slices.shape[1]);
  const weights = metric.directions && (own ? derivatives(1, ownCount) : u);
  const g = weights && reshape(sum(mul(weights, expandDims(kappa, 2)), 0), [-1, size]);
  return {
    g: g ? [gram(g, g)] : [],
    linear: [squeeze(slice(rows.first, null, null, [0, 1]), 2), ...(slices ? [rows.second] : [])],
    squares: u ? [sum(square(u), 2)] : [],
  };
}

/**
 * All n unit vectors, for a metric with a diagonal and for tr ∇s. This is the most expensive part,
 * computed in blocks that fit into the cache.
 */
function allDirections(p: Dkef<Tensor>, x: Tensor, all: Pairs, { metric, slices }: Terms): Share {
  const [points, n] = x.shape;
  const m = metric.diagonal;
  if (!m && slices) return { g: [], linear: [], squares: [] };
  const { columns, fx } = all;
  const [kernels, , size] = all.kappa.shape;
  const rows = kernelRows(p, x, fx);
  // With one number m per point both factors get √m. It is not negative, because M is positive
  // semidefinite and a few directions cannot compensate a negative multiple of I.
  const isotropic = m?.shape.at(-1) === 1;
  const kappa = m && isotropic ? mul(all.kappa, sqrt(m)) : all.kappa;
  const pieces = partsOf(points, Math.round(DERIVATIVES / n)).map((range) => {
    const count = range[1] - range[0];
    const some = reshape(slice(rows.first, null, range), [kernels, count * n, -1]);
    const weights = slice(kappa, null, range);
    const u = Array.from({ length: kernels }, (_, r) =>
      reshape(matmul(at(some, r), at(columns, r)), [count, n, size]),
    );
    const g = total(u.map((v, r) => mul(v, expandDims(at(weights, r), 1))));
    const weighted = m && !isotropic ? mul(g, expandDims(slice(m, range), -1)) : g;
    return {
      g: gram(reshape(g, [-1, size]), reshape(weighted, [-1, size])),
      squares: stack(
        u.map((v) => sum(square(v), 1)),
        0,
      ),
    };
  });
  return {
    g: m ? [totalOperator(pieces.map(({ g }) => g))] : [],
    linear: slices ? [] : [rows.second],
    squares: slices
      ? []
      : [
          concat(
            pieces.map(({ squares }) => squares),
            1,
          ),
        ],
  };
}

/**
 * N = (G + λI)⁻¹ and α = −N b as columns in float64: the condition number of G + λI is too large
 * for float32.
 */
function solved(
  { g, b }: NormalEquations<Tensor>,
  lambda: Tensor,
): { inverted: Tensor; column: Tensor } {
  const right = expandDims(cast(b, "float64"), -1);
  const a = add(cast(g, "float64"), mul(eye(g.shape[0], "float64"), lambda));
  const inverted = inverse(a);
  const rough = neg(matmul(inverted, right));
  return { inverted, column: sub(rough, matmul(inverted, add(matmul(a, rough), right))) };
}

/** λ = 10^{logLambda} */
const ridge = (logLambda: Tensor): Tensor => exp(mul(cast(logLambda, "float64"), Math.LN10));

/** The solution α = −(G + λI)⁻¹b, [L]. */
export const solveAlpha = (equations: NormalEquations<Tensor>, logLambda: Tensor): Tensor =>
  cast(squeeze(solved(equations, ridge(logLambda)).column, -1), equations.b.dtype);

/**
 * The same α with a cheap first derivative.
 *
 * With N and the solution α₀ as constants, α = α₀ − N(r − r₀), where r = Gα₀ + λα₀ + b and r₀ is
 * the same as a constant. The added term is 0, and its derivative −N(dG α₀ + dλ α₀ + db) is the
 * derivative of α. So only products with a vector are differentiated, and not an inverse or a Gram
 * matrix. Second derivatives are not correct.
 */
export function trainedAlpha(system: LinearSystem, logLambda: Tensor): Tensor {
  const { g, b, times } = system;
  const lambda = ridge(logLambda);
  const { inverted, column } = solved(
    { g: stopGradient(g), b: stopGradient(b) },
    stopGradient(lambda),
  );
  const product = cast(times(cast(column, b.dtype)), "float64");
  const residual = add(add(product, mul(column, lambda)), expandDims(cast(b, "float64"), -1));
  const alpha = sub(column, matmul(inverted, sub(residual, stopGradient(residual))));
  return cast(squeeze(alpha, -1), b.dtype);
}
