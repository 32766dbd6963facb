/**
 * The Ornstein–Uhlenbeck process:
 *
 *   dX = −θ X dt + σ dW,   X_t | x₀ ~ N(e^{−θt} x₀, σ²(1 − e^{−2θt})/2θ)
 *
 * The prior is the limit t → ∞ of the transition. For a process around another centre, `push` this
 * one through an affine map.
 */
import { div, exp, expm1, fail, fill, log1p, mul, neg, sqrt, square } from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde } from "./sde.ts";

/** Options of `ornsteinUhlenbeck`. */
export interface OrnsteinUhlenbeckOptions {
  /** θ, the rate of return to 0. Default 1. */
  readonly rate?: number;
  /** σ, the strength of the noise. Default √2. */
  readonly noise?: number;
  /** T, the horizon. Default 5. */
  readonly horizon?: number;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/**
 * The Ornstein–Uhlenbeck process dX = −θX dt + σ dW.
 *
 * @throws DiffeoError of kind `usage` if rate, noise or horizon is not positive
 */
export function ornsteinUhlenbeck({
  rate = 1,
  noise = Math.SQRT2,
  horizon = 5,
  eventRank = 1,
}: OrnsteinUhlenbeckOptions = {}): GaussianSde {
  if (!(rate > 0 && noise > 0 && horizon > 0))
    fail(
      "usage",
      `ornsteinUhlenbeck: \`rate\` is ${rate}, \`noise\` ${noise}, \`horizon\` ${horizon}; ` +
        "all must be positive",
      "use positive numbers",
    );
  const stationary = noise / Math.sqrt(2 * rate);
  return {
    name: "Ornstein–Uhlenbeck",
    eventRank,
    horizon,
    drift: (x) => mul(x, -rate),
    diffusion: (x) => ({ kind: "scalar", value: fill([], noise, x.dtype) }),
    transition: {
      meanFactor: (t) => exp(mul(t, -rate)),
      std: (t) => mul(sqrt(neg(expm1(mul(t, -2 * rate)))), stationary),
      timeAt: (ratio) => mul(log1p(square(div(ratio, stationary))), 1 / (2 * rate)),
    },
    prior: gaussianPrior(stationary, eventRank),
  };
}
