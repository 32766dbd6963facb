/** diffeo/sde: diffusion processes, their reversal, and both seen through a map. */
import { ornsteinUhlenbeck } from "./ornstein.ts";
import { ve } from "./ve.ts";
import { cosineSchedule, subVp, vp } from "./vp.ts";

export {
  applyCovariance,
  applyDiffusion,
  applyTransposed,
  covarianceDivergence,
  dependsOnState,
  noiseShape,
} from "./diffusion.ts";
export { type OrnsteinUhlenbeckOptions, ornsteinUhlenbeck } from "./ornstein.ts";
export { gaussianPrior, type Prior } from "./prior.ts";
export { forward, type Process, type ReverseProcess, reverse, reversePush } from "./process.ts";
export {
  push,
  pushedDiffusion,
  pushedDrift,
  pushedReverseDrift,
  pushedVelocity,
  pushPrior,
  pushVelocity,
} from "./push.ts";
export { flowVelocity, reversalOf, reverseDrift } from "./reverse.ts";
export type { GaussianSde, MarginalScore, Sde, Transition } from "./sde.ts";
export { type VeOptions, ve } from "./ve.ts";
export { cosineSchedule, linearSchedule, type Schedule, subVp, type VpOptions, vp } from "./vp.ts";

/** SDEs by name, for events of the given rank. Every law of `test/sde` runs over them. */
export const sdes = {
  vp: (eventRank = 1) => vp({ eventRank }),
  vpCosine: (eventRank = 1) => vp({ eventRank, schedule: cosineSchedule() }),
  subVp: (eventRank = 1) => subVp({ eventRank }),
  ve: (eventRank = 1) => ve({ eventRank }),
  ornsteinUhlenbeck: (eventRank = 1) => ornsteinUhlenbeck({ eventRank }),
} as const;
