/** diffeo/score: the change of variables for scores, Theorem 1 and its corollaries. */
export { pushScoreLine, pushScoreLineInverse, stackedMarginalScores } from "./line.ts";
export {
  estimateProjectedScore,
  type Projection,
  type ProjectionEstimate,
  projectedScore,
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

// For other packages of this repository; published types leave them out.

/** @internal */
export { projectionIntegrand } from "./projection.ts";
