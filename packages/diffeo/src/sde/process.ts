/**
 * Processes that a sampler integrates: a drift, a diffusion and, if known, the probability flow, in
 * the coordinates y of the process.
 *
 *   forward       dX = f dt + G dW          t increases from 0
 *   reverse       dX̄ = f̄ dt + G dW̄         t decreases from T
 *   reversePush   dȲ = f̂ dt + G̃ dW̄         the same, in y (eq:reverse_sde_Y_final)
 *
 * A process made by a map also has a chart: the same motion in the coordinates x. A sampler may
 * step in x and map the result, so that it never leaves the domain. A drift, diffusion or velocity
 * that was replaced after the chart was made is pulled back through φ by Itô's lemma. So `{
 * ...process, drift }` has that drift in whichever coordinates a method steps. Without the chart, a
 * domain-preserving method could leave the domain; with the old chart, it would ignore the new
 * drift.
 */
import { type Bijector, type Diffusion, pullDiffusion } from "../bijector/index.ts";
import type { Tensor } from "../graph/index.ts";
import { multipliedOut, type ProcessDiffusion } from "./diffusion.ts";
import { pullDrift, pushedDrift, requireSameEvent } from "./ito.ts";
import type { Prior } from "./prior.ts";
import { flowVelocity, pullVelocity, pushedVelocity } from "./probability-flow.ts";
import { pullReverseDrift, pushedReverseDrift } from "./reverse-time-ito.ts";
import type { MarginalScore } from "./score.ts";
import type { Sde, Transition } from "./sde.ts";
import { reverseDrift } from "./time-reversal.ts";

/** A motion dX = drift dt + diffusion dW in some coordinates. */
export interface Motion {
  readonly drift: (x: Tensor, t: Tensor) => Tensor;
  readonly diffusion: (x: Tensor, t: Tensor) => ProcessDiffusion;
  /** The probability flow dx = velocity dt; only if the score is known. */
  readonly velocity?: (x: Tensor, t: Tensor) => Tensor;
}

/**
 * A process that samplers integrate: its drift, diffusion and velocity in its own coordinates y,
 * and what is known of it.
 */
export interface Process extends Motion {
  readonly name: string;
  readonly eventRank: number;
  /** T, the horizon. */
  readonly horizon: number;
  /** Whether the process runs backwards in time. */
  readonly reversed: boolean;
  /** The same motion in other coordinates x, with the map y = φ(x, t). Absent if x is y. */
  readonly chart?: Chart;

  // What is known of X, in x. Steps do not need it; starting, denoising, conditioning and
  // correctors do.
  /** The score ∇ₓ log p_t. */
  readonly score?: MarginalScore;
  readonly transition?: Transition;
  /** The distribution of X_T. */
  readonly prior?: Prior;
}

/** The motion of a process in coordinates x, where its own coordinates are y = φ(x, t). */
export interface Chart extends Motion {
  readonly phi: Bijector;
  readonly diffusion: (x: Tensor, t: Tensor) => Diffusion;
  /** The motion in y to which this chart belongs. */
  readonly of: Motion;
}

/** A process that runs backwards in time, with its score and prior. */
export interface ReverseProcess extends Process {
  readonly score: MarginalScore;
  readonly velocity: (y: Tensor, t: Tensor) => Tensor;
}

/** The process in x: its chart, where replaced members are pulled back. */
export function inChart(process: Process): Motion {
  const { chart, reversed } = process;
  if (!chart) return process;
  const { phi, of } = chart;
  const own = process.diffusion === of.diffusion;
  const diffusion = own
    ? chart.diffusion
    : (x: Tensor, t: Tensor) =>
        pullDiffusion(phi, x, multipliedOut(process.diffusion(phi.forward(x, t), t)), t);
  const pull = reversed ? pullReverseDrift : pullDrift;
  const { velocity } = process;
  return {
    diffusion,
    drift:
      own && process.drift === of.drift
        ? chart.drift
        : (x, t) => pull(phi, x, process.drift(phi.forward(x, t), t), diffusion(x, t), t),
    ...(velocity && {
      velocity:
        velocity === of.velocity && chart.velocity
          ? chart.velocity
          : (x: Tensor, t: Tensor) => pullVelocity(phi, x, velocity(phi.forward(x, t), t), t),
    }),
  };
}

/** A process with the given motions in y and in x. */
export const withMotion = <P extends Process>(
  process: P,
  inY: Motion,
  inX: Omit<Chart, "phi" | "of">,
): P => ({
  ...process,
  ...inY,
  ...(process.chart && { chart: { ...inX, phi: process.chart.phi, of: inY } }),
});

/** G̃ = J G at y, not multiplied out. */
const pushedAt =
  (sde: Sde, phi: Bijector) =>
  (y: Tensor, t: Tensor): ProcessDiffusion => ({
    kind: "pushed",
    phi,
    x: phi.inverse(y, t),
    t,
    inner: (x) => sde.diffusion(x, t),
  });

/** The process of an SDE forward in time, or of its image φ(X, t). */
export function forward(sde: Sde, phi?: Bijector): Process {
  const { eventRank, horizon, transition, drift, diffusion } = sde;
  const shared = { eventRank, horizon, reversed: false, transition };
  if (!phi) return { ...shared, name: sde.name, drift, diffusion };
  requireSameEvent(sde, phi);
  const motion: Motion = {
    drift: (y, t) => pushedDrift(sde, phi, phi.inverse(y, t), t),
    diffusion: pushedAt(sde, phi),
  };
  return {
    ...shared,
    ...motion,
    name: `${phi.name} of ${sde.name}`,
    chart: { phi, drift, diffusion, of: motion },
  };
}

/** The time reversal of an SDE from T to 0, given its score ∇ₓ log p_t. */
export const reverse = (sde: Sde, score: MarginalScore): ReverseProcess => ({
  name: `reverse of ${sde.name}`,
  eventRank: sde.eventRank,
  horizon: sde.horizon,
  reversed: true,
  score,
  transition: sde.transition,
  prior: sde.prior,
  drift: (x, t) => reverseDrift(sde, score, x, t),
  diffusion: sde.diffusion,
  velocity: (x, t) => flowVelocity(sde, score, x, t),
});

/**
 * The time reversal of φ(X, t) from T to 0, given the score ∇ₓ log p_t of X: the score is trained
 * in x, and samples are in the domain of y.
 */
export function reversePush(sde: Sde, phi: Bijector, score: MarginalScore): ReverseProcess {
  requireSameEvent(sde, phi);
  const inX = reverse(sde, score);
  const motion = {
    drift: (y: Tensor, t: Tensor) => pushedReverseDrift(sde, phi, score, phi.inverse(y, t), t),
    diffusion: pushedAt(sde, phi),
    velocity: (y: Tensor, t: Tensor) => pushedVelocity(sde, phi, score, phi.inverse(y, t), t),
  };
  const { drift, velocity } = inX;
  return {
    ...inX,
    ...motion,
    name: `reverse of ${phi.name} of ${sde.name}`,
    chart: { phi, drift, diffusion: sde.diffusion, velocity, of: motion },
  };
}
