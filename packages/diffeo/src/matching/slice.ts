/**
 * What the losses see of a random function v at a point, and its second moments.
 */
import type { Tensor } from "../graph/index.ts";
import type { Metric } from "./metric.ts";

/** One drawn v at each point. */
export interface Slice {
  /** ∇v(x), […, n] */
  readonly grad: Tensor;
  /** H_v(x)∇v(x), […, n]. Absent: zero, as for a linear v. */
  readonly hvp?: Tensor;
  /** Δv(x), […]. Absent: zero, as for a harmonic v. */
  readonly laplacian?: Tensor;
}

/** C(x) and div C(x). */
export interface Moments {
  readonly covariance: Metric;
  /** […, n]. Absent: zero. */
  readonly divergence?: Tensor;
}
