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

/** A noise rate with what follows from it, each in a form that loses no digits near t = 0. */
export interface NoiseSchedule {
  readonly name: string;
  /** The last time at which the rate is used. */
  readonly horizon: number;
  /** β(t) */
  readonly rate: (t: Tensor) => Tensor;
  /** m(t) */
  readonly meanFactor: (t: Tensor) => Tensor;
  /** 1 − m(t)² */
  readonly variance: (t: Tensor) => Tensor;
  /** The time at which B(t) has a value, where there is a closed form. */
  readonly timeAt?: (integral: Tensor) => Tensor;
}

/** β from `min` at t = 0 to `max` at t = 1. */
export function linearSchedule({
  min = 0.1,
  max = 20,
}: {
  min?: number;
  max?: number;
} = {}): NoiseSchedule {
  if (!(min > 0 && max >= min && max < Infinity))
    fail("usage", `linear schedule: the rate cannot go from ${min} to ${max}`, "use 0 < min ≤ max");
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
 * m(t) = cos a(t) / cos a(0),  a(t) = (t + s)/(1 + s) · π/2  (A. Nichol and P. Dhariwal, ICML
 * 2021).
 *
 * β = −2 (log m)′ = 2 a′ tan a grows without bound as t → 1, so the process is used up to a horizon
 * before it.
 * 1 − m² = (cos² a₀ − cos² a)/cos² a₀ = sin(a − a₀) sin(a + a₀)/cos² a₀, without cancellation.
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
      `cosine schedule: offset ${s} and horizon ${horizon} do not make one`,
      "use offset ≥ 0 and 0 < horizon < 1: at 1 the rate is infinite",
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

/** The noise schedule of the VP process, and the axes of an event. */
export interface VpOptions {
  /** Default: `linearSchedule()`. */
  readonly schedule?: NoiseSchedule;
  /** How many trailing axes make one event. Default 1. */
  readonly eventRank?: number;
}

/** The variance-preserving process dx = −½β(t) x dt + √β(t) dw. */
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

/** 1 − e^{−2B} = (1 − m²)(1 + m²). */
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
