/**
 * The linear interpolant of flow matching, x_t = (1 − t) x₀ + t ε with ε ~ N(0, I), as an SDE:
 *
 *   dX = −X/(1 − t) dt + √(2t/(1 − t)) dW,   X_t | x₀ ~ N((1 − t) x₀, t² I)
 *
 * The SDE of a transition has f = (log m)˙ x and g² = (σ²)˙ − 2 (log m)˙ σ². With m = 1 − t and σ =
 * t, (log m)˙ = −1/(1 − t) and g² = 2t + 2t²/(1 − t) = 2t/(1 − t). Both diverge as t → 1, so the
 * horizon is less than 1. The probability flow is the ordinary differential equation of flow
 * matching, v = E[ε − x₀ | x_t] (Y. Lipman et al., ICLR 2023; X. Liu et al., ICLR 2023).
 */
import { alignToEvent } from "../bijector/index.ts";
import { add, div, fail, mul, neg, sqrt, sub } from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde } from "./sde.ts";

/** Options of `interpolant`. */
export interface InterpolantOptions {
  /** T < 1, the time at which sampling starts. Default 0.999. */
  readonly horizon?: number;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/**
 * The SDE with the marginals of the linear interpolant of flow matching, x_t = (1 − t) x₀ + t ε.
 * The data are at t = 0.
 *
 * @example
 * import { key } from "diffeo/random";
 *
 * const score = await fromOnnx(bytes, { predicts: "velocity", sde: interpolant() });
 * await sample(reverse(interpolant(), score), { shape: [2], count: 1000, key: key(1) });
 */
export function interpolant({
  horizon = 0.999,
  eventRank = 1,
}: InterpolantOptions = {}): GaussianSde {
  if (!(horizon > 0 && horizon < 1))
    fail(
      "usage",
      `interpolant: \`horizon\` is ${horizon}`,
      "use a number between 0 and 1; at 1 the drift is infinite",
    );
  return {
    name: "interpolant",
    eventRank,
    horizon,
    drift: (x, t) => neg(div(x, alignToEvent(sub(1, t), eventRank))),
    diffusion: (_, t) => ({ kind: "scalar", value: sqrt(div(mul(t, 2), sub(1, t))) }),
    transition: {
      meanFactor: (t) => sub(1, t),
      std: (t) => t,
      // r = t/(1 − t)
      timeAt: (ratio) => div(ratio, add(ratio, 1)),
    },
    prior: gaussianPrior(horizon, eventRank),
  };
}
