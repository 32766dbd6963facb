/**
 * diffeo-tables/density: densities of tables of numbers by score matching: preparation of a table,
 * fits, measures, samples and pictures. All of it also runs in a page.
 */

export type { Annealed } from "./dkef/annealed.ts";
export type { Normaliser } from "./dkef/evaluate.ts";
export { type Fit, fitDensity } from "./dkef/fit.ts";
export type { Fitted } from "./dkef/fitted.ts";
export {
  type DensityModel,
  type DensitySpec,
  parseDensity,
  serializeDensity,
} from "./dkef/model-bytes.ts";
export { type RowSampleOptions, sampleRows } from "./dkef/sample.ts";
export { type RowScores, scoreRows } from "./dkef/score-rows.ts";
export type { DensityFitProgress, FitOptions } from "./dkef/settings.ts";
export {
  type DensityMeasureOptions,
  type MeasureSummary,
  type Measures,
  measureFitted,
} from "./measure/measure.ts";
export { densityPicture } from "./picture/picture.ts";
export { type Prepared, type PrepareOptions, prepare } from "./table/prepare.ts";
export { type Heading, parseTable, type Selection, type Table } from "./table/table.ts";
export type { Whitening } from "./table/whitening.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { ENOUGH_SAMPLES, measurePoints, unitGaussian } from "./dkef/evaluate.ts";
/** @internal */
export { openGradientNoise } from "./dkef/gradient-noise.ts";
/** @internal */
export { modelColumns } from "./dkef/score-rows.ts";
/** @internal */
export { protocol } from "./dkef/settings.ts";
/** @internal */
export type { FitSteps } from "./dkef/steps.ts";
/** @internal */
export { fitSteps } from "./dkef/steps.ts";
/** @internal */
export type { DensityEvaluation } from "./measure/density-evaluation.ts";
/** @internal */
export { runDensity } from "./measure/density-run.ts";
/** @internal */
export { evaluateDensityFit, fitDensitySeeds } from "./measure/density-seeds.ts";
/** @internal */
export { likelihood, plainLikelihood } from "./measure/measure.ts";
/** @internal */
export { studyFigures } from "./study/figures.ts";
/** @internal */
export { parseRecords } from "./study/record.ts";
/** @internal */
export { studyTable } from "./study/report.ts";
/** @internal */
export type { FitTask, RunRecord } from "./study/study.ts";
/** @internal */
export { fitTaskName, openFitTasks, recordOf } from "./study/study.ts";
/** @internal */
export { generate, synthetics } from "./table/synthetic.ts";
/** @internal */
export { without } from "./table/table.ts";
/** @internal */
export type { DatasetName, UciName } from "./table/uci.ts";
/** @internal */
export { isSynthetic, isUci, tableNames, uciSets } from "./table/uci.ts";
/** @internal */
export { preparedUci } from "./table/uci-table.ts";
/** @internal */
export { whiteningMap } from "./table/whitening.ts";
