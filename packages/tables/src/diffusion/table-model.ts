/**
 * A model of a table, as one holds it:
 *
 *   const model = await fitTable(rows, { columns });
 *   const { rows: drawn } = await model.sample({ count: 1000, given: { ph: 6.5 } });
 *   const nats = await model.score(rows);
 *   const { rows: filled } = await model.complete(holes, { draws: 20 });
 *   const { rows: likely } = await model.condition(({ a, b }) => mul(square(sub(add(a, b), 3)), -0.5 / 0.1 ** 2));
 */
import type { Tensor } from "diffeo/graph";
import { type CompletedRows, type CompleteOptions, completeRows, type Given, sampleGiven } from "./complete.ts";
import { type ConditionedRows, type ConditionRows, conditionRows, type RowTensors } from "./condition.ts";
import { type DrawnRows, type DrawRows, drawRows, type FittedTable } from "./model.ts";
import type { Row } from "./points.ts";
import { type ScoreOptions, scoreTable } from "./score.ts";

export interface SampleOptions extends DrawRows {
  /** Cells that all rows have, by the names of their columns, in the units of the table. */
  readonly given?: Given;
}

export interface TableModel extends FittedTable {
  /** Draws rows. */
  readonly sample: (options: SampleOptions) => Promise<DrawnRows>;
  /** log q of each row in nats, in the units of its cells; `score.ts` says of what. */
  readonly score: (rows: readonly Row[], options?: ScoreOptions) => Promise<Float64Array>;
  /** Fills the holes of rows, several times each. */
  readonly complete: (rows: readonly Row[], options?: CompleteOptions) => Promise<CompletedRows>;
  /** Draws rows under whatever was seen of them, as a log-likelihood of their cells; exactly, for many particles. */
  readonly condition: (
    logLikelihood: (cells: RowTensors) => Tensor,
    options?: ConditionRows,
  ) => Promise<ConditionedRows>;
}

/** The model of what a fit found. */
export const tableModel = (fitted: FittedTable): TableModel => ({
  ...fitted,
  sample: ({ given, ...options }) =>
    given && Object.keys(given).length > 0 ? sampleGiven(fitted, given, options) : drawRows(fitted, options),
  score: (rows, options) => scoreTable(fitted, rows, options),
  complete: (rows, options) => completeRows(fitted, rows, options),
  condition: (logLikelihood, options) => conditionRows(fitted, logLikelihood, options),
});
