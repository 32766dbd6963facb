/** diffeo/chess: positions, their encoding, sampling, measures and pictures; all of it runs in a page too. Files are in files.ts. */
export { type AnsiOptions, ansiBoards } from "./ansi.ts";
export { isAttacked } from "./attack.ts";
export { type Calibration, driftScaleFor, measureScale, type ScalePoint } from "./calibration.ts";
export { type CompleteOptions, type Completion, completeBoards } from "./complete.ts";
export { type BoardCondition, parseCondition } from "./condition.ts";
export { covarianceCosine, covarianceError, crossCovariance } from "./covariance.ts";
export { chessEncoding, chessSpec, classShares, decodePositions, encodePositions } from "./encoding.ts";
export { type FenOptions, makeFen, parseFen, scanFen, sideOf, type TextProblem } from "./fen.ts";
export { histogram, meanAndSd, quantiles, totalVariation, wasserstein } from "./histogram.ts";
export {
  FLAWS,
  type Flaw,
  flawBits,
  flawsOf,
  isLegal,
  type LegalityShares,
  legalityShares,
  makeFullFen,
  mayMove,
} from "./legality.ts";
export { independentSquares, marginalDistance, squareMarginals } from "./marginals.ts";
export { balanceOf, type Material, materialOf } from "./material.ts";
export {
  type Comparison,
  type MeasureOptions,
  type Measures,
  measure,
  measureAll,
  type Reference,
  referenceOf,
} from "./measures.ts";
export { exactCopies, nearestDistances } from "./neighbours.ts";
export { type PlayoutOptions, playouts } from "./playout.ts";
export {
  type Board,
  boardAt,
  CLASSES,
  EMPTY,
  PIECES,
  type Positions,
  pack,
  range,
  SQUARES,
  select,
  squareName,
  UNKNOWN,
  unpack,
} from "./position.ts";
export { type Accepted, drawAccepted, type RejectionOptions } from "./rejection.ts";
export { type BoardOptions, type Boards, sampleBoards } from "./sample.ts";
export { PositionSet } from "./set.ts";
export { type Statistics, statisticsOf } from "./statistics.ts";
export { boardSvg, type Picture, type SheetOptions, sheetSvg } from "./svg.ts";
export { measureTable, statisticsTable } from "./table.ts";
export { makeTrace, type Trace } from "./trace.ts";
export { areaUnderCurve, twoSampleAuc } from "./two-sample.ts";
