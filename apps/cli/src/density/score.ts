/** diffeo density score: the log-density and the score of every row of a table. */
import { modelColumns, scoreRows } from "diffeo-tables/density";
import { loadDensity, sourceFile, tableOf } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCsv } from "./csv.ts";
import { fittedOption, type TableCommand, withTableOptions } from "./table.ts";

interface ScoreCommand extends TableCommand {
  readonly model: string;
  readonly out?: string;
  readonly force?: boolean;
}

async function score(io: Io, { model: path, out, force, ...options }: ScoreCommand): Promise<void> {
  await outputs(out === undefined ? [] : [{ path: out }], {
    inputs: [path, sourceFile(options.data, options.folder)],
    force,
  });
  const model = await loadDensity(path);
  const table = await tableOf(options.data, options, modelColumns(model));
  const found = await scoreRows(model, table);
  const n = model.spec.columns.length;
  const width = n + 1;
  const columns = ["log density", ...model.spec.columns.map((name) => `score of ${name}`)];
  const values = Float64Array.from({ length: table.rows * width }, (_, i) => {
    const [row, column] = [Math.floor(i / width), i % width];
    return column === 0 ? found.logDensity[row] : found.score[row * n + column - 1];
  });
  await writeCsv(io, { columns, rows: table.rows, values }, out);
}

export const declare: Declare = (command, io) =>
  void withTableOptions(
    command.addOption(fittedOption()),
    "a CSV file with the columns the model was fitted on",
  )
    .option("--out <file>", "file for the CSV (default: standard output)")
    .addOption(forceOption())
    .action((options) => score(io, options));
