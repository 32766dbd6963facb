/** diffeo/mcmc: Markov chains that leave a log-density as it is, many of them in one graph. */
export {
  type ApproximateOptions,
  type Approximation,
  approximate,
  type FitName,
  fits,
} from "./approximate.ts";
export { type CalibrateOptions, type Calibration, calibrate, type Ranks } from "./calibrate.ts";
export {
  type CarryOptions,
  carriedStep,
  chainBlock,
  type DrawCarriedOptions,
  drawCarried,
} from "./carried.ts";
export type { Chain, ChainState } from "./chain-state.ts";
export { type ChainsOptions, drawChains } from "./chains.ts";
export {
  type ChainsInputs,
  type ChainsJobsOptions,
  type ChainsParameters,
  chainsJobs,
  chainsKind,
} from "./chains-job.ts";
export { parseChains, serializeChains } from "./checkpoint.ts";
export type { Data, DataShapes } from "./data.ts";
export { bulkEss, rhat, type Summary, summarise, tailEss } from "./diagnostics.ts";
export type { ChainStore } from "./draw-options.ts";
export {
  type Chains,
  chainsAt,
  type LogDensity,
  leapfrog,
  metropolis,
  negativeEnergy,
  type Phase,
} from "./hamiltonian.ts";
export { type Compared, compare, type Loo, type LooOptions, loo } from "./loo.ts";
export { type ChainMethodName, methods } from "./method.ts";
export { type MetricName, metrics } from "./metric.ts";
export type { PosteriorDraws, PosteriorModel } from "./model.ts";
export { model, type StatementModel } from "./notation.ts";
export { arvizJson, cmdStanCsv, type Origin } from "./output.ts";
export type { Bounded, Parameter, Standardised, Values } from "./parameters.ts";
export { paretoFit, paretoShape } from "./pareto.ts";
export {
  logLikelihood,
  type NamedDraws,
  type PosteriorPredictiveOptions,
  type PriorDraws,
  type PriorPredictiveOptions,
  posteriorPredictive,
  priorPredictive,
} from "./predict.ts";
export {
  type CallOptions,
  chainsOf,
  collectPosterior,
  elementNames,
  openPosteriorSampler,
  type Posterior,
  type PosteriorSampler,
  type PosteriorSamplerOptions,
  type SamplePosteriorOptions,
  type Start,
  samplePosterior,
} from "./sample-posterior.ts";
export type { Limits, ParameterOptions, Program, Statements } from "./statements.ts";
export { adaptedStepSize, type StepSizeRule } from "./step-size.ts";
export {
  type Move,
  type Moved,
  openWalk,
  runWalk,
  type Walk,
  type WalkOptions,
  type WalkRunOptions,
  type WalkTarget,
} from "./walk.ts";
export { energyFraction } from "./warnings.ts";
