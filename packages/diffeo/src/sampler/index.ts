/**
 * diffeo/sampler: integrators of processes, opened once and called often, or called once;
 * likelihood.
 */
export type { ChurnOptions } from "./churn.ts";
export { clampToSimplex } from "./clamp.ts";
export { type CorrectorOptions, predictorCorrector } from "./corrector.ts";
export {
  ancestral,
  dpmSolver2M,
  dpmSolver2MSde,
  flowWeights,
  type StepLevels,
} from "./dpm-solver.ts";
export { type ErrorByTime, type FittedGridOptions, fittedGrid } from "./fitted.ts";
export { heun, type RungeKuttaOptions, rungeKutta } from "./flow.ts";
export {
  checkedGrid,
  type GridName,
  grids,
  karrasGrid,
  logSnr,
  logSnrGrid,
  quadraticGrid,
  uniformGrid,
} from "./grid.ts";
export { type DensityOptions, type DensityResult, logDensity } from "./likelihood.ts";
export { brownianPath, independentNoise, type NoiseRequest, type NoiseSource } from "./noise.ts";
export { joinReports, type OpenSampler, openSampler, sample } from "./open.ts";
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
export {
  type OpenParticleOptions,
  type OpenParticles,
  openParticles,
  type ParticleCall,
  type ParticleOptions,
  type ParticleResult,
  particles,
} from "./particles.ts";
export { pauses } from "./pauses.ts";
export type { OnExit, Solver, Stage, StepIn, StepInputs, SteppingOptions } from "./solver.ts";
export { type SolverName, solverOf, solvers } from "./solvers.ts";
export { domainPreserving, eulerMaruyama, milstein } from "./stochastic.ts";
