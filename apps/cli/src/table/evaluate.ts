/** diffeo table evaluate: evaluates a model on rows that it was not fitted to. */

import type { Command } from "commander";
import { fail } from "diffeo/graph";
import {
  completionOf,
  evaluateTable,
  evaluationText,
  modelDistribution,
  requireCompletable,
  rowsIn,
  takesGiven,
  wholeRows,
} from "diffeo-tables";
import { loadTableModel, readCells } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, integer, MOST, refuseBeside } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { type DrawOptions, requireSecondNetwork, withDrawOptions, withModel } from "./options.ts";
import { measuring, REPORT, tornRows, writeReport } from "./report.ts";

interface EvaluateCommand extends DrawOptions {
  readonly train?: string;
  readonly samples?: number;
  readonly scored: number;
  readonly complete?: boolean;
  readonly hidden: number;
  readonly draws: number;
  readonly report?: string;
  readonly json?: boolean;
}

async function evaluate(io: Io, file: string, options: EvaluateCommand): Promise<void> {
  const {
    model: path,
    train,
    samples,
    scored,
    seed,
    complete,
    hidden: most,
    draws,
    report,
    json,
    force,
  } = options;
  await outputs(report === undefined ? [] : [{ path: report, like: REPORT }], {
    inputs: [path, file, train],
    force,
  });
  const model = await loadTableModel(path, engineOf(options));
  if (complete) {
    requireSecondNetwork(model);
    requireCompletable(model);
  }
  const rows = rowsIn(await readCells(file), model.domain, { related: model.related });
  const whole = wholeRows(rows);
  if ((takesGiven(model) ? rows : whole).length < 2)
    fail(
      "data",
      `${file} has ${whole.length} rows without empty cells, too few for an evaluation`,
      "give at least 2",
    );
  const training =
    train === undefined
      ? undefined
      : rowsIn(await readCells(train), model.domain, { related: model.related });
  const { signal } = io;
  const {
    evaluation: measured,
    drawn,
    compared,
  } = await measuring(io, (how) =>
    evaluateTable(modelDistribution(model, { signal }), model.domain, {
      ...{ rows, seed, scored, training, samples },
      ...how,
    }),
  );
  const hiding = { rows: whole, most, draws, seed, signal };
  const evaluation = {
    ...measured,
    ...(complete && { completion: await completionOf(model, hiding) }),
  };
  if (report !== undefined)
    await writeReport({ path: report, source: file, model: path, rows: compared }, model, {
      evaluation,
      drawn,
    });
  if (json) io.stdout.write(`${JSON.stringify(evaluation, undefined, 1)}\n`);
  else
    io.stdout.write(`${tornRows(model, rows.length, whole.length)}${evaluationText(evaluation)}`);
}

export const declare: Declare = (command, io) =>
  void withDrawOptions(
    withModel(command)
      .argument("<file>", "a table of rows that the model was not fitted to")
      .option(
        "--train <file>",
        "the table that the model was fitted to, for fitting baselines and for finding copies " +
          "of its rows in samples",
      )
      .option(
        "--samples <n>",
        "rows to sample (default: five per row, from 300 to 5,000)",
        integer(100, MOST.rows),
      )
      .option(
        "--scored <n>",
        "maximum number of rows whose likelihood is computed",
        integer(10, MOST.rows),
        1000,
      )
      .option(
        "--complete",
        "hide cells of the rows, complete them, and report how often intervals contain the " +
          "true value",
      )
      .option("--hidden <n>", "maximum number of rows for --complete", integer(2, MOST.rows), 300)
      .option("--draws <n>", "completions of each row by --complete", integer(2, 10_000), 40)
      .option("--report <file>", "write the evaluation, with pictures, as one HTML file")
      .option("--json", "print the numbers as JSON"),
  ).action((file, options: EvaluateCommand, own: Command) => {
    if (!options.complete)
      refuseBeside(own, "an evaluation without --complete", ["hidden", "draws"]);
    return evaluate(io, file, options);
  });
