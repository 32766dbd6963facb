/** diffeo table evaluate: what a model of a table is worth on rows that it has not seen. */
import { evaluateTable, evaluationText, modelLaw, rowsIn, wholeRows } from "diffeo-tables";
import { loadTableModel, readCells } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { REPORT, writeReport } from "./report.ts";

interface EvaluateCommand {
  readonly model: string;
  readonly train?: string;
  readonly samples?: number;
  readonly scored: number;
  readonly seed: number;
  readonly threads?: number;
  readonly report?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

async function evaluate(io: Io, file: string, options: EvaluateCommand): Promise<void> {
  const { model: path, train, samples, scored, seed, threads, report, json, force } = options;
  await outputs(report === undefined ? [] : [{ path: report, like: REPORT }], { inputs: [path, file, train], force });
  const model = await loadTableModel(path);
  const rows = wholeRows(rowsIn(await readCells(file), model.domain));
  const training = train === undefined ? undefined : wholeRows(rowsIn(await readCells(train), model.domain));
  const law = modelLaw(model, { signal: io.signal, ...(threads !== undefined && { threads }) });
  const evaluated = await evaluateTable(law, model.domain, {
    rows,
    seed,
    scored,
    ...(training && { training }),
    ...(samples !== undefined && { samples }),
  });
  if (report !== undefined) await writeReport({ path: report, source: file, model: path, rows }, model, evaluated);
  const { evaluation } = evaluated;
  io.stdout.write(json ? `${JSON.stringify(evaluation, undefined, 1)}\n` : evaluationText(evaluation));
}

export const declare: Declare = (command, io) =>
  void command
    .argument("<file>", "a CSV file of rows that the model was not fitted to")
    .requiredOption("--model <file>", "a model that table fit wrote")
    .option(
      "--train <file>",
      "the CSV file it was fitted to: baselines learn from it, and copies of its rows are looked for",
    )
    .option("--samples <n>", "rows to draw (default: five a row, from 300 to 5,000)", integer(100, MOST.rows))
    .option("--scored <n>", "rows whose likelihood is taken, at most", integer(10, MOST.rows), 1000)
    .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--report <file>", "write all of it as one HTML file")
    .option("--json", "print the numbers as JSON")
    .addOption(forceOption())
    .action((file, options) => evaluate(io, file, options));
