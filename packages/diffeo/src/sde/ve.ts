/**
 * The variance-exploding SDE: no drift, and noise that grows geometrically from σ_min to σ_max.
 *
 *   dX = s(t) √(2 log r) dW,   s(t) = σ_min rᵗ,  r = σ_max/σ_min,  0 ≤ t ≤ 1
 *
 * Its variance is ∫₀ᵗ 2 log r · σ_min² r^{2u} du = σ_min² (r^{2t} − 1), so X_t | x₀ ~ N(x₀, s(t)² −
 * σ_min²): zero at t = 0. The literature often writes s(t)² instead, which is the variance for data
 * that already have noise σ_min.
 */
import {
  div,
  exp,
  expm1,
  fail,
  log1p,
  mul,
  onesLike,
  sqrt,
  square,
  zerosLike,
} from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde } from "./sde.ts";

/** Options of `ve`. */
export interface VeOptions {
  /** σ_min. Default 0.01. */
  readonly sigmaMin?: number;
  /** σ_max. Default 50. */
  readonly sigmaMax?: number;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/**
 * The variance-exploding process (VE): no drift, and noise that grows geometrically from σ_min to
 * σ_max.
 */
export function ve({ sigmaMin = 0.01, sigmaMax = 50, eventRank = 1 }: VeOptions = {}): GaussianSde {
  if (!(sigmaMin > 0 && sigmaMax > sigmaMin && sigmaMax < Infinity))
    fail(
      "usage",
      `ve: \`sigmaMin\` is ${sigmaMin} and \`sigmaMax\` is ${sigmaMax}`,
      "use 0 < sigmaMin < sigmaMax",
    );
  const logRatio = Math.log(sigmaMax / sigmaMin);
  return {
    name: "VE",
    eventRank,
    horizon: 1,
    drift: (x) => zerosLike(x),
    diffusion: (_, t) => ({
      kind: "scalar",
      value: mul(exp(mul(t, logRatio)), sigmaMin * Math.sqrt(2 * logRatio)),
    }),
    transition: {
      meanFactor: (t) => onesLike(t),
      std: (t) => mul(sqrt(expm1(mul(t, 2 * logRatio))), sigmaMin),
      timeAt: (ratio) => mul(log1p(square(div(ratio, sigmaMin))), 1 / (2 * logRatio)),
    },
    prior: gaussianPrior(Math.sqrt(sigmaMax ** 2 - sigmaMin ** 2), eventRank),
  };
}
