/** diffeo table complete: the empty cells of a CSV file, drawn given the others of their row, several times. */
import type { Cell } from "diffeo/domain";
import { rowsIn } from "diffeo-tables";
import { loadTableModel, readCells } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { writeCells } from "./csv.ts";

interface CompleteCommand {
  readonly model: string;
  readonly draws: number;
  readonly evaluations: number;
  readonly seed: number;
  readonly threads?: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Completed rows that are drawn at once. */
const AT_ONCE = 10_000;

async function complete(io: Io, file: string, options: CompleteCommand): Promise<void> {
  const { model: path, draws, evaluations, seed, threads, out, json, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [path, file], force });
  const model = await loadTableModel(path);
  const table = await readCells(file);
  const holes = rowsIn(table, model.domain, { lacking: true, torn: false });
  const bar = progress(io.stderr, evaluations * Math.ceil((holes.length * draws) / AT_ONCE), "completing");
  let done = 0;
  const { rows, columns: names } = await model
    .complete(holes, {
      draws,
      evaluations,
      seed,
      ...(threads !== undefined && { threads }),
      signal: io.signal,
      onStep: () => bar.update(++done),
    })
    .finally(() => bar.end());
  // The file's own columns stay, those that the model does not know too, and the model's that it lacks come after them.
  const lacking = names.filter((name) => !table.columns.includes(name));
  const columns = ["draw", ...table.columns, ...lacking];
  const places = [...table.columns, ...lacking].map((name) => names.indexOf(name));
  const filled = rows.flatMap((some, i) =>
    some.map((row, k): Cell[] => [k + 1, ...places.map((at, j) => (at < 0 ? table.rows[i][j] : row[at]))]),
  );
  if (!json) return writeCells(io, columns, filled, out);
  if (out !== undefined) await writeCells({ ...io, stdout: io.stderr }, columns, filled, out);
  io.stdout.write(`${JSON.stringify({ columns, rows: filled })}\n`);
}

export const declare: Declare = (command, io) =>
  void command
    .argument("<file>", "a CSV file with columns of the model; empty cells, NA and columns that it lacks are filled")
    .requiredOption("--model <file>", "a model that table fit wrote")
    .option("--draws <n>", "how often each row is completed", integer(1, 10_000), 1)
    .option("--evaluations <n>", "evaluations of the network a row", integer(2, 10_000), 50)
    .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--out <file>", "where the CSV goes, a column `draw` first (default: standard output)")
    .option("--json", "print columns and rows as JSON")
    .addOption(forceOption())
    .action((file, options) => complete(io, file, options));
