/** diffeo/score: Theorem 1 and its corollaries. */
export { pushScoreLine, pushScoreLineInverse, stackedMarginalScores } from "./line.ts";
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
