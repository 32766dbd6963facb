/**
 * What a sampler integrates: a drift, a diffusion and, if it is known, the probability flow, in the
 * coordinates y of the process.
 *
 *   forward       dX = f dt + G dW          t rises from 0
 *   reverse       dX̄ = f̄ dt + G dW̄         t falls from T
 *   reversePush   dȲ = f̂ dt + G̃ dW̄         the same, seen in y (eq:reverse_sde_Y_final)
 *
 * A process made by a map also has a chart: the same motion in the coordinates x that the map came
 * from. A sampler may step there and map, and so never leave the domain. What it steps is always
 * the process as it is: a drift, diffusion or velocity that is no longer the one the chart was made
 * for is pulled back through φ by Itô's lemma, so that `{ ...process, drift }` runs that drift
 * whichever coordinates a method steps in. Dropping the chart instead would let a method leave the
 * domain that promised not to; keeping it would run another drift than the one that was given.
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

/** dX = drift dt + diffusion dW, in some coordinates. */
export interface Motion {
  readonly drift: (x: Tensor, t: Tensor) => Tensor;
  readonly diffusion: (x: Tensor, t: Tensor) => ProcessDiffusion;
  /** The probability flow, dx = velocity dt; only where the score is known. */
  readonly velocity?: (x: Tensor, t: Tensor) => Tensor;
}

/** A process that samplers integrate: drift, diffusion, velocity and prior in its own space. */
export interface Process extends Motion {
  readonly name: string;
  readonly eventRank: number;
  /** T */
  readonly horizon: number;
  /** Whether t falls. */
  readonly reversed: boolean;
  /** The same in other coordinates x, and the map from there. Absent: x is y. */
  readonly chart?: Chart;

  // What is known of X, in x. Steps are taken without it; starting, denoising, conditioning and
  // correcting need it.
  /** ∇ₓ log p_t */
  readonly score?: MarginalScore;
  readonly transition?: Transition;
  /** The distribution of X_T. */
  readonly prior?: Prior;
}

/** A process in coordinates x, of which its own are y = φ(x, t). */
export interface Chart extends Motion {
  readonly phi: Bijector;
  readonly diffusion: (x: Tensor, t: Tensor) => Diffusion;
  /** The motion in y that this is the chart of. */
  readonly of: Motion;
}

/** A process whose score is known. */
export interface ReverseProcess extends Process {
  readonly score: MarginalScore;
  readonly velocity: (y: Tensor, t: Tensor) => Tensor;
}

/** The process in x: its chart, and what is not the chart's pulled back. */
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

/** A process that moves in this way in y, and in that way in x. */
export const withMotion = <P extends Process>(
  process: P,
  inY: Motion,
  inX: Omit<Chart, "phi" | "of">,
): P => ({
  ...process,
  ...inY,
  ...(process.chart && { chart: { ...inX, phi: process.chart.phi, of: inY } }),
});

/** G̃ = J G at y, J and G apart. */
const pushedAt =
  (sde: Sde, phi: Bijector) =>
  (y: Tensor, t: Tensor): ProcessDiffusion => ({
    kind: "pushed",
    phi,
    x: phi.inverse(y, t),
    t,
    inner: (x) => sde.diffusion(x, t),
  });

/** X, or φ(X, t), as time rises. */
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

/** X run backwards from T, given ∇ₓ log p_t. */
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
 * φ(X, t) run backwards from T, given ∇ₓ log p_t: the score is trained in x, the process lives in
 * y.
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
