/**
 * Variance-preserving SDEs, for a noise rate β(t) with B(t) = ∫₀ᵗ β and m(t) = e^{−B(t)/2}:
 *
 *   VP      dX = −½ β X dt + √β dW                    X_t | x₀ ~ N(m x₀, 1 − m²)
 *   sub-VP  dX = −½ β X dt + √(β (1 − e^{−2B})) dW    X_t | x₀ ~ N(m x₀, (1 − m²)²)
 *
 * Y. Song et al., "Score-based generative modeling through stochastic differential equations", ICLR
 * 2021.
 */
import { alignToEvent } from "../bijector/index.ts";
import {
  add,
  asinh,
  cos,
  div,
  exp,
  expm1,
  fail,
  log1p,
  mul,
  neg,
  sin,
  sqrt,
  square,
  type Tensor,
} from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde } from "./sde.ts";

/**
 * A noise schedule: the rate β(t) and functions derived from it, without cancellation near t = 0.
 */
export interface NoiseSchedule {
  readonly name: string;
  /** T, the last time of the schedule. */
  readonly horizon: number;
  /** The noise rate β(t). */
  readonly rate: (t: Tensor) => Tensor;
  /** The mean factor m(t). */
  readonly meanFactor: (t: Tensor) => Tensor;
  /** The variance 1 − m(t)². */
  readonly variance: (t: Tensor) => Tensor;
  /** The time at which B(t) has a given value, if there is a closed form. */
  readonly timeAt?: (integral: Tensor) => Tensor;
}

/** The linear schedule: β increases from `min` at t = 0 to `max` at t = 1. Default 0.1 and 20. */
export function linearSchedule({
  min = 0.1,
  max = 20,
}: {
  min?: number;
  max?: number;
} = {}): NoiseSchedule {
  if (!(min > 0 && max >= min && max < Infinity))
    fail("usage", `linearSchedule: \`min\` is ${min} and \`max\` is ${max}`, "use 0 < min ≤ max");
  const integral = (t: Tensor): Tensor => mul(t, add(mul(t, (max - min) / 2), min));
  return {
    name: "linear",
    horizon: 1,
    rate: (t) => add(mul(t, max - min), min),
    meanFactor: (t) => exp(mul(integral(t), -0.5)),
    variance: (t) => neg(expm1(neg(integral(t)))),
    // The positive root of ½(max − min) t² + min t = B, without cancellation.
    timeAt: (b) => div(mul(b, 2), add(sqrt(add(mul(b, 2 * (max - min)), min * min)), min)),
  };
}

/**
 * The cosine schedule: m(t) = cos a(t) / cos a(0), a(t) = (t + s)/(1 + s) · π/2 (A. Nichol and P.
 * Dhariwal, ICML 2021).
 *
 * β = −2 (log m)′ = 2 a′ tan a diverges as t → 1, so the horizon is less than 1. 1 − m² = (cos² a₀
 * − cos² a)/cos² a₀ = sin(a − a₀) sin(a + a₀)/cos² a₀, without cancellation.
 */
export function cosineSchedule({
  offset: s = 0.008,
  horizon = 0.995,
}: {
  offset?: number;
  horizon?: number;
} = {}): NoiseSchedule {
  if (!(s >= 0 && horizon > 0 && horizon < 1))
    fail(
      "usage",
      `cosineSchedule: \`offset\` is ${s} and \`horizon\` is ${horizon}`,
      "use offset ≥ 0 and 0 < horizon < 1; at 1 the rate is infinite",
    );
  const speed = Math.PI / 2 / (1 + s);
  const start = s * speed;
  const cosStart = Math.cos(start);
  const angle = (t: Tensor): Tensor => add(mul(t, speed), start);
  return {
    name: "cosine",
    horizon,
    rate: (t) => mul(div(sin(angle(t)), cos(angle(t))), 2 * speed),
    meanFactor: (t) => mul(cos(angle(t)), 1 / cosStart),
    variance: (t) =>
      mul(mul(sin(mul(t, speed)), sin(add(mul(t, speed), 2 * start))), cosStart ** -2),
  };
}

/** Options of `vp` and `subVp`. */
export interface VpOptions {
  /** The noise schedule. Default `linearSchedule()`. */
  readonly schedule?: NoiseSchedule;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/** The variance-preserving process (VP), dX = −½β(t) X dt + √β(t) dW. */
export function vp({ schedule = linearSchedule(), eventRank = 1 }: VpOptions = {}): GaussianSde {
  const { timeAt } = schedule;
  return {
    name: `VP (${schedule.name})`,
    eventRank,
    horizon: schedule.horizon,
    drift: (x, t) => mul(x, alignToEvent(mul(schedule.rate(t), -0.5), eventRank)),
    diffusion: (_, t) => ({ kind: "scalar", value: sqrt(schedule.rate(t)) }),
    transition: {
      meanFactor: schedule.meanFactor,
      std: (t) => sqrt(schedule.variance(t)),
      // r² = (1 − m²)/m² = e^B − 1
      timeAt: timeAt && ((ratio) => timeAt(log1p(square(ratio)))),
    },
    prior: gaussianPrior(1, eventRank),
  };
}

/**
 * The sub-VP process, dX = −½β(t) X dt + √(β(t) (1 − e^{−2B(t)})) dW, with less variance than VP.
 *
 * 1 − e^{−2B} = (1 − m²)(1 + m²).
 */
export function subVp({ schedule = linearSchedule(), eventRank = 1 }: VpOptions = {}): GaussianSde {
  const { timeAt } = schedule;
  const noise = (t: Tensor): Tensor =>
    mul(schedule.variance(t), add(square(schedule.meanFactor(t)), 1));
  return {
    name: `sub-VP (${schedule.name})`,
    eventRank,
    horizon: schedule.horizon,
    drift: (x, t) => mul(x, alignToEvent(mul(schedule.rate(t), -0.5), eventRank)),
    diffusion: (_, t) => ({ kind: "scalar", value: sqrt(mul(schedule.rate(t), noise(t))) }),
    transition: {
      meanFactor: schedule.meanFactor,
      std: schedule.variance,
      // r = (1 − m²)/m = 2 sinh ½B
      timeAt: timeAt && ((ratio) => timeAt(mul(asinh(mul(ratio, 0.5)), 2))),
    },
    prior: gaussianPrior(1, eventRank),
  };
}
