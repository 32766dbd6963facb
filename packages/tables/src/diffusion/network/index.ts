/**
 * Network: from x to the score.
 *
 * In: the coordinates of a table (domain, standard, atoms), and trained weights.
 * Out: v̂(x, λ), the score of the noised table, and the map φ from x to y.
 */
export { type Engine, type EngineOptions, engineOf } from "./engine.ts";
export { type Flow, type FlowKind, flowing, flowKinds, intoFlow, outOfFlow } from "./flow.ts";
export { type Graphs, openGraphs, withGraphs } from "./graphs.ts";
export { type Coordinates, type Head, headOf, plainHead } from "./head.ts";
export { noisedRows, scalesAt } from "./level.ts";
export {
  type FittedTable,
  type GivenWeights,
  givenCoordinates,
  givenPredictorOf,
  LAST_LEVEL,
  type OpenedTable,
  openedTable,
  type Predictor,
  predictorOf,
  requireTakesGiven,
  sideSize,
  type TableTraining,
  tableMap,
  tableScore,
  tableSde,
  takesGiven,
  timeOf,
} from "./model.ts";
export { type NetworkKind, networkFor, networkKinds, type Weights } from "./network.ts";
export {
  hiddenFrom,
  logitsOf,
  NO_LEVEL,
  numberCoordinates,
  readWords,
  settleSite,
  type TableBins,
  type WordRows,
  type Words,
  wordsOf,
  writeInput,
  writePoint,
} from "./words.ts";
