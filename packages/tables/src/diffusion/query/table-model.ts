/**
 * A model of a table, as one holds it:
 *
 *   const model = await fitTable(rows, { columns });
 *   const { rows: drawn } = await model.sample({ count: 1000, given: { ph: 6.5 } });
 *   const nats = await model.logLikelihood(rows);
 *   const { rows: filled } = await model.complete(holes, { draws: 20 });
 *   const near = model.condition(({ a, b }) => mul(square(sub(add(a, b), 3)), -0.5 / 0.1 ** 2));
 *   const { rows: likely } = await near();
 *
 * It is open: a graph is compiled by the first call that needs it and run by those that follow,
 * however the cells, seeds and rows that they are called with differ, as long as there are as many
 * rows (`graphs.ts`). `dispose` frees them; a program that ends need not.
 */

import { type Closable, disposable } from "diffeo/host";
import type { Row } from "../encode/index.ts";
import { type EngineOptions, type FittedTable, openedTable, openGraphs } from "../network/index.ts";
import {
  type CompletedRows,
  completeRows,
  type Given,
  sampleGiven,
  type TableCompleteOptions,
} from "./complete.ts";
import {
  type ConditionedTable,
  conditionTable,
  type RowLikelihood,
  type TableConditionOptions,
} from "./condition.ts";
import { type DrawnRows, type DrawRows, drawRows } from "./draw.ts";
import { type LogLikelihoodOptions, tableLogLikelihood } from "./log-likelihood.ts";

/** Which rows are sampled, and the cells that are given. */
export interface TableSampleOptions extends DrawRows {
  /** Cells that all rows have, by the names of their columns, in the units of the table. */
  readonly given?: Given;
}

/** An open model of a table: it samples, scores, completes and conditions rows. */
export interface TableModel extends FittedTable, Closable {
  /** Draws rows. */
  readonly sample: (options: TableSampleOptions) => Promise<DrawnRows>;
  /** log q of each row in nats, in the units of its cells (`log-likelihood.ts` defines q). */
  readonly logLikelihood: (
    rows: readonly Row[],
    options?: LogLikelihoodOptions,
  ) => Promise<Float64Array>;
  /** Fills the holes of rows, several times each. */
  readonly complete: (
    rows: readonly Row[],
    options?: TableCompleteOptions,
  ) => Promise<CompletedRows>;
  /**
   * The table under whatever was seen of a row, as a log-likelihood of its cells; exactly, for many
   * particles.
   */
  readonly condition: (
    logLikelihood: RowLikelihood,
    options?: TableConditionOptions,
  ) => ConditionedTable;
  /** Frees what was compiled. Calling the model afterwards is an error. */
  readonly dispose: () => Promise<void>;
}

/** Opens what a fit found. Nothing is compiled yet. */
export function openTable(fitted: FittedTable, engine: EngineOptions = {}): TableModel {
  const graphs = openGraphs(engine);
  const opened = openedTable(fitted, graphs);
  let conditions = 0;
  return {
    ...fitted,
    sample: ({ given, ...options }) =>
      given && Object.keys(given).length > 0
        ? sampleGiven(opened, given, options)
        : drawRows(opened, options),
    logLikelihood: (rows, options) => tableLogLikelihood(opened, rows, options),
    complete: (rows, options) => completeRows(opened, rows, options),
    condition: (logLikelihood, options) =>
      conditionTable(opened, `condition ${++conditions}`, logLikelihood, options),
    ...disposable(graphs.dispose),
  };
}
