/**
 * What a sampler integrates: the SDE of X, a direction of time, and, where the process lives in another space, the
 * map y = φ(x, t) that leads there.
 *
 *   forward       dX = f dt + G dW          t rises from 0
 *   reverse       dX̄ = f̄ dt + G dW̄         t falls from T
 *   reversePush   dȲ = f̂ dt + G̃ dW̄         the same, seen in y (eq:reverse_sde_Y_final)
 *
 * Reverse(φ(X)) ≡ φ(Reverse(X)): `reverse(push(sde, φ), pushScore(φ, score))` has the same drift as
 * `reversePush(sde, φ, score)`. The second keeps x at hand, so that a sampler may step there and never leave the domain.
 */
import type { Bijector, Diffusion } from "../bijector/index.ts";
import type { Tensor } from "../graph/index.ts";
import { pushedDiffusion, pushedDrift, pushedReverseDrift, pushedVelocity, requireSameEvent } from "./push.ts";
import { flowVelocity, reverseDrift } from "./reverse.ts";
import type { MarginalScore, Sde } from "./sde.ts";

export interface Process {
  readonly name: string;
  readonly eventRank: number;
  /** T */
  readonly horizon: number;
  /** Whether t falls. */
  readonly reversed: boolean;
  /** The SDE of X, in the space of the score. */
  readonly sde: Sde;
  /** ∇ₓ log p_t, in x. A forward process needs none. */
  readonly score?: MarginalScore;
  /** The map to the space of the process. Absent: the process is X itself. */
  readonly phi?: Bijector;

  // In the space of the process, at one of its points:
  readonly drift: (y: Tensor, t: Tensor) => Tensor;
  readonly diffusion: (y: Tensor, t: Tensor) => Diffusion;
  /** The probability flow; only where the score is known. */
  readonly velocity?: (y: Tensor, t: Tensor) => Tensor;
}

/** A process whose score is known. */
export interface ReverseProcess extends Process {
  readonly score: MarginalScore;
  readonly velocity: (y: Tensor, t: Tensor) => Tensor;
}

/** X, or φ(X, t), as time rises. */
export function forward(sde: Sde, phi?: Bijector): Process {
  const { eventRank, horizon } = sde;
  const shared = { eventRank, horizon, reversed: false, sde };
  if (!phi) return { ...shared, name: sde.name, drift: sde.drift, diffusion: sde.diffusion };
  requireSameEvent(sde, phi);
  return {
    ...shared,
    name: `${phi.name} of ${sde.name}`,
    phi,
    drift: (y, t) => pushedDrift(sde, phi, phi.inverse(y, t), t),
    diffusion: (y, t) => pushedDiffusion(sde, phi, phi.inverse(y, t), t),
  };
}

/** X run backwards from T, given ∇ₓ log p_t. */
export const reverse = (sde: Sde, score: MarginalScore): ReverseProcess => ({
  name: `reverse of ${sde.name}`,
  eventRank: sde.eventRank,
  horizon: sde.horizon,
  reversed: true,
  sde,
  score,
  drift: (x, t) => reverseDrift(sde, score, x, t),
  diffusion: sde.diffusion,
  velocity: (x, t) => flowVelocity(sde, score, x, t),
});

/** φ(X, t) run backwards from T, given ∇ₓ log p_t: the score is trained in x, the process lives in y. */
export function reversePush(sde: Sde, phi: Bijector, score: MarginalScore): ReverseProcess {
  requireSameEvent(sde, phi);
  return {
    name: `reverse of ${phi.name} of ${sde.name}`,
    eventRank: phi.eventRank,
    horizon: sde.horizon,
    reversed: true,
    sde,
    score,
    phi,
    drift: (y, t) => pushedReverseDrift(sde, phi, score, phi.inverse(y, t), t),
    diffusion: (y, t) => pushedDiffusion(sde, phi, phi.inverse(y, t), t),
    velocity: (y, t) => pushedVelocity(sde, phi, score, phi.inverse(y, t), t),
  };
}
