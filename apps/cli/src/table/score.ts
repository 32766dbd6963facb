/** diffeo table score: the log-likelihood of rows under a model of a table, in nats and the units of the table. */
import { rowsIn } from "diffeo-tables";
import { loadTableModel, readCells } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";

interface ScoreCommand {
  readonly model: string;
  readonly evaluations?: number;
  readonly spread: number;
  readonly threads?: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

async function score(io: Io, file: string, options: ScoreCommand): Promise<void> {
  const { model: path, evaluations, spread, threads, out, json, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [path, file], force });
  const model = await loadTableModel(path);
  const rows = rowsIn(await readCells(file), model.domain, { torn: false });
  const found = await model.score(rows, {
    spread,
    ...(evaluations !== undefined && { evaluations }),
    ...(threads !== undefined && { threads }),
    signal: io.signal,
  });
  const values = Array.from(found);
  const mean = values.reduce((s, v) => s + v, 0) / values.length;
  if (json) return void io.stdout.write(`${JSON.stringify({ rows: values.length, mean, logLikelihood: values })}\n`);
  await writeCells(
    io,
    ["log likelihood"],
    values.map((v) => [v]),
    out,
  );
  if (out !== undefined) io.stdout.write(`mean ${mean.toFixed(4)} nats\n`);
}

export const declare: Declare = (command, io) =>
  void command
    .argument("<file>", "a CSV file with the columns of the model; empty cells are left out of a row's likelihood")
    .requiredOption("--model <file>", "a model that table fit wrote")
    .option(
      "--evaluations <n>",
      "evaluations of the network a row (default: 100, or as many more as it takes to be within 0.001 nats)",
      integer(13, 100_000),
    )
    .option("--spread <n>", "values within its interval that a whole number is scored at", integer(1, 1000), 8)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--out <file>", "where the CSV goes (default: standard output)")
    .option("--json", "print the numbers as JSON")
    .addOption(forceOption())
    .action((file, options) => score(io, file, options));
