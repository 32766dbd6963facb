/** diffeo table sample: rows drawn from a model of a table. */
import { readBytes } from "diffeo/node";
import { sha256 } from "diffeo-queue/node";
import { type DrawnRows, parseTableModel } from "diffeo-tables";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { doParts, type PartOptions, requireNone, withPartOptions } from "../shell/parts.ts";
import { writeCells } from "./csv.ts";
import { type RowsPart, rowsGroup, rowsKind } from "./parts.ts";

interface SampleCommand extends PartOptions {
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
  const model = await readBytes(path);
  parseTableModel(model, path); // a file that is none is refused here, not by a part
  let drawn: DrawnRows | undefined;
  const failed = await doParts<RowsPart, DrawnRows>(
    io,
    options,
    {
      ...{ what: "drawing", unit: "rows", kind: rowsKind, device: "cpu", inputs: [model], signal: io.signal },
      ...{ folder: out && `${out}.parts`, ...(threads !== undefined && { threads }) },
    },
    [rowsGroup({ count, evaluations, seed }, sha256(model))],
    async ({ results }) => {
      drawn = { ...results[0], rows: results.flatMap(({ rows }) => rows) };
    },
  );
  if (failed) requireNone(io, failed);
  if (!drawn) return;
  if (!json) return writeCells(io, drawn.columns, drawn.rows, out);
  if (out !== undefined) await writeCells({ ...io, stdout: io.stderr }, drawn.columns, drawn.rows, out);
  io.stdout.write(`${JSON.stringify(drawn)}\n`);
}

export const declare: Declare = (command, io) =>
  void withPartOptions(command)
    .requiredOption("--model <file>", "a model that table fit wrote")
    .option("--count <n>", "how many rows", integer(1, MOST.rows), 1000)
    .option("--evaluations <n>", "evaluations of the network a row", integer(2, 10_000), 50)
    .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--out <file>", "where the CSV goes (default: standard output)")
    .option("--json", "print columns and rows as JSON")
    .addOption(forceOption())
    .action((options) => sample(io, options));
