/** diffeo/mcmc: Bayesian models, samples of their posteriors by Markov chains, and diagnostics. */
export { type Approximation, approximate } from "./approximate.ts";
export type { ApproximateOptions, FitName } from "./approximate-fits.ts";
export { type CalibrateOptions, type Calibration, calibrate, type Ranks } from "./calibrate.ts";
export type { Chain, ChainState } from "./chain-state.ts";
export { type ChainsOptions, drawChains } from "./chains.ts";
export {
  type ChainsInputs,
  type ChainsJobsOptions,
  type ChainsParameters,
  chainsJobs,
  chainsKind,
} from "./chains-job.ts";
export type { Data, DataShapes } from "./data.ts";
export type { Limits, ParameterOptions, Program, Statements } from "./declarations.ts";
export { bulkEss, rhat, type Summary, summarise, tailEss } from "./diagnostics.ts";
export type { ChainStore } from "./draw-options.ts";
export { type Compared, compare, type Loo, type LooOptions, loo } from "./loo.ts";
export type { ChainMethodName } from "./method.ts";
export type { MetricName } from "./metric.ts";
export type {
  NamedModel,
  NamedValues,
  Parameters,
  PosteriorDraws,
  PosteriorModel,
} from "./model.ts";
export { model, type StatementModel } from "./notation.ts";
export { arvizJson, cmdStanCsv, type Origin } from "./output.ts";
export type { Bounded, Parameter, Standardised, Values } from "./parameters.ts";
export {
  logLikelihood,
  type NamedDraws,
  type PosteriorPredictiveOptions,
  type PriorDraws,
  type PriorPredictiveOptions,
  posteriorPredictive,
  priorPredictive,
} from "./predict.ts";
export type { Restart } from "./restart.ts";
export {
  type CallOptions,
  collectPosterior,
  openPosteriorSampler,
  type Posterior,
  type PosteriorSampler,
  type PosteriorSamplerOptions,
  type SamplePosteriorOptions,
  samplePosterior,
} from "./sample-posterior.ts";
export type { Start } from "./starting-points.ts";
export type { ChainStepOptions } from "./step-file.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { fits } from "./approximate-fits.ts";
/** @internal */
export { parseChains, serializeChains } from "./checkpoint.ts";
/** @internal */
export {
  type Chains,
  chainsAt,
  type LogDensity,
  leapfrog,
  metropolis,
  negativeEnergy,
} from "./hamiltonian.ts";
/** @internal */
export { methods } from "./method.ts";
/** @internal */
export { metrics } from "./metric.ts";
/** @internal */
export { paretoFit, paretoShape } from "./pareto.ts";
/** @internal */
export { chainsOf, elementNames } from "./sample-posterior.ts";
/** @internal */
export { chainBlock, drawChainsFromStep, serializeChainStep } from "./step-file.ts";
/** @internal */
export { adaptedStepSize } from "./step-size.ts";
/** @internal */
export { openWalk, runWalk, type Walk } from "./walk.ts";
