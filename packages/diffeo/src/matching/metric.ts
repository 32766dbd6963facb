/**
 * M(x) = diag(m) + Σ_k a_k a_kᵀ, the weight of errors of the score in a loss, ½ sᵀ M s.
 *
 * SM and SSM-VR have M = I; a slice in direction a has M = a aᵀ; a slice family has M = C(x) = E[∇v
 * ∇vᵀ]. With a diagonal and a few directions M s costs O(n), and a Gram matrix of n-vectors needs
 * one more row per direction.
 */
import {
  add,
  dot,
  expandDims,
  fail,
  matmul,
  mul,
  squeeze,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";

/** A metric M = diag(m) + Σ_k a_k a_kᵀ. */
export interface Metric {
  /** m, of shape […, n], or […, 1] if it is the same for all coordinates. */
  readonly diagonal?: Tensor;
  /** a_k, of shape […, k, n]. */
  readonly directions?: Tensor;
}

const total = (parts: readonly (Tensor | undefined)[]): Tensor => {
  const known = parts.filter((t) => t !== undefined);
  if (known.length === 0)
    fail("usage", "the metric has neither a diagonal nor directions", "give at least one of them");
  return known.reduce((a, b) => add(a, b));
};

/** a_k · u for all k: […, k]. */
const components = (directions: Tensor, u: Tensor): Tensor =>
  squeeze(matmul(directions, expandDims(u, -1)), -1);

/** M u */
export const applyMetric = ({ diagonal, directions }: Metric, u: Tensor): Tensor =>
  total([
    diagonal && mul(diagonal, u),
    directions &&
      squeeze(matmul(transpose(expandDims(components(directions, u), -1)), directions), -2),
  ]);

/** uᵀ M u */
export const metricForm = ({ diagonal, directions }: Metric, u: Tensor): Tensor =>
  total([
    diagonal &&
      (diagonal.shape.at(-1) === 1
        ? mul(squeeze(diagonal, -1), dot(u, u))
        : sum(mul(diagonal, mul(u, u)), -1)),
    directions && sum(mul(components(directions, u), components(directions, u)), -1),
  ]);
