/**
 * α in closed form. A loss ½sᵀMs + c·s + Σ_k w_kᵀ(∇s)w_k of s = Σ_l α_l ∇k_l + h, h = ∇log q₀, is, with a ridge,
 *
 *   ½ αᵀ(G + λI)α + b·α + const,   G_ll′ = E[∇k_lᵀ M ∇k_l′],   b_l = E[∂_{Mh + c} k_l + Σ_k ∂²_{w_k} k_l]
 *
 * so α = −(G + λI)⁻¹ b, λ = 10^{logLambda}. For GSSM-VR this is the appendix's G = E[g_lᵀCg_l′] and
 * b = E[g_lᵀCh + div C·g_l + wᵀ∇²k_l w].
 */
import {
  add,
  cast,
  concat,
  exp,
  expandDims,
  eye,
  inverse,
  matmul,
  mean,
  mul,
  neg,
  reshape,
  slice,
  sqrt,
  squeeze,
  stopGradient,
  sub,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import { applyMetric, type Terms } from "../matching/index.ts";
import { baseScore, type Dkef, kernelJet, parts } from "./dkef.ts";

export interface NormalEquations<T> {
  /** [L, L] */
  readonly g: T;
  /** [L] */
  readonly b: T;
}

const total = (terms: readonly Tensor[]): Tensor => terms.reduce((a, b) => add(a, b));
const gram = (left: Tensor, right: Tensor): Tensor => matmul(transpose(left), right);

/** Points whose few directional derivatives are held at once. */
const POINTS = 256;

/** Slices of the first axis of every array. */
const cut = (draws: Draws<Tensor>, range: readonly [number, number]): Draws<Tensor> =>
  Object.fromEntries(Object.entries(draws).map(([name, t]) => [name, slice(t, range)]));

/** G and b of an objective, as means over points x of shape [B, n]. */
export function normalEquations(
  p: Dkef<Tensor>,
  objective: Objective,
  x: Tensor,
  draws: Draws<Tensor>,
): NormalEquations<Tensor> {
  const count = x.shape[0];
  const sums = partsOf(count, 768 / POINTS).map((range) => {
    const part = slice(x, range);
    return equations(p, part, objective.terms(part, cut(draws, range)));
  });
  return {
    g: mul(total(sums.map(({ g }) => g)), 1 / count),
    b: mul(total(sums.map(({ b }) => b)), 1 / count),
  };
}

/** Sums over the points. */
function equations(p: Dkef<Tensor>, x: Tensor, { metric, drift, slices }: Terms): NormalEquations<Tensor> {
  const [points, n] = x.shape;
  const all = pairs(p, x);
  const { columns, kappa } = all;
  const [kernels, , size] = kappa.shape;
  const pull = applyMetric(metric, baseScore(x));
  const e = expandDims(drift ? add(pull, drift) : pull, 1);

  // Directions in one stack: Mh + c, those of M, those of the curvature (often the same as M's).
  const own = metric.directions === slices ? undefined : metric.directions;
  const stack = [e, own, slices].filter((t) => t !== undefined);
  const few = kernelRows(p, x, all.fx, concat(stack, 1), slices ? slices.shape[1] : 0);
  const bundle = (from: number, count: number): Tensor => {
    const rows = reshape(slice(few.first, null, null, [from, from + count]), [kernels, points * count, -1]);
    return reshape(matmul(rows, columns), [kernels, points, count, size]);
  };
  const ka = own ? own.shape[1] : 0;
  const u = slices && bundle(1 + ka, slices.shape[1]);
  const rowsOf = (v: Tensor): Tensor => reshape(sum(mul(v, expandDims(kappa, -2)), 0), [-1, size]);

  const grams: Tensor[] = [];
  const squares: Tensor[] = u ? [sum(square(u), -2)] : [];
  if (metric.directions) {
    const rows = rowsOf(own ? bundle(1, ka) : (u as Tensor));
    grams.push(gram(rows, rows));
  }
  const linear = [squeeze(slice(few.first, null, null, [0, 1]), 2), few.second];
  if (metric.diagonal || !slices) {
    const whole = kernelRows(p, x, all.fx, undefined, slices ? 0 : n);
    if (!slices) linear[1] = whole.second;
    const scale = metric.diagonal && expand(metric.diagonal, [points, metric.diagonal.shape.at(-1) as number]);
    const found = partsOf(points, n).map(([from, to]) => {
      const u = Array.from({ length: kernels }, (_, r) => {
        const rows = reshape(slice(whole.first, [r, r + 1], [from, to]), [(to - from) * n, -1]);
        return reshape(matmul(rows, at(columns, r)), [to - from, n, size]);
      });
      const g = total(u.map((v, r) => mul(v, expandDims(slice(at(kappa, r), [from, to]), 1))));
      const weighted = scale ? mul(g, expandDims(slice(scale, [from, to]), -1)) : g;
      return {
        g: gram(reshape(g, [-1, size]), reshape(weighted, [-1, size])),
        squares: slices ? undefined : stack3(u.map((v) => sum(square(v), 1))),
      };
    });
    if (metric.diagonal) grams.push(total(found.map(({ g }) => g)));
    if (!slices) squares.push(concat(found.map(({ squares }) => squares as Tensor), 1));
  }
  const bends = matmul(total(linear), columns);
  return { g: total(grams), b: sum(mul(kappa, total([bends, ...squares])), [0, 1]) };
}

const stack3 = (parts: readonly Tensor[]): Tensor => stackTensors(parts, 0);

/**
 * α = −(G + λI)⁻¹b, in float64: the condition number of G + λI is beyond what float32 resolves.
 *
 * Written as one Newton step α = α₀ − N(Aα₀ + b) from the solution α₀ = −Nb with N = A⁻¹, both taken as constants. Its
 * value is α₀ with the rounding of N removed, and its derivative dα = −N(dA α + db) is the exact one, at the price of two
 * products with a vector where differentiating the inverse takes four with a matrix. Second derivatives are not right.
 */
export function solveAlpha({ g, b }: NormalEquations<Tensor>, logLambda: Tensor): Tensor {
  const size = g.shape[0];
  const lambda = exp(mul(cast(logLambda, "float64"), Math.LN10));
  const a = add(cast(g, "float64"), mul(eye(size, "float64"), lambda));
  const right = expandDims(cast(b, "float64"), -1);
  const n = stopGradient(inverse(stopGradient(a)));
  const start = stopGradient(neg(matmul(n, right)));
  const alpha = sub(start, matmul(n, add(matmul(a, start), right)));
  return cast(squeeze(alpha, -1), b.dtype);
}
