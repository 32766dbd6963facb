/**
 * diffeo-chess: positions, their encoding, sampling, measures and pictures. All of it also runs in
 * a page. Files are under diffeo-chess/node.
 */

export { type FenOptions, formatFen, parseFen } from "./board/fen.ts";
export { FLAWS, type Flaw, flawsOf, formatFullFen, isLegal } from "./board/legality.ts";
export { type PlayoutOptions, playouts } from "./board/playout.ts";
export {
  type Board,
  boardAt,
  CLASSES,
  EMPTY,
  PIECES,
  type Positions,
  pack,
  SQUARES,
  squareName,
  UNKNOWN,
  unpack,
} from "./board/position.ts";
export {
  type BoardsInputs,
  type BoardsParameters,
  type BoardsRun,
  boardsJobs,
  boardsKind,
  drawBoards,
} from "./diffusion/boards-job.ts";
export { type CompleteOptions, type Completion, completeBoards } from "./diffusion/complete.ts";
export { type BoardCondition, parseCondition } from "./diffusion/condition.ts";
export { type ExportName, exportOnnx } from "./diffusion/export.ts";
export {
  completeByParticles,
  type OpenParticleBoardOptions,
  openParticleBoards,
  type ParticleBoardCall,
  type ParticleBoardOptions,
  type ParticleBoards,
  type ParticleCompleter,
} from "./diffusion/particles.ts";
export type { Accepted, RejectionOptions } from "./diffusion/rejection.ts";
export {
  BOARD_SOLVER,
  BOARD_STEPS,
  type BoardGrid,
  type BoardOptions,
  type BoardSampler,
  type Boards,
  type OpenBoardsOptions,
  openBoards,
  sampleBoards,
} from "./diffusion/sample.ts";
export type { BoardTrace } from "./diffusion/trace.ts";
export {
  type BoardMeasureOptions,
  type BoardMeasures,
  type Comparison,
  measureAll,
} from "./measure/measures.ts";
export { measureTable } from "./measure/table.ts";
export { type AnsiOptions, ansiBoards } from "./picture/ansi.ts";
export { boardPictures } from "./picture/pictures.ts";
export { boardSvg, type Picture, type SheetOptions, sheetSvg } from "./picture/svg.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { legalityShares } from "./board/legality.ts";
/** @internal */
export type { Material } from "./board/material.ts";
/** @internal */
export { materialOf } from "./board/material.ts";
/** @internal */
export { pieceSvg } from "./board/pieces.ts";
/** @internal */
export { range, select } from "./board/position.ts";
/** @internal */
export { boardGrids, boardLimits } from "./diffusion/boards-job.ts";
/** @internal */
/** @internal */
export {
  COMPLETIONS,
  type CompletionMeasures,
  completionMeasures,
  defaultCompletion,
  hideSquares,
} from "./diffusion/complete.ts";
/** @internal */
export { guidingSum, requirePossible } from "./diffusion/condition.ts";
/** @internal */
export { chessSpec, positionGrids, requireChess } from "./diffusion/encoding.ts";
/** @internal */
export { exportFunction, exports } from "./diffusion/export.ts";
/** @internal */
export { drawAccepted, joinBoards } from "./diffusion/rejection.ts";
/** @internal */
export { requireDrawable } from "./diffusion/sample.ts";
/** @internal */
export { quantise, serializeTrace } from "./diffusion/trace.ts";
/** @internal */
export { meanAndSd, quantiles } from "./measure/histogram.ts";
/** @internal */
export { measure } from "./measure/measures.ts";
/** @internal */
export { statisticsOf } from "./measure/statistics.ts";
/** @internal */
export { layOut, statisticsTable, tooFew } from "./measure/table.ts";
/** @internal */
export { twoSampleAuc } from "./measure/two-sample.ts";
/** @internal */
export type { StudyRecord, StudySolver, StudyTask } from "./study/study.ts";
/** @internal */
export { openScaleTasks, STUDY_SOLVERS, scaleRecord, scaleTaskName } from "./study/study.ts";
/** @internal */
export { studyFigure } from "./study/study-figure.ts";
/** @internal */
export { fallsOf, studyPage } from "./study/study-report.ts";
