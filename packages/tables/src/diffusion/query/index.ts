/**
 * Query: how a model is used.
 *
 * In: a fitted table, opened.
 * Out: sampled rows, rows given some cells, completed rows, conditioned rows, log-likelihoods.
 */
export {
  type CompletedRows,
  type Given,
  requireGiven,
  sampleGiven,
  type TableCompleteOptions,
} from "./complete.ts";
export type {
  ConditionedRows,
  ConditionedTable,
  ConditionRows,
  RowLikelihood,
  RowTensors,
  TableConditionOptions,
} from "./condition.ts";
export { type DrawnRows, type DrawRows, drawRows } from "./draw.ts";
export { completedPoints } from "./fill.ts";
export type { LogLikelihoodOptions } from "./log-likelihood.ts";
export { POINT_DRAWS, pointOf } from "./point.ts";
export {
  openTable,
  type RowObject,
  type TableModel,
  type TableSampleOptions,
} from "./table-model.ts";
export {
  allCells,
  knownColumns,
  knownDomain,
  writtenCell,
  writtenColumns,
  writtenRows,
} from "./write.ts";
