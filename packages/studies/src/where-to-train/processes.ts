/**
 * Other processes on the domain of y = φ(x), as arms of the comparison: the same distribution of y,
 * network, loss and budget, and a process whose transition is not N(m x₀, σ²I) in x.
 *
 *   jacobi     sticks of the simplex, each a Jacobi diffusion (P. Avdeyev et al., ICML 2023), in angles
 *   reflected  Brownian motion reflected at the faces of the cube (A. Lou, S. Ermon, ICML 2023)
 *   langevin   critically damped Langevin diffusion in x, mapped (T. Dockhorn et al., ICLR 2022)
 *
 * The network gives the score of the state u by the form that `velocityScore` has for VP,
 *
 *   s = base − (m/σ) net(u, λ)          loss ‖σ(base − target) − m net‖²,   λ = 2 log(m/σ)
 *
 * with base the stationary score, m the decay of the slowest mode and σ the size of the noise. For
 * Langevin diffusion the form is its authors': s = base − net/σ of velocities.
 */
import { affine, type Bijector, blocks, chain } from "diffeo/bijector";
import {
  add,
  concat,
  div,
  exp,
  expandDims,
  expm1,
  less,
  log,
  mul,
  type NdArray,
  neg,
  onesLike,
  sin,
  slice,
  sqrt,
  square,
  sub,
  type Tensor,
  tanh,
  where,
  zerosLike,
} from "diffeo/graph";
import { type Key, sampleKeys } from "diffeo/random";
import { pullScore } from "diffeo/score";
import { dampedLangevin, jacobi, jacobiSimplex, reflected, type Sde } from "diffeo/sde";
import type { StudyMap } from "../problem/maps.ts";
import type { Problem } from "./losses.ts";

export const processNames = ["jacobi", "reflected", "langevin"] as const;
export type ProcessName = (typeof processNames)[number];

export const isProcess = (name: string): name is ProcessName =>
  (processNames as readonly string[]).includes(name);

/** The map φ that makes the distribution of y, by process. */
export const processMaps: Readonly<Record<ProcessName, StudyMap>> = {
  jacobi: "stickBreaking",
  reflected: "cube",
  langevin: "additiveLogistic",
};

/** A score as base − size·net, by event and coordinate. */
interface Form {
  readonly base: Tensor;
  readonly size: Tensor;
  /** By event. */
  readonly sigma: Tensor;
  readonly level: Tensor;
}

/** A process of states u, and a score of it that is learned. */
export interface Arm {
  /** What samplers step. */
  readonly sde: Sde;
  /** Numbers of a state, and of a score that the network gives. */
  readonly inputs: number;
  readonly outputs: number;
  /** Times of training are those of uniform shares, from the earliest, 0, to 1. */
  readonly timeAt: (share: number) => number;
  /** Times of the sampler. */
  readonly grid: (steps: number) => number[];
  /** u at time 0, of x₀; a state of y where the process is not in x. */
  readonly start: (x0: Tensor) => Tensor;
  /** What a state is by the image of ε, or by exact samples. */
  readonly noised: Noised;
  /** ∇ log p(u | u₀), of the coordinates that the network gives. */
  readonly target: (state: Tensor, start: Tensor, t: Tensor) => Tensor;
  readonly read: (state: Tensor) => Tensor;
  readonly form: (state: Tensor, t: Tensor) => Form;
  /** A score of all coordinates. */
  readonly full: (score: Tensor) => Tensor;
  readonly toY: (state: Tensor) => Tensor;
  /** How log p_t is known: from log p(u | u₀) and u ↦ y, or for Gaussians in x. */
  readonly density: Density;
}

export type Noised =
  | { readonly kind: "graph"; readonly of: (start: Tensor, t: Tensor, noise: Tensor) => Tensor }
  | { readonly kind: "host"; readonly of: (start: NdArray, t: NdArray, key: Key) => NdArray };

type LogTransition = (u: Tensor, start: Tensor, t: Tensor) => Tensor;

export type Density =
  | {
      readonly kind: "quadrature";
      readonly psi: Bijector;
      readonly logTransition: LogTransition;
      readonly low: number;
      readonly high: number;
      /** A length that the noise of a coordinate does not exceed by much. */
      readonly spread: (t: number) => number;
    }
  | {
      readonly kind: "gaussian";
      /** log p(u) of x₀ ~ N(mean, variance I). */
      readonly of: (u: Tensor, mean: Tensor, t: Tensor, variance: number) => Tensor;
    };

const vector = (t: Tensor): Tensor => expandDims(t, -1);

/**
 * A factor of scores in a box, of distances to both faces: 0 at a face and 1 further from it than
 * the noise reaches. Densities of y have no slope across a face, and without the factor the flow of
 * a learned score would lose mass there.
 */
const wall = (low: Tensor, high: Tensor, sigma: Tensor): Tensor =>
  mul(tanh(div(low, vector(sigma))), tanh(div(high, vector(sigma))));

/** Falling times at equal shares. */
const byShares =
  (timeAt: Arm["timeAt"], power = 1) =>
  (steps: number) =>
    Array.from({ length: steps + 1 }, (_, i) => timeAt((1 - i / steps) ** power));

/** Terms of the spectral sum: they make the noise of the earliest time .02 of an angle. */
const TERMS = 400;
/** The standard deviation of an angle of Beta(1, 1). */
const ANGLE = Math.sqrt(Math.PI ** 2 / 4 - 2);
/** ∫β of VP: means of sticks decay by e^{−t} as those of VP by e^{−∫β/2}. */
const [FLAT, STEEP] = [0.1, 9.95];

/** The sites of a grid are simplices of their own. */
function jacobiArm({ phi, n }: Problem): Arm {
  const sites = n / 2;
  const all = <T>(pair: readonly T[]): T[] => Array.from({ length: sites }, () => pair).flat();
  const horizon = (FLAT + STEEP) / 2;
  const {
    angle,
    phi: squared,
    ...process
  } = jacobi({
    ...{ a: all([1, 1]), b: all([2, 1]), terms: TERMS, horizon },
  });
  const { sticks } = jacobiSimplex({ alpha: [1, 1, 1] });
  const psi = chain(
    squared,
    blocks(Array.from({ length: sites }, () => ({ map: sticks, size: 2 }))),
  );
  const earliest = (Math.sqrt(FLAT ** 2 + 8 * STEEP * process.firstTime) - FLAT) / (2 * STEEP);
  const timeAt = (share: number): number => {
    const u = earliest + (1 - earliest) * share;
    return Math.min(horizon, (FLAT * u + STEEP * u * u) / 2);
  };
  // An angle beyond 0 or π is its mirror image, and the score there the mirrored one.
  const inside = (theta: Tensor): Tensor => squared.inverse(squared.forward(theta));
  const side = (theta: Tensor): Tensor =>
    where(less(sin(theta), 0), neg(onesLike(theta)), onesLike(theta));
  return {
    sde: angle,
    inputs: n,
    outputs: n,
    timeAt,
    grid: byShares(timeAt),
    start: (x0) => psi.inverse(phi.forward(x0)),
    noised: {
      kind: "host",
      of: (start, t, key) => {
        const data = Float64Array.from(start.data as Float64Array, (v) => Math.sin(v / 2) ** 2);
        t.data.forEach((time, i) => {
          const row = data.subarray(i * n, (i + 1) * n);
          const z0 = { shape: [1, n], dtype: "float64" as const, data: row.slice() };
          row.set(process.sampleTransition(sampleKeys(key, 1, i), z0, Number(time)).data);
        });
        for (let i = 0; i < data.length; i++) data[i] = 2 * Math.asin(Math.sqrt(data[i]));
        return { shape: start.shape, dtype: "float64", data };
      },
    },
    target: (theta, start, t) => {
      const [z, z0] = [squared.forward(theta), squared.forward(start)];
      return pullScore(squared, theta, process.transitionScore(z, z0, t));
    },
    read: (theta) => mul(sub(inside(theta), Math.PI / 2), 1 / ANGLE),
    form: (theta, t) => {
      const [m, sigma] = [exp(neg(t)), sqrt(neg(expm1(mul(t, -2))))];
      // The angle's noise has one size √s, so its drift is ½ s ∇ log of the stationary density.
      const rate = square(angle.diffusion(theta, t).value as Tensor);
      const at = inside(theta);
      const inner = mul(side(theta), wall(at, sub(Math.PI, at), sigma));
      return {
        base: div(mul(angle.drift(theta, t), 2), rate),
        size: mul(inner, vector(div(m, sigma))),
        sigma,
        level: mul(log(div(m, sigma)), 2),
      };
    },
    full: (score) => score,
    toY: (theta) => psi.forward(theta),
    density: {
      kind: "quadrature",
      psi,
      logTransition: (theta, start, t) =>
        add(
          process.logTransition(squared.forward(theta), squared.forward(start), t),
          squared.logDet(theta),
        ),
      low: 0,
      high: Math.PI,
      spread: Math.sqrt,
    },
  };
}

function reflectedArm({ phi, n }: Problem): Arm {
  const { sde, fold, std, extend, logTransition, transitionScore } = reflected();
  const timeAt = (share: number): number => 0.001 + 0.999 * share;
  const identity = affine({ scale: new Array(n).fill(1), shift: new Array(n).fill(0) });
  const sign = extend((y) => onesLike(y));
  return {
    sde,
    inputs: n,
    outputs: n,
    timeAt,
    grid: byShares(timeAt),
    start: (x0) => phi.forward(x0),
    noised: {
      kind: "graph",
      of: (start, t, noise) => fold(add(start, mul(noise, vector(std(t))))),
    },
    target: transitionScore,
    read: (y) => mul(sub(fold(y), 0.5), Math.sqrt(12)),
    form: (y, t) => {
      const sigma = std(t);
      // cos(πy), the slowest mode, decays so.
      const logDecay = mul(square(sigma), -0.5 * Math.PI ** 2);
      const ratio = div(exp(logDecay), sigma);
      const at = fold(y);
      const inner = mul(sign(y, t), wall(at, sub(1, at), sigma));
      return {
        base: zerosLike(y),
        size: mul(inner, vector(ratio)),
        sigma,
        level: mul(sub(logDecay, log(sigma)), 2),
      };
    },
    full: (score) => score,
    toY: fold,
    density: {
      kind: "quadrature",
      psi: identity,
      logTransition,
      low: 0,
      high: 1,
      spread: (t) => 0.01 * Math.sqrt(Math.expm1(2 * t * Math.log(150))),
    },
  };
}

const MASS = 0.25;

function langevinArm({ phi, n }: Problem): Arm {
  const { sde, mean, covariance, transitionScore, logTransition } = dampedLangevin({ mass: MASS });
  const half = (u: Tensor, k: 0 | 1): Tensor =>
    slice(u, ...u.shape.slice(0, -1).map(() => null), [k * n, (k + 1) * n]);
  const timeAt = (share: number): number => 0.001 + 0.999 * share;
  return {
    sde,
    inputs: 2 * n,
    outputs: n,
    timeAt,
    // Finer near the data, as its authors use.
    grid: byShares(timeAt, 2),
    start: (x0) => x0,
    noised: {
      kind: "graph",
      of: (start, t, noise) => {
        const { xx, xv, vv } = covariance(t);
        const along = sqrt(xx);
        const slope = div(xv, along);
        const rest = sqrt(sub(vv, square(slope)));
        const [e1, e2] = [half(noise, 0), half(noise, 1)];
        const inX = mul(e1, vector(along));
        const inV = add(mul(e1, vector(slope)), mul(e2, vector(rest)));
        return add(mean(start, t), concat([inX, inV], -1));
      },
    },
    target: (u, start, t) => half(transitionScore(u, start, t), 1),
    read: (u) => concat([half(u, 0), mul(half(u, 1), 1 / Math.sqrt(MASS))], -1),
    form: (u, t) => {
      const { xx, xv, vv } = covariance(t);
      const sigma = sqrt(sub(vv, div(square(xv), xx)));
      return {
        base: neg(div(half(u, 1), vector(covariance(t, 1).vv))),
        size: mul(onesLike(half(u, 1)), vector(div(1, sigma))),
        sigma,
        level: neg(log(xx)),
      };
    },
    full: (score) => concat([zerosLike(score), score], -1),
    toY: (u) => phi.forward(half(u, 0)),
    density: { kind: "gaussian", of: logTransition },
  };
}

const arms = { jacobi: jacobiArm, reflected: reflectedArm, langevin: langevinArm } as const;

/** The arm of a process, by its name. */
export const armOf = (name: ProcessName, problem: Problem): Arm => arms[name](problem);
