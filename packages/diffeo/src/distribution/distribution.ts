/**
 * What an analytic distribution offers: its log-density and score as graphs, and exact samples. One
 * key a sample, so that sample i does not depend on how many others are drawn.
 */
import { alignToEvent } from "../bijector/index.ts";
import { convert, type FloatType, type NdArray, Tensor } from "../graph/index.ts";
import { type Key, type Keys, sampleKeys } from "../random/index.ts";

/** A density on vectors, […, n] → […], and its score, […, n] → […, n]. */
export interface Density {
  readonly logDensity: (x: Tensor) => Tensor;
  /** ∇ log p */
  readonly score: (x: Tensor) => Tensor;
}

export interface Distribution extends Density {
  readonly name: string;
  /** n */
  readonly dimension: number;
  /** One row of n numbers a key, in float64. */
  readonly draw: (keys: Keys) => Float64Array;
}

/**
 * A distribution whose marginals under a Gaussian transition x_t | x₀ ~ N(m x₀, σ²I) are known:
 * those of the VP, VE
 * and sub-VP processes, with their m(t) and σ(t).
 */
export interface Diffusible extends Distribution {
  /**
   * m and σ are numbers, or tensors of shape [] or of the batch: a time-dependent score is
   * `marginal(m(t), σ(t))`.
   */
  readonly marginal: (m: number | Tensor, sigma: number | Tensor) => Density;
}

/** `count` exact samples, [count, n]. */
export function sampleFrom(
  distribution: Distribution,
  key: Key,
  count: number,
  dtype: FloatType = "float32",
): NdArray {
  const rows = distribution.draw(sampleKeys(key, count));
  return { shape: [count, distribution.dimension], dtype, data: convert(rows, dtype) };
}

/** A number, or a tensor of the batch with an axis for the event. */
export const overEvent = (value: number | Tensor): number | Tensor =>
  value instanceof Tensor ? alignToEvent(value, 1) : value;
