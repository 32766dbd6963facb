/**
 * The SDE of a transition X_t | x₀ ~ N(m(t) x₀, σ(t)² I), for any m and σ for which σ/m increases:
 *
 *   dX = (log m)˙ X dt + g dW,   g² = 2σ²(log σ/m)˙
 *
 * Proof: a linear drift (log m)˙ x has the mean m x₀, and the variance V of the noise follows
 * V˙ = 2 (log m)˙ V + g². With V = σ² this is g² = 2σσ˙ − 2(log m)˙σ².
 */
import { alignToEvent } from "../bijector/index.ts";
import { jvp, log, mul, onesLike, sqrt, sub, type Tensor } from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde, Transition } from "./sde.ts";

/** Options of `fromTransition`. */
export interface TransitionOptions extends Transition {
  readonly name: string;
  /** T, the horizon. The prior is N(0, σ(T)² I). */
  readonly horizon: number;
  /** σ(T), the standard deviation of the prior. */
  readonly priorStd: number;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/**
 * Makes an SDE from the mean factor and the standard deviation of its transition.
 *
 * @example
 * // m = cos t, σ = sin t
 * fromTransition({ name: "arc", horizon: 1.57, priorStd: 1, meanFactor: cos, std: sin });
 */
export function fromTransition({
  name,
  horizon,
  priorStd,
  eventRank = 1,
  ...transition
}: TransitionOptions): GaussianSde {
  const { meanFactor, std } = transition;
  const rate = (f: (t: Tensor) => Tensor, t: Tensor): Tensor =>
    jvp((s: Tensor) => log(f(s)), t, onesLike(t))[1];
  return {
    name,
    eventRank,
    horizon,
    drift: (x, t) => mul(x, alignToEvent(rate(meanFactor, t), eventRank)),
    diffusion: (_, t) => {
      const growth = sub(rate(std, t), rate(meanFactor, t));
      return { kind: "scalar", value: mul(std(t), sqrt(mul(growth, 2))) };
    },
    transition,
    prior: gaussianPrior(priorStd, eventRank),
  };
}
