/** The derivatives of a random function v at a point that losses need, and its second moments. */
import type { Tensor } from "../graph/index.ts";
import type { Metric } from "./metric.ts";

/** One random function v at each point. */
export interface Slice {
  /** ∇v(x), […, n] */
  readonly grad: Tensor;
  /** H_v(x)∇v(x), […, n]. Default 0, as for a linear v. */
  readonly hvp?: Tensor;
  /** Δv(x), […]. Default 0, as for a harmonic v. */
  readonly laplacian?: Tensor;
}

/** The second moments C(x) = E[∇v ∇vᵀ] and div C(x). */
export interface Moments {
  readonly covariance: Metric;
  /** […, n]. Default 0. */
  readonly divergence?: Tensor;
}
