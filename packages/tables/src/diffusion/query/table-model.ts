/**
 * A model of a table, as one holds it:
 *
 *   const model = await fitTable(rows, { columns });
 *   const { rows: drawn, objects } = await model.sample({ count: 1000, given: { ph: 6.5 } });
 *   const nats = await model.logLikelihood(rows);
 *   const { rows: filled } = await model.complete(open, { draws: 20 });
 *   const near = model.condition(({ a, b }) => mul(square(sub(add(a, b), 3)), -0.5 / 0.1 ** 2));
 *   const { rows: likely } = await near();
 *
 * It is open: a graph is compiled by the first call that needs it and run by those that follow,
 * however the cells, seeds and rows that they are called with differ, as long as there are as many
 * rows (`graphs.ts`). `dispose` frees them; a program that ends need not.
 */

import type { Cell } from "diffeo/domain";
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
import { allCells } from "./write.ts";

/** Which rows are sampled, and the cells that are given. */
export interface TableSampleOptions extends DrawRows {
  /** Cells that all rows have, by the names of their columns, in the units of the table. */
  readonly given?: Given;
}

/**
 * A row by the names of its columns, as rows of such a type come out of a model: without missing
 * values.
 */
export type RowObject<R> = R extends readonly unknown[]
  ? Readonly<Record<string, Cell>>
  : { readonly [K in keyof R]: Exclude<R[K], null | undefined> };

/** Results that give their rows by the names of the columns too. */
interface AsObjects<O> {
  /** The rows as objects with the columns of the table. */
  readonly objects: O;
}

/**
 * An open model of a table: it samples, scores, completes and conditions rows. `R` is a row by the
 * names of its columns.
 */
export interface TableModel<R = Readonly<Record<string, Cell>>> extends FittedTable, Closable {
  /** Draws rows. */
  readonly sample: (options: TableSampleOptions) => Promise<DrawnRows & AsObjects<readonly R[]>>;
  /** log q of each row in nats, in the units of its cells (`log-likelihood.ts` defines q). */
  readonly logLikelihood: (
    rows: readonly Row[],
    options?: LogLikelihoodOptions,
  ) => Promise<Float64Array>;
  /** Fills the missing values of rows, several times each. */
  readonly complete: (
    rows: readonly Row[],
    options?: TableCompleteOptions,
  ) => Promise<CompletedRows & AsObjects<readonly (readonly R[])[]>>;
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

/**
 * A result with its rows as objects, made on the first access and not part of what
 * is serialised.
 */
function withObjects<T extends object, O>(result: T, make: () => O): T & AsObjects<O> {
  let made: O | undefined;
  return Object.defineProperty(result, "objects", {
    get: () => {
      made ??= make();
      return made;
    },
  }) as T & AsObjects<O>;
}

/** Rows by the names of the columns of the table: what was made for a rule is not one. */
function objectsOf(
  model: FittedTable,
  rows: DrawnRows["rows"],
): readonly Readonly<Record<string, Cell>>[] {
  const { domain, related, layout } = model;
  const columns = (related?.domain ?? domain).columns.map((name, j) => ({ name, j }));
  const own = columns.filter(({ name }) => !related || !layout || layout.columns.includes(name));
  return allCells(model, rows).map((row) =>
    Object.fromEntries(own.map(({ name, j }) => [name, row[j]])),
  );
}

/** Opens what a fit found. Nothing is compiled yet. */
export function openTable(fitted: FittedTable, engine: EngineOptions = {}): TableModel {
  const graphs = openGraphs(engine);
  const opened = openedTable(fitted, graphs);
  let conditions = 0;
  return {
    ...fitted,
    sample: async ({ given, ...options }) => {
      const found = await (given && Object.keys(given).length > 0
        ? sampleGiven(opened, given, options)
        : drawRows(opened, options));
      return withObjects(found, () => objectsOf(fitted, found.rows));
    },
    logLikelihood: (rows, options) => tableLogLikelihood(opened, rows, options),
    complete: async (rows, options) => {
      const found = await completeRows(opened, rows, options);
      return withObjects(found, () => found.rows.map((draws) => objectsOf(fitted, draws)));
    },
    condition: (logLikelihood, options) =>
      conditionTable(opened, `condition ${++conditions}`, logLikelihood, options),
    ...disposable(graphs.dispose),
  };
}
