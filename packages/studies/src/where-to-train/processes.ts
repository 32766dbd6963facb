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
import { affine } from "diffeo/bijector";
import {
  add,
  concat,
  div,
  exp,
  log,
  mul,
  neg,
  onesLike,
  slice,
  sqrt,
  square,
  sub,
  type Tensor,
  zerosLike,
} from "diffeo/graph";
import { dampedLangevin, reflected } from "diffeo/sde";
import type { StudyMap } from "../problem/maps.ts";
import { type Arm, byShares, vector, wall } from "./arm.ts";
import { jacobiArm } from "./jacobi-arm.ts";
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
