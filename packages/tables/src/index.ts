/** diffeo-tables: tables of numbers fitted by score matching, measured and used; all of it runs in a page too. */
export { type Annealed, type AnnealOptions, annealedNormaliser } from "./dkef/annealed.ts";
export {
  ENOUGH_SAMPLES,
  importanceNormaliser,
  measurePoints,
  type Normaliser,
  type PointMeasures,
  unitGaussian,
} from "./dkef/evaluate.ts";
export { type Fit, type FitOptions, type FitProgress, type Fitted, fitDensity, protocol } from "./dkef/fit.ts";
export { type DensityModel, type DensitySpec, makeDensity, parseDensity } from "./dkef/model-bytes.ts";
export { type FitSteps, fitSteps } from "./dkef/steps.ts";
export { modelColumns, type RowScores, type SampleOptions, sampleRows, scoreRows } from "./dkef/use.ts";
export {
  likelihood,
  type MeasureOptions,
  type Measures,
  measureFitted,
  plainLikelihood,
  type Summary,
} from "./measure/measure.ts";
export { densityPicture } from "./picture/picture.ts";
export { studyFigures } from "./study/figures.ts";
export { studyTable } from "./study/report.ts";
export { openTasks, type RunRecord, recordOf, type Task, taskName } from "./study/study.ts";
export { type Prepared, type PrepareOptions, prepare, prune, type Whitening } from "./table/prepare.ts";
export { generate, type SyntheticName, synthetics } from "./table/synthetic.ts";
export { type Heading, parseTable, type Selection, type Table, without } from "./table/table.ts";
export { type DatasetName, isSynthetic, isUci, preparationOf, tableNames, uciSets } from "./table/uci.ts";
