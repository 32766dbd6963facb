/**
 * diffeo table likelihood: the log-likelihood of rows under a model of a table, in nats and the
 * units of the table.
 */
import { mean as meanOf } from "diffeo/host";
import { loadTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, integer } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";
import {
  type ModelOptions,
  type NumbersOptions,
  withModel,
  withModelOptions,
  withNumbersOptions,
} from "./options.ts";
import { openRows } from "./rows.ts";

interface LikelihoodCommand extends ModelOptions, NumbersOptions {
  readonly evaluations?: number;
  readonly spread: number;
}

/** Rows per batch. */
const AT_ONCE = 10_000;

/**
 * A summary of all rows: the mean, or the rows of likelihood zero, such as a count beyond all that
 * the model knows, and the mean of the others.
 */
function summaryOf(values: Float64Array) {
  const noChance = Array.from(values.keys()).filter((i) => values[i] === -Infinity);
  const others = values.filter((v) => v > -Infinity);
  const mean = others.length > 0 ? meanOf(others) : undefined;
  return { noChance: noChance.map((i) => i + 1), mean };
}

/** The summary as text. */
function summaryText({ noChance, mean }: ReturnType<typeof summaryOf>, rows: number): string {
  const nats = mean === undefined ? "" : `${mean.toFixed(4)} nats`;
  if (noChance.length === 0) return `mean ${nats}\n`;
  const none =
    `${noChance.length} of ${rows} rows ${noChance.length === 1 ? "has" : "have"} likelihood ` +
    "zero under the model";
  return `${none}${nats && `; mean of the others ${nats}`}\n`;
}

/**
 * The summary as JSON, which has no −Infinity: it is null, for a row and for the mean, and the rows
 * are listed.
 */
const summaryJson = (
  { noChance, mean }: ReturnType<typeof summaryOf>,
  values: Float64Array,
): string =>
  JSON.stringify({
    rows: values.length,
    mean: noChance.length === 0 ? mean : null,
    noChance,
    ...(noChance.length > 0 && { meanOfOthers: mean ?? null }),
    logLikelihood: Array.from(values),
  });

async function likelihood(io: Io, path: string, options: LikelihoodCommand): Promise<void> {
  const { model: from, evaluations, spread, out, json, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [from, path], force });
  const model = await loadTableModel(from, engineOf(options));
  const file = await openRows(path, model.domain, AT_ONCE, {
    torn: false,
    related: model.related,
  });
  const how = {
    spread,
    evaluations,
    signal: io.signal,
  };
  const values = new Float64Array(file.count);
  async function* likelihoods() {
    for await (const { rows, first } of file.batches(io, "computing likelihoods")) {
      const found = await model.logLikelihood(rows, how);
      values.set(found, first);
      yield Array.from(found, (v) => [v]);
    }
  }
  const columns = ["log likelihood"];
  if (!json) await writeCells(io, { columns }, likelihoods(), options);
  else if (out !== undefined)
    await writeCells({ ...io, stdout: io.stderr }, { columns }, likelihoods(), { out });
  else for await (const _ of likelihoods()); // results go to values
  const summary = summaryOf(values);
  if (json) io.stdout.write(`${summaryJson(summary, values)}\n`);
  else if (out !== undefined) io.stdout.write(summaryText(summary, values.length));
}

export const declare: Declare = (command, io) =>
  void withModelOptions(
    withNumbersOptions(
      withModel(command)
        .argument(
          "<file>",
          "a table with the columns of the model; empty cells are left out of a row's likelihood",
        )
        .option(
          "--evaluations <n>",
          "evaluations of the network per row (default: 100, or as many as an error of 0.001 " +
            "nats needs)",
          integer(13, 100_000),
        )
        .option(
          "--spread <n>",
          "number of points in an integer's interval over which the density is averaged",
          integer(1, 1000),
          8,
        ),
      "file for the CSV; rows of likelihood zero have -Infinity",
      "print the numbers as JSON; rows of likelihood zero have null, and noChance lists their " +
        "numbers from 1",
    ),
  ).action((file, options) => likelihood(io, file, options));
