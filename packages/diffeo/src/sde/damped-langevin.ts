/**
 * Critically damped Langevin diffusion (T. Dockhorn, A. Vahdat, K. Kreis, "Score-based generative
 * modeling with critically-damped Langevin diffusion", ICLR 2022): noise enters velocities v only.
 * An event is (x, v) of 2n numbers, positions first.
 *
 *   dx = β v/M dt,   dv = −β x dt − β Γ v/M dt + √(2Γβ) dW,   Γ = 2√M
 *
 * Its transition is Gaussian with 2 × 2 matrices: with τ = βt, λ = 1/√M and A = [0, 1/M; −1, −Γ/M],
 * which has the double eigenvalue −λ, so (A + λI)² = 0,
 *
 *   E(τ) = e^{Aτ} = e^{−λτ} [1 + λτ, τ/M; −τ, 1 − λτ]
 *   Σ(τ) = S − E (S − Σ₀) Eᵀ,   S = diag(1, M)
 *
 * Proof of Σ: both sides are Σ₀ at 0, and S is stationary, A S + S Aᵀ + 2Γ diag(0, 1) = 0, so the
 * right side satisfies Σ˙ = AΣ + ΣAᵀ + 2Γ diag(0, 1).
 *
 * Given x₀ alone, with v₀ ~ N(0, γM I), Σ₀ = diag(0, γM); this gives the target of hybrid score
 * matching.
 */
import {
  add,
  concat,
  constant,
  div,
  exp,
  expandDims,
  fail,
  log,
  mul,
  neg,
  sizeOf,
  slice,
  square,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { normal } from "../random/index.ts";
import type { Prior } from "./prior.ts";
import type { Sde } from "./sde.ts";

/** Options of `dampedLangevin`. */
export interface DampedLangevinOptions {
  /** M, the mass. Default 1/4. */
  readonly mass?: number;
  /** β, the rate. Default 4. */
  readonly rate?: number;
  /** γ: initial velocities are N(0, γM I). Default 0.04. */
  readonly initial?: number;
  /** T, the horizon. Default 1. */
  readonly horizon?: number;
}

/** The 2 × 2 covariance of a position and its velocity, the same for all n pairs. */
export interface PhaseCovariance {
  readonly xx: Tensor;
  readonly xv: Tensor;
  readonly vv: Tensor;
}

/** The result of `dampedLangevin`: the process and its transition. */
export interface DampedLangevin {
  /** The process of (x, v), with its prior N(0, diag(1, M)). */
  readonly sde: Sde;
  /** E[(x_t, v_t) | x₀, v₀ = 0] for positions x₀. */
  readonly mean: (x0: Tensor, t: Tensor) => Tensor;
  /**
   * The covariance of (x_t, v_t) given x₀, or, with `variance`, that for data from N(0, variance).
   */
  readonly covariance: (t: Tensor, variance?: number) => PhaseCovariance;
  /** ∇ log p_{0t}((x, v) | x₀); its last n numbers are the target of hybrid score matching. */
  readonly transitionScore: (z: Tensor, x0: Tensor, t: Tensor, variance?: number) => Tensor;
  /** log p_{0t}((x, v) | x₀), one number per event. */
  readonly logTransition: (z: Tensor, x0: Tensor, t: Tensor, variance?: number) => Tensor;
}

/** The positions and velocities of events (x, v). */
function halves(z: Tensor): readonly [Tensor, Tensor] {
  const size = z.shape.at(-1) as number;
  if (size % 2 !== 0)
    fail(
      "shape",
      `dampedLangevin: an event has ${size} numbers`,
      "give n positions, then n velocities",
    );
  const part = (from: number): Tensor =>
    slice(z, ...z.shape.slice(0, -1).map((d): [number, number] => [0, d]), [from, from + size / 2]);
  return [part(0), part(size / 2)];
}

interface Constants {
  readonly mass: number;
  readonly rate: number;
  readonly initial: number;
  readonly horizon: number;
}

/** Mean and covariance of the transition. */
function momentsOf({
  mass,
  rate,
  initial,
}: Constants): Pick<DampedLangevin, "mean" | "covariance"> {
  const lambda = 1 / Math.sqrt(mass);
  /** The entries of E(τ). */
  const propagator = (t: Tensor) => {
    const tau = mul(t, rate);
    const decay = exp(mul(tau, -lambda));
    const turn = mul(tau, lambda);
    return {
      xx: mul(decay, add(turn, 1)),
      xv: mul(decay, mul(tau, lambda ** 2)),
      vx: mul(decay, neg(tau)),
      vv: mul(decay, sub(1, turn)),
    };
  };
  return {
    covariance: (t, variance = 0) => {
      const e = propagator(t);
      const [x, v] = [1 - variance, mass * (1 - initial)]; // S − Σ₀
      return {
        xx: sub(1, add(mul(square(e.xx), x), mul(square(e.xv), v))),
        xv: neg(add(mul(mul(e.xx, e.vx), x), mul(mul(e.xv, e.vv), v))),
        vv: sub(mass, add(mul(square(e.vx), x), mul(square(e.vv), v))),
      };
    },
    mean: (x0, t) => {
      const { xx, vx } = propagator(t);
      return concat([mul(x0, expandDims(xx, -1)), mul(x0, expandDims(vx, -1))], -1);
    },
  };
}

/** The stationary distribution, N(0, diag(1, M)). */
const priorOf = (mass: number): Prior => ({
  sample: (keys, event, dtype) => {
    const draws = normal(keys, event, { dtype });
    const size = sizeOf(event);
    for (let i = 0; i < draws.data.length; i++)
      if (2 * (i % size) >= size) draws.data[i] *= Math.sqrt(mass);
    return draws;
  },
  logDensity: (z) => {
    const [x, v] = halves(z);
    const n = x.shape.at(-1) as number;
    const size = add(square(x), mul(square(v), 1 / mass));
    const peak = n * (Math.log(2 * Math.PI) + 0.5 * Math.log(mass));
    return sub(mul(sum(size, -1), -0.5), peak);
  },
});

/** The process of (x, v). */
function processOf({ mass, rate, horizon }: Constants): Sde {
  const friction = 2 * Math.sqrt(mass);
  /** A vector with 0 for positions and 1 for velocities. */
  const noisy = (z: Tensor): number[] => {
    const size = z.shape.at(-1) as number;
    return Array.from({ length: size }, (_, i) => (2 * i < size ? 0 : 1));
  };
  return {
    name: "critically damped Langevin",
    eventRank: 1,
    horizon,
    drift: (z) => {
      const [x, v] = halves(z);
      const pull = add(x, mul(v, friction / mass));
      return concat([mul(v, rate / mass), mul(pull, -rate)], -1);
    },
    diffusion: (z) => ({
      kind: "diagonal",
      value: mul(constant(noisy(z), z.dtype), Math.sqrt(2 * friction * rate)),
    }),
    prior: priorOf(mass),
  };
}

/**
 * Critically damped Langevin diffusion of events (x, v), positions and velocities. Noise enters the
 * velocities only.
 *
 * @throws DiffeoError of kind `usage` if an option is not a positive number
 * @example
 * import { key } from "diffeo/random";
 *
 * const { sde } = dampedLangevin();
 * // Replace the product by a network of z = (x, v) and t. Two positions, two velocities.
 * const process = reverse(sde, (z) => mul(z, -1));
 * await sample(process, { shape: [4], count: 100, key: key(1) });
 */
export function dampedLangevin(options: DampedLangevinOptions = {}): DampedLangevin {
  const { mass = 0.25, rate = 4, initial = 0.04, horizon = 1 } = options;
  const constants = { mass, rate, initial, horizon };
  for (const [name, value] of Object.entries(constants))
    if (!(value > 0 && value < Infinity))
      fail("usage", `dampedLangevin: ${name} is ${value}`, "use a positive number");
  const { mean, covariance } = momentsOf(constants);
  /** z − mean as positions and velocities, Σ along the event, and det Σ. */
  const centred = (z: Tensor, x0: Tensor, t: Tensor, variance?: number) => {
    const [dx, dv] = halves(sub(z, mean(x0, t)));
    const of = covariance(t, variance);
    const [xx, xv, vv] = [of.xx, of.xv, of.vv].map((c) => expandDims(c, -1));
    return { dx, dv, xx, xv, vv, det: sub(mul(xx, vv), square(xv)) };
  };
  return {
    sde: processOf(constants),
    mean,
    covariance,
    transitionScore: (z, x0, t, variance) => {
      const { dx, dv, xx, xv, vv, det } = centred(z, x0, t, variance);
      const inX = div(sub(mul(vv, dx), mul(xv, dv)), det);
      const inV = div(sub(mul(xx, dv), mul(xv, dx)), det);
      return neg(concat([inX, inV], -1));
    },
    logTransition: (z, x0, t, variance) => {
      const { dx, dv, xx, xv, vv, det } = centred(z, x0, t, variance);
      const cross = mul(mul(dx, dv), mul(xv, 2));
      const form = sub(add(mul(vv, square(dx)), mul(xx, square(dv))), cross);
      const each = add(div(form, det), log(mul(det, 4 * Math.PI ** 2)));
      return mul(sum(each, -1), -0.5);
    },
  };
}
