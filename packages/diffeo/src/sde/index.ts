/** diffeo/sde: diffusion processes, their reversal, and both seen through a map. */
import { ornsteinUhlenbeck } from "./ornstein.ts";
import { ve } from "./ve.ts";
import { cosineSchedule, subVp, vp } from "./vp.ts";

export { dilateTime, type Factor, guide, scaleDrift, tilt } from "./control.ts";
export {
  applyCovariance,
  applyDiffusion,
  applyTransposed,
  covarianceDivergence,
  dependsOnState,
  multipliedOut,
  noiseShape,
  type ProcessDiffusion,
  type PushedDiffusion,
} from "./diffusion.ts";
export { pullDrift, push, pushDrift, pushedDiffusion, pushedDrift, pushPrior } from "./ito.ts";
export { type OrnsteinUhlenbeckOptions, ornsteinUhlenbeck } from "./ornstein.ts";
export { gaussianPrior, type Prior } from "./prior.ts";
export { flowVelocity, pullVelocity, pushedVelocity, pushVelocity } from "./probability-flow.ts";
export {
  type Chart,
  forward,
  inChart,
  type Motion,
  type Process,
  type ReverseProcess,
  reverse,
  reversePush,
} from "./process.ts";
export { pullReverseDrift, pushedReverseDrift, pushReverseDrift } from "./reverse-time-ito.ts";
export { type MarginalScore, requireScoreOfState, scoreAt, timesOf } from "./score.ts";
export type { GaussianSde, Sde, Transition } from "./sde.ts";
export { reversalOf, reverseDrift } from "./time-reversal.ts";
export { type VeOptions, ve } from "./ve.ts";
export { cosineSchedule, linearSchedule, type NoiseSchedule, subVp, type VpOptions, vp } from "./vp.ts";

/** SDEs by name, for events of the given rank. Every law of `test/sde` runs over them. */
export const sdes = {
  vp: (eventRank = 1) => vp({ eventRank }),
  vpCosine: (eventRank = 1) => vp({ eventRank, schedule: cosineSchedule() }),
  subVp: (eventRank = 1) => subVp({ eventRank }),
  ve: (eventRank = 1) => ve({ eventRank }),
  ornsteinUhlenbeck: (eventRank = 1) => ornsteinUhlenbeck({ eventRank }),
} as const;
