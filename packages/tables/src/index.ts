/**
 * diffeo-tables: tables of numbers fitted by score matching, measured and used; all of it runs in a
 * page too.
 */

export {
  dateFormatOf,
  type OpenCell,
  type Row,
  type RowsOptions,
  rowsIn,
  wholeRows,
} from "./diffusion/encode/index.ts";
export {
  type ExportTableOptions,
  exportedTable,
  exportTable,
  type OpenTableOptions,
  parseTableModel,
  serializeTableModel,
  type TableExportName,
  tableExports,
} from "./diffusion/file/index.ts";
export {
  bestOfSeeds,
  type ChooseMapsOptions,
  type ChosenMaps,
  chooseMaps,
  type FitSeedsOptions,
  type FitTableOptions,
  fitSeeds,
  fitTable,
  heldOut,
  isDrawnBySeed,
  type MapChoice,
  type MapStore,
  type MapsForOptions,
  mapChoices,
  mapsFor,
  type SeedsFit,
  type TableProgress,
  type TrainingOptions,
  type TrainingProgress,
  type TriedMap,
  usualSteps,
} from "./diffusion/fit/index.ts";
export type { Filler, TableLayout } from "./diffusion/kinds/index.ts";
export {
  type EngineOptions,
  type FittedTable,
  type FlowKind,
  flowKinds,
  type NetworkKind,
  networkKinds,
  type TableTraining,
  tableMap,
} from "./diffusion/network/index.ts";
export {
  type CompletedRows,
  type ConditionedRows,
  type ConditionedTable,
  type ConditionRows,
  type DrawnRows,
  type DrawRows,
  type Given,
  type LogLikelihoodOptions,
  openTable,
  POINT_DRAWS,
  pointOf,
  type RowLikelihood,
  type RowTensors,
  requireGiven,
  type TableCompleteOptions,
  type TableConditionOptions,
  type TableModel,
  type TableSampleOptions,
  writtenCell,
  writtenColumns,
  writtenRows,
} from "./diffusion/query/index.ts";
export {
  formatRule,
  type Inferred,
  inferColumns,
  layoutOf,
  namedDomains,
} from "./diffusion/schema/index.ts";
export { type Annealed, type AnnealOptions, annealedNormaliser } from "./dkef/annealed.ts";
export {
  ENOUGH_SAMPLES,
  importanceNormaliser,
  measurePoints,
  type Normaliser,
  type PointMeasures,
  unitGaussian,
} from "./dkef/evaluate.ts";
export { type Fit, fitDensity } from "./dkef/fit.ts";
export type { Fitted } from "./dkef/fitted.ts";
export {
  type GradientNoise,
  type NoiseOver,
  type OpenGradientNoise,
  openGradientNoise,
} from "./dkef/gradient-noise.ts";
export {
  type DensityModel,
  type DensitySpec,
  parseDensity,
  serializeDensity,
} from "./dkef/model-bytes.ts";
export { type RowSampleOptions, sampleRows } from "./dkef/sample.ts";
export { modelColumns, type RowScores, scoreRows } from "./dkef/score-rows.ts";
export { type DensityFitProgress, type FitOptions, protocol } from "./dkef/settings.ts";
export { type FitSteps, fitSteps } from "./dkef/steps.ts";
export {
  type RowsInputs,
  type RowsJobsOptions,
  type RowsParameters,
  rowsJobs,
  rowsKind,
  type TableFitInputs,
  type TableFitJobsOptions,
  type TableFitParameters,
  tableFitJobs,
  tableFitKind,
} from "./job/index.ts";
export { tableBaselines } from "./measure/baseline/baselines.ts";
export { type Calibration, calibrate } from "./measure/calibration.ts";
export type { Clusters } from "./measure/clusters.ts";
export {
  type ColumnCompletion,
  type CompletionOptions,
  type Coverage,
  completionOf,
  type HiddenCells,
  type LabelCompletion,
  requireCompletable,
  type TableCompletion,
} from "./measure/completion.ts";
export {
  type DensityEvaluation,
  evaluateDensity,
  validationLikelihood,
} from "./measure/density-evaluation.ts";
export { type DensityRun, type DensityRunOptions, runDensity } from "./measure/density-run.ts";
export {
  type DensityCandidate,
  type DensitySeeds,
  type DensitySeedsOptions,
  evaluateDensityFit,
  fitDensitySeeds,
} from "./measure/density-seeds.ts";
export {
  type Evaluated,
  type EvaluateOptions,
  evaluateTable,
  type TableEvaluation,
} from "./measure/evaluate.ts";
export { evaluateHeldOut, type HeldOutEvaluation } from "./measure/held-out.ts";
export {
  type Cells,
  type ModelLawOptions,
  modelLaw,
  type OpenCells,
  type TableLaw,
} from "./measure/law.ts";
export type { Mean } from "./measure/mean.ts";
export {
  type DensityMeasureOptions,
  likelihood,
  type MeasureSummary,
  type Measures,
  measureFitted,
  plainLikelihood,
} from "./measure/measure.ts";
export { chosenPlaces } from "./picture/columns.ts";
export {
  type PairPlots,
  type PairSets,
  pairPlots,
  reportFigures,
  type TablePictureOptions,
  tablePicture,
} from "./picture/figures.ts";
export { densityPicture } from "./picture/picture.ts";
export { completionLines } from "./report/completion.ts";
export { htmlReport, type ReportColumn, type ReportOptions } from "./report/html.ts";
export { evaluationText, faultsOf, verdictOf } from "./report/text.ts";
export { studyFigures } from "./study/figures.ts";
export { parseRecords } from "./study/record.ts";
export { studyTable } from "./study/report.ts";
export {
  type FitTask,
  fitTaskName,
  openFitTasks,
  type RunRecord,
  recordOf,
} from "./study/study.ts";
export { type CellTable, cellLines, parseCells, serializeCells } from "./table/cells.ts";
export { parseDate } from "./table/dates.ts";
export { jsonLines } from "./table/json.ts";
export {
  isLiteral,
  jsonLiteral,
  type Literal,
  literalOf,
  type WrittenCell,
} from "./table/literal.ts";
export { type Prepared, type PrepareOptions, prepare, prune } from "./table/prepare.ts";
export { generate, type SyntheticName, synthetics } from "./table/synthetic.ts";
export { type Heading, parseTable, type Selection, type Table, without } from "./table/table.ts";
export {
  type DatasetName,
  isSynthetic,
  isUci,
  preparationOf,
  tableNames,
  type UciName,
  uciSets,
} from "./table/uci.ts";
export { preparedUci } from "./table/uci-table.ts";
export { type Whitening, whiteningMap } from "./table/whitening.ts";
