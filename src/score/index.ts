/** diffeo/score: Theorem 1 and its corollaries, and analytic scores to try them on. */
export { type BananaOptions, banana } from "./banana.ts";
export { type CheckOptions, checkMap, type LawResult, type MapReport } from "./check.ts";
export { type Density, type Diffusible, type Distribution, sampleFrom } from "./distribution.ts";
export { type GaussianOptions, gaussian } from "./gaussian.ts";
export type { Law, Probe } from "./law.ts";
export { laws } from "./laws.ts";
export { pushScoreLine, pushScoreLineInverse, stackedMarginalScores } from "./line.ts";
export { type Component, mixture } from "./mixture.ts";
export type { Covariance } from "./principal.ts";
export {
  estimateProjectedScore,
  type Projection,
  type ProjectionEstimate,
  projectedScore,
  projectionIntegrand,
} from "./projection.ts";
export {
  pulledScore,
  pullLogDensity,
  pullScore,
  pushedScore,
  pushLogDensity,
  pushScore,
  type Score,
} from "./score.ts";
export { type StudentOptions, studentT } from "./student.ts";
