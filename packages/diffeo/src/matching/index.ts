/** diffeo/matching: losses of score matching, and random slices for them. */
export { type BoundedOptions, boundedSlices } from "./bounded.ts";
export {
  type CheckObjectiveOptions,
  checkObjective,
  type ObjectiveCheck,
} from "./check-objective.ts";
export { type DenoisingLoss, type DenoisingOptions, denoising } from "./denoising.ts";
export { type Draw, type DrawSpec, type Draws, drawArrays, drawShapes } from "./draws.ts";
export { type SliceFamily, smoothFamily, withMonteCarlo } from "./family.ts";
export { fourierSlices } from "./fourier.ts";
export { type LinearDirections, linearSlices } from "./linear.ts";
export {
  finiteDifference,
  gssm,
  gssmVr,
  normalisedGssm,
  normalisedGssmVr,
  type ObjectiveName,
  objectives,
  type SliceOptions,
  scoreMatching,
  ssm,
  ssmVr,
} from "./losses.ts";
export type { Metric } from "./metric.ts";
export { networkSlices } from "./network.ts";
export { type Loss, lossOf, type Objective, type ScoreFunction, type Terms } from "./objective.ts";
export { type QuadraticOptions, quadraticSlices } from "./quadratic.ts";
export type { Moments, Slice } from "./slice.ts";
export { scoreMatchingThrough } from "./through.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { paperObjectives } from "./losses.ts";
/** @internal */
export { applyMetric, metricForm } from "./metric.ts";
/** @internal */
export { curvature } from "./objective.ts";
