/** diffeo table sample: rows drawn from a model of a table. */
import { drawRows } from "diffeo-tables";
import { loadTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";

interface SampleCommand {
  readonly model: string;
  readonly count: number;
  readonly evaluations: number;
  readonly seed: number;
  readonly threads?: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

async function sample(io: Io, options: SampleCommand): Promise<void> {
  const { model: path, count, evaluations, seed, threads, out, json, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [path], force });
  const model = await loadTableModel(path);
  const drawn = await drawRows(model, {
    count,
    evaluations,
    seed,
    ...(threads !== undefined && { threads }),
    signal: io.signal,
  });
  if (!json) return writeCells(io, drawn.columns, drawn.rows, out);
  if (out !== undefined) await writeCells({ ...io, stdout: io.stderr }, drawn.columns, drawn.rows, out);
  io.stdout.write(`${JSON.stringify(drawn)}\n`);
}

export const declare: Declare = (command, io) =>
  void command
    .requiredOption("--model <file>", "a model that table fit wrote")
    .option("--count <n>", "how many rows", integer(1, MOST.rows), 1000)
    .option("--evaluations <n>", "evaluations of the network a row", integer(2, 10_000), 50)
    .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--out <file>", "where the CSV goes (default: standard output)")
    .option("--json", "print columns and rows as JSON")
    .addOption(forceOption())
    .action((options) => sample(io, options));
