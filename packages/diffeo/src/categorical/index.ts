/**
 * diffeo/categorical: grids and sequences of classes as points on simplices, denoisers with their
 * training, sampling and completion. It also runs in web pages. Reading and writing of model files
 * is in diffeo/node.
 */

export { type BitsOptions, bitsPerGrid } from "./bits.ts";
export {
  type Categorical,
  type CategoricalSpec,
  categorical,
  type StandardiseOptions,
  standardise,
} from "./categorical.ts";
export type { ClassArray } from "./class-array.ts";
export type { SimplexMap } from "./coordinates.ts";
export {
  type Denoiser,
  denoiserScore,
  type LossOptions,
  type Parameterisation,
  type Sees,
} from "./denoiser.ts";
export { type ErrorOptions, errorsByTime, fittedTimes } from "./errors.ts";
export type { KnownClasses } from "./evidence.ts";
export { type Groups, sudokuGroups } from "./groups.ts";
export { knownSites, siteLikelihood } from "./known-sites.ts";
export { freshModel, type Model, type ModelSpec, modelOf } from "./model.ts";
export { parseModel, serializeModel } from "./model-bytes.ts";
export {
  type GridCondition,
  type GridRules,
  meets,
  parseRules,
  type RuleOptions,
} from "./rules.ts";
export {
  type DrawGridsOptions,
  type GridSampler,
  type OpenGridsOptions,
  openGrids,
  type SampleGridsOptions,
  sampleGrids,
} from "./sample-grids.ts";
export type { GroupSum, SiteSum } from "./site-sums.ts";
export type { TrainDenoiserOptions } from "./train-denoiser.ts";
export { type GridNetwork, type TrainGridOptions, trainGrid } from "./train-grid.ts";
export {
  type BatchOptions,
  compileDenoiserStep,
  type DenoiserBatch,
  denoiserBatch,
  type Focus,
  type Grids,
  gridsOf,
} from "./training.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { classArray } from "./class-array.ts";
/** @internal */
export {
  BOUND,
  denoiserLogPosterior,
  denoiserLoss,
  denoiserMean,
  denoiserPosterior,
  parameterisations,
  weights,
} from "./denoiser.ts";
/** @internal */
export { usualTimes } from "./errors.ts";
/** @internal */
export { logLikelihoods } from "./evidence.ts";
/** @internal */
export { boxesOf, linesOf } from "./groups.ts";
/** @internal */
export { denoiserOf } from "./model.ts";
/** @internal */
export { withErrors } from "./model-bytes.ts";
/** @internal */
export { groupSums, siteSum } from "./site-sums.ts";
/** @internal */
export { trainDenoiser } from "./train-denoiser.ts";
/** @internal */
export { gridSpec, suggestedNetwork } from "./train-grid.ts";
