/**
 * diffeo/chess: positions, their encoding, sampling, measures and pictures; all of it runs in a
 * page too. Files are in files.ts.
 */

export { isAttacked } from "./board/attack.ts";
export {
  type FenOptions,
  formatFen,
  parseFen,
  scanFen,
  sideOf,
  type TextProblem,
} from "./board/fen.ts";
export {
  FLAWS,
  type Flaw,
  flawBits,
  flawsOf,
  formatFullFen,
  isLegal,
  type LegalityShares,
  legalityShares,
  mayMove,
} from "./board/legality.ts";
export { balanceOf, type Material, materialOf } from "./board/material.ts";
export { pieceSvg } from "./board/pieces.ts";
export { type PlayoutOptions, playouts } from "./board/playout.ts";
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
} from "./board/position.ts";
export { PositionSet } from "./board/set.ts";
export {
  type BoardsInputs,
  type BoardsParameters,
  type BoardsRun,
  boardGrids,
  boardLimits,
  boardsJob,
  boardsJobs,
  boardsKind,
  drawBoards,
} from "./diffusion/boards-job.ts";
export {
  COMPLETIONS,
  type CompleteOptions,
  type Completion,
  type CompletionMeasures,
  completeBoards,
  completionMeasures,
  defaultCompletion,
  hideSquares,
} from "./diffusion/complete.ts";
export {
  type BoardCondition,
  guidingSum,
  parseCondition,
  requirePossible,
} from "./diffusion/condition.ts";
export {
  chessEncoding,
  chessSpec,
  classShares,
  decodePositions,
  encodePositions,
  positionGrids,
  requireChess,
} from "./diffusion/encoding.ts";
export { type ExportName, exportFunction, exportOnnx, exports } from "./diffusion/export.ts";
export {
  completeByParticles,
  type OpenParticleBoardOptions,
  openParticleBoards,
  type ParticleBoardCall,
  type ParticleBoardOptions,
  type ParticleBoards,
  type ParticleCompleter,
} from "./diffusion/particles.ts";
export {
  type Accepted,
  drawAccepted,
  joinBoards,
  type RejectionOptions,
} from "./diffusion/rejection.ts";
export {
  BOARD_SOLVER,
  BOARD_STEPS,
  type BoardGrid,
  type BoardOptions,
  type BoardSampler,
  type Boards,
  type OpenBoardsOptions,
  openBoards,
  requireDrawable,
  sampleBoards,
} from "./diffusion/sample.ts";
export { type BoardTrace, quantise, serializeTrace } from "./diffusion/trace.ts";
export { covarianceCosine, covarianceError, crossCovariance } from "./measure/covariance.ts";
export {
  histogram,
  meanAndSd,
  quantiles,
  totalVariation,
  wasserstein,
} from "./measure/histogram.ts";
export { independentSquares, marginalDistance, squareMarginals } from "./measure/marginals.ts";
export {
  type BoardMeasureOptions,
  type BoardMeasures,
  type Comparison,
  measure,
  measureAll,
  type Reference,
  referenceOf,
} from "./measure/measures.ts";
export { exactCopies, nearestDistances } from "./measure/neighbours.ts";
export { type Statistics, statisticsOf } from "./measure/statistics.ts";
export { layOut, measureTable, statisticsTable, tooFew } from "./measure/table.ts";
export { twoSampleAuc } from "./measure/two-sample.ts";
export { type AnsiOptions, ansiBoards } from "./picture/ansi.ts";
export { boardPictures } from "./picture/pictures.ts";
export { boardSvg, type Picture, type SheetOptions, sheetSvg } from "./picture/svg.ts";
export {
  openScaleTasks,
  STUDY_SOLVERS,
  type StudyRecord,
  type StudySolver,
  type StudyTask,
  scaleRecord,
  scaleTaskName,
} from "./study/study.ts";
export { studyFigure } from "./study/study-figure.ts";
export { fallsOf, studyPage } from "./study/study-report.ts";
