/**
 * diffeo-tables: generative models of tables: fits, samples, completion and evaluation. All of it
 * also runs in a page. Densities of tables of numbers are in diffeo-tables/density.
 */

export {
  type OpenCell,
  type Related,
  type RelatedColumns,
  type Row,
  type RowsOptions,
  rowsIn,
  rowsOf,
  wholeRows,
} from "./diffusion/encode/index.ts";
export {
  type ExportTableOptions,
  exportTable,
  type OpenTableOptions,
  parseTableModel,
  serializeTableModel,
  type TableExportName,
} from "./diffusion/file/index.ts";
export {
  type ChooseMapsOptions,
  type ChosenMaps,
  chooseMaps,
  chooseNetwork,
  type FitSeedsOptions,
  type FitTableOptions,
  fitSeeds,
  fitTable,
  type NetworkChoice,
  type RefitTableOptions,
  refitTable,
  type SeedsFit,
  type TableProgress,
  type TrainingOptions,
  type TrainingProgress,
  type TriedMap,
  type WeightChoice,
} from "./diffusion/fit/index.ts";
export type { Filler, TableLayout } from "./diffusion/kinds/index.ts";
export type {
  EngineOptions,
  FittedTable,
  FlowKind,
  NetworkKind,
  TableTraining,
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
  type RowLikelihood,
  type RowObject,
  type RowTensors,
  type TableCompleteOptions,
  type TableConditionOptions,
  type TableModel,
  type TableSampleOptions,
} from "./diffusion/query/index.ts";
export {
  type Inferred,
  inferColumns,
  namedDomains,
  otherDomains,
} from "./diffusion/schema/index.ts";
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
export type { Calibration } from "./measure/calibration.ts";
export type { Clusters } from "./measure/clusters.ts";
export {
  type ColumnCompletion,
  type CompletionOptions,
  type Coverage,
  completionOf,
  type HiddenCells,
  type LabelCompletion,
  type TableCompletion,
} from "./measure/completion.ts";
export { evaluateTable } from "./measure/evaluate.ts";
export type { Evaluated, EvaluateOptions, TableEvaluation } from "./measure/evaluation.ts";
export type { Mean } from "./measure/mean.ts";
export {
  type Cells,
  type ModelDistributionOptions,
  modelDistribution,
  type OpenCells,
  type ShownRows,
  type TableDistribution,
} from "./measure/table-distribution.ts";
export { type PairSets, type TablePictureOptions, tablePicture } from "./picture/figures.ts";
export { htmlReport, type ReportColumn, type ReportOptions } from "./report/html.ts";
export { evaluationText } from "./report/text.ts";
export { type CellTable, parseCells, serializeCells } from "./table/cells.ts";
export { jsonLines } from "./table/json.ts";
export type { Literal, WrittenCell } from "./table/literal.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { dateFormatOf, isBlank, relatedColumns } from "./diffusion/encode/index.ts";
/** @internal */
export { exportedTable, tableExports } from "./diffusion/file/index.ts";
/** @internal */
export {
  bestOfSeeds,
  heldOut,
  type MapChoice,
  mapChoices,
  mapsFor,
  usualSteps,
  weightChoices,
} from "./diffusion/fit/index.ts";
/** @internal */
export { networkKinds, tableMap, takesGiven } from "./diffusion/network/index.ts";
/** @internal */
export {
  allCells,
  knownColumns,
  knownDomain,
  POINT_DRAWS,
  pointOf,
  requireGiven,
  writtenCell,
  writtenColumns,
  writtenRows,
} from "./diffusion/query/index.ts";
/** @internal */
export { formatRule, layoutOf } from "./diffusion/schema/index.ts";
/** @internal */
export { tableBaselines } from "./measure/baseline/baselines.ts";
/** @internal */
export { calibrate } from "./measure/calibration.ts";
/** @internal */
export { requireCompletable } from "./measure/completion.ts";
/** @internal */
export { evaluateHeldOut } from "./measure/held-out.ts";
/** @internal */
export { chosenPlaces } from "./picture/columns.ts";
/** @internal */
export { pairPlots, reportFigures } from "./picture/figures.ts";
/** @internal */
export { completionLines } from "./report/completion.ts";
/** @internal */
export { faultsOf } from "./report/text.ts";
/** @internal */
export { cellLines } from "./table/cells.ts";
/** @internal */
export { parseDate } from "./table/dates.ts";
/** @internal */
export { isLiteral, jsonLiteral, literalOf } from "./table/literal.ts";
/** @internal */
export { numberColumns } from "./table/number-columns.ts";
/** @internal */
export { parquetText } from "./table/parquet-text.ts";
