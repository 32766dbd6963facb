/**
 * The Ornstein–Uhlenbeck process:
 *
 *   dX = −θ X dt + σ dW,   X_t | x₀ ~ N(e^{−θt} x₀, σ²(1 − e^{−2θt})/2θ)
 *
 * The limit t → ∞ of its transition is its prior. A process that returns to another centre is this
 * one under a shift: `push` it through an affine map.
 */
import { div, exp, expm1, fail, fill, log1p, mul, neg, sqrt, square } from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde } from "./sde.ts";

/** Rate, noise and horizon of an Ornstein–Uhlenbeck process. */
export interface OrnsteinUhlenbeckOptions {
  /** θ, the rate of return to zero. */
  readonly rate?: number;
  /** σ, the strength of the noise. */
  readonly noise?: number;
  readonly horizon?: number;
  /** How many trailing axes make one event. Default 1. */
  readonly eventRank?: number;
}

/**
 * The Ornstein–Uhlenbeck process dx = −θx dt + σ dw.
 *
 * @throws DiffeoError of kind `usage` where rate, noise or horizon is not positive
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
      `Ornstein–Uhlenbeck: rate ${rate}, noise ${noise}, horizon ${horizon} must be positive`,
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
