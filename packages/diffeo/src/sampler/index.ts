/** diffeo/sampler: samplers of processes, likelihoods, and weighted particles. */
export { changingCharts } from "./atlas.ts";
export type { ChurnOptions } from "./churn.ts";
export { type CorrectorOptions, predictorCorrector } from "./corrector.ts";
export { ancestral, dpmSolver2M, dpmSolver2MSde } from "./dpm-solver.ts";
export { type ErrorByTime, type FittedGridOptions, fittedGrid } from "./fitted.ts";
export { heun, type RungeKuttaOptions, rungeKutta } from "./flow.ts";
export {
  type GridName,
  grids,
  karrasGrid,
  logSnrGrid,
  quadraticGrid,
  uniformGrid,
} from "./grid.ts";
export { type DensityOptions, type DensityResult, logDensity } from "./likelihood.ts";
export { brownianPath, type NoiseRequest, type NoiseSource } from "./noise.ts";
export { type OpenSampler, openSampler, sample } from "./open.ts";
export type {
  DrawOptions,
  Known,
  KnownPoints,
  OpenOptions,
  Progress,
  SampleOptions,
  SampleResult,
  Samples,
} from "./options.ts";
export type { OpenParticleOptions } from "./particle-graphs.ts";
export {
  type OpenParticles,
  openParticles,
  type ParticleCall,
  type ParticleOptions,
  type ParticleResult,
  particles,
} from "./particles.ts";
export type { OnExit, Solver, Stage, StepIn, StepInputs, SteppingOptions } from "./solver.ts";
export { type SolverName, solvers } from "./solvers.ts";
export { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { clampToSimplex } from "./clamp.ts";
/** @internal */
export { flowWeights } from "./dpm-solver.ts";
/** @internal */
export { logSnr } from "./grid.ts";
/** @internal */
export { joinReports } from "./open.ts";
/** @internal */
export { pauses } from "./pauses.ts";
/** @internal */
export { solverOf } from "./solvers.ts";
