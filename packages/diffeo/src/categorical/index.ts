/**
 * diffeo/categorical: grids and sequences of classes as points on simplices, a denoiser of them
 * with its training, and known sites; all of it runs in a page too. Files are in files.ts.
 */

export { type BitsOptions, bitsPerGrid } from "./bits.ts";
export {
  type Categorical,
  type CategoricalSpec,
  categorical,
  type StandardiseOptions,
  standardise,
} from "./categorical.ts";
export type { SimplexMap } from "./coordinates.ts";
export {
  BOUND,
  type Denoiser,
  denoiserLogPosterior,
  denoiserLoss,
  denoiserMean,
  denoiserPosterior,
  denoiserScore,
  type LossOptions,
  type Parameterisation,
  parameterisations,
  type Sees,
  weights,
} from "./denoiser.ts";
export { type ErrorOptions, errorsByTime, fittedTimes, usualTimes } from "./errors.ts";
export { type KnownClasses, logLikelihoods } from "./evidence.ts";
export { boxesOf, type Groups, linesOf, sudokuGroups } from "./groups.ts";
export { knownSites, siteLikelihood } from "./known-sites.ts";
export { denoiserOf, freshModel, type Model, type ModelSpec, modelOf } from "./model.ts";
export { parseModel, serializeModel, withErrors } from "./model-bytes.ts";
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
export { type GroupSum, groupSums, type SiteSum, siteSum } from "./site-sums.ts";
export { type TrainDenoiserOptions, trainDenoiser } from "./train-denoiser.ts";
export {
  type GridNetwork,
  gridNetworks,
  gridSpec,
  suggestedNetwork,
  type TrainGridOptions,
  trainGrid,
} from "./train-grid.ts";
export {
  type BatchOptions,
  compileDenoiserStep,
  type DenoiserBatch,
  denoiserBatch,
  type Focus,
  type Grids,
  gridsOf,
} from "./training.ts";
