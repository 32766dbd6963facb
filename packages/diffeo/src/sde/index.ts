/** diffeo/sde: diffusion processes, their time reversal, and their transformation by maps. */
export { type SdeSpec, sdes } from "./catalogue.ts";
export { type CarriedScore, carry, clock, rescaling } from "./clock.ts";
export { type ConditionOptions, condition } from "./condition.ts";
export { dilateTime, type Factor, scaleDrift, tilt } from "./control.ts";
export {
  type DampedLangevin,
  type DampedLangevinOptions,
  dampedLangevin,
  type PhaseCovariance,
} from "./damped-langevin.ts";
export { covarianceDivergence, type ProcessDiffusion, type PushedDiffusion } from "./diffusion.ts";
export { type EdmOptions, edm } from "./edm.ts";
export { type ExactSde, exactSdes } from "./exact.ts";
export { fromTransition, type TransitionOptions } from "./from-transition.ts";
export { type InterpolantOptions, interpolant } from "./interpolant.ts";
export { push, pushedDiffusion, pushedDrift } from "./ito.ts";
export { type Jacobi, jacobi } from "./jacobi.ts";
export { type JacobiSimplex, type JacobiSimplexOptions, jacobiSimplex } from "./jacobi-simplex.ts";
export type { JacobiOptions } from "./jacobi-spectrum.ts";
export { type LearnProjectionOptions, learnProjection } from "./learn-projection.ts";
export { type OrnsteinUhlenbeckOptions, ornsteinUhlenbeck } from "./ornstein.ts";
export { gaussianPrior, type Prior } from "./prior.ts";
export { flowVelocity, pushVelocity } from "./probability-flow.ts";
export {
  type Chart,
  forward,
  type Motion,
  type Process,
  type ReverseProcess,
  reverse,
  reversePush,
} from "./process.ts";
export { type Projected, project, projectAt } from "./project.ts";
export { type Reflected, type ReflectedOptions, reflected } from "./reflected.ts";
export { reverseNoiseShift } from "./reverse-noise.ts";
export { pushedReverseDrift, pushReverseDrift } from "./reverse-time-ito.ts";
export type { MarginalScore } from "./score.ts";
export type { GaussianSde, Sde, Transition } from "./sde.ts";
export { type SphereBrownian, type SphereOptions, sphereBrownian } from "./sphere.ts";
export {
  absoluteValues,
  linearStatistic,
  orderStatistics,
  type Rates,
  radius,
  type Statistic,
  squaredRadius,
} from "./statistic.ts";
export { reverseDrift } from "./time-reversal.ts";
export { guide, type Twist, type TwistedProcess, twist } from "./twist.ts";
export { type VeOptions, ve } from "./ve.ts";
export {
  cosineSchedule,
  linearSchedule,
  type NoiseSchedule,
  subVp,
  type VpOptions,
  vp,
} from "./vp.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { sdeOf } from "./catalogue.ts";
/** @internal */
export { noiseRatio, timeAtRatio } from "./clock.ts";
/** @internal */
export {
  applyCovariance,
  applyDiffusion,
  applyTransposed,
  dependsOnState,
  multipliedOut,
  noiseShape,
} from "./diffusion.ts";
/** @internal */
export { pushPrior } from "./ito.ts";
/** @internal */
export { inChart } from "./process.ts";
/** @internal */
export { requireScoreOfState, scoreAt, timesOf } from "./score.ts";
/** @internal */
export { reversalOf } from "./time-reversal.ts";
