/** diffeo/categorical: grids and sequences of classes as points on simplices, a denoiser of them, and known sites. */
export {
  type Categorical,
  type CategoricalSpec,
  categorical,
  type StandardiseOptions,
  standardise,
} from "./categorical.ts";
export {
  type Denoiser,
  denoiserLogPosterior,
  denoiserLoss,
  denoiserMean,
  denoiserPosterior,
  denoiserScore,
  type LossOptions,
  type Parameterisation,
  parameterisations,
} from "./denoiser.ts";
export { type KnownSitesOptions, knownSites } from "./known-sites.ts";
