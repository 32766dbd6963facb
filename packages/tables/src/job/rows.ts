/** Rows of a model of a table as jobs: rows `first` … of a seed. */

import { fail } from "diffeo/graph";
import { byName } from "diffeo/host";
import { type Input, type Job, jobOf, type Kind } from "diffeo/job";
import * as v from "valibot";
import { parseTableModel } from "../diffusion/file/index.ts";
import type { FittedTable } from "../diffusion/network/index.ts";
import { type DrawnRows, type Given, openTable } from "../diffusion/query/index.ts";

/** Maximum number of rows per job. */
const ROWS = 10_000;

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

/** The rows that a job samples. */
export interface RowsParameters {
  /** The index of the first row, from 0. */
  readonly first: number;
  /** Number of rows, at most 10,000. */
  readonly count: number;
  /** Evaluations of the network per row. */
  readonly evaluations: number;
  readonly seed: number;
  /** Cells that are the same in all rows. */
  readonly given?: Given;
}

/** The input of jobs for rows: a model, as `parseTableModel` reads it. */
export interface RowsInputs {
  readonly model: FittedTable;
}

const cell = v.union([v.string(), v.pipe(v.number(), v.finite())]);

const parameters: v.GenericSchema<unknown, RowsParameters> = v.strictObject({
  first: whole(0, Number.MAX_SAFE_INTEGER),
  count: whole(1, ROWS),
  evaluations: whole(2, 10_000),
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  given: v.optional(byName(cell)),
});

const drawn: v.GenericSchema<unknown, DrawnRows> = v.strictObject({
  columns: v.array(v.string()),
  rows: v.array(v.array(cell)),
  evaluations: whole(0, Number.MAX_SAFE_INTEGER),
});

/** Why rows cannot be the result of a job. */
function misfitOf(
  { columns, rows, evaluations }: DrawnRows,
  { count, evaluations: wanted }: RowsParameters,
  { model: { domain } }: RowsInputs,
): string | undefined {
  if (rows.length !== count) return `it has ${rows.length} rows, but the job has ${count}`;
  if (columns.join("\n") !== domain.columns.join("\n"))
    return "its columns differ from those of the model";
  if (evaluations !== wanted) return `it has ${evaluations} evaluations, but the job has ${wanted}`;
  const odd = rows.findIndex((row) => row.length !== columns.length);
  if (odd >= 0)
    return (
      `row ${odd + 1} has ${rows[odd].length} cells, but the model has ${columns.length} ` +
      "columns"
    );
  return undefined;
}

/**
 * Samples of a table as a kind of job: the rows of `TableModel.sample`. Their bytes are JSON, which
 * reproduces every number exactly.
 */
export const rowsKind: Kind<RowsParameters, RowsInputs, DrawnRows> = {
  name: "table/rows",
  version: 1,
  parameters,
  inputs: { model: (bytes, source) => parseTableModel(bytes, source) },
  run: async (job, { device, threads, input, keep, report, signal }) => {
    const model = await keep(
      "table",
      async () => openTable(await input("model"), { device, threads }),
      (kept) => kept.dispose(),
    );
    let step = 0;
    return model.sample({
      ...job,
      signal,
      onStep: () => report(Math.min(1, ++step / job.evaluations)),
    });
  },
  serialize: (rows) => new TextEncoder().encode(JSON.stringify(rows)),
  parse: (bytes, source) => {
    const found = v.safeParse(
      v.pipe(v.string(), v.parseJson(), drawn),
      new TextDecoder().decode(bytes),
    );
    return found.success
      ? found.output
      : fail("data", `${source} does not contain rows`, "run the job again");
  },
  misfit: misfitOf,
};

/** The options that all jobs for rows share. */
export interface RowsJobsOptions extends Omit<RowsParameters, "first"> {
  /** The device that computes them. Default `cpu`. */
  readonly device?: string;
}

/**
 * Rows of a model as jobs of at most 10,000 rows. Together they give the rows of one call of
 * `TableModel.sample`.
 *
 * @example
 * import { inputOf, openInline, resultsOf } from "diffeo/job";
 * declare const bytes: Uint8Array; // of a model's file
 * const model = parseTableModel(bytes);
 * const jobs = rowsJobs(inputOf(bytes, model), { count: 50_000, evaluations: 50, seed: 0 });
 * for await (const { value } of resultsOf(openInline(), jobs)) console.log(value.rows.length);
 */
export const rowsJobs = (
  model: Input<FittedTable>,
  { count, device, ...run }: RowsJobsOptions,
): Job<RowsParameters, RowsInputs, DrawnRows>[] =>
  Array.from({ length: Math.ceil(count / ROWS) }, (_, i) => {
    const first = i * ROWS;
    const own = { ...run, first, count: Math.min(ROWS, count - first) };
    return jobOf(rowsKind, own, { device, inputs: { model } });
  });
