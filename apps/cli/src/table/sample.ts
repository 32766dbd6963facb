/** diffeo table sample: rows drawn from a model of a table, of which some cells may be given. */
import type { Cell } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { readBytes } from "diffeo/node";
import { sha256 } from "diffeo-queue/node";
import { type DrawnRows, parseTableModel, requireGiven, type TableModel } from "diffeo-tables";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST, repeated } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { doParts, type PartOptions, requireNone, withPartOptions } from "../shell/parts.ts";
import { writeCells } from "./csv.ts";
import { type RowsPart, rowsGroup, rowsKind } from "./parts.ts";

interface SampleCommand extends PartOptions {
  readonly model: string;
  readonly count: number;
  readonly given: readonly string[];
  readonly evaluations: number;
  readonly seed: number;
  readonly threads?: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** name=value of columns of a model, numbers but for categories. */
function givenCells({ domain }: TableModel, words: readonly string[]): Record<string, Cell> {
  const found: Record<string, Cell> = {};
  for (const word of words) {
    const part = domain.parts.find(({ columns }) => columns.some((name) => word.startsWith(`${name}=`)));
    const name = part?.columns.find((one) => word.startsWith(`${one}=`));
    if (!part || name === undefined)
      return fail("usage", `--given ${word}: no column of the model is named so`, `use ${domain.columns.join(", ")}`);
    if (Object.hasOwn(found, name)) fail("usage", `--given ${word}: ${name} is given twice`, "give it once");
    const text = word.slice(name.length + 1);
    const isLabel = part.domain.kind === "category" && part.domain.fault([text]) === undefined;
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!isLabel && part.domain.kind !== "category" && !Number.isFinite(value))
      fail("usage", `--given ${word}: ${text} is no number`, "write it as 12.5 or 1e3");
    found[name] = isLabel || Number.isNaN(value) ? text : value;
  }
  return found;
}

async function sample(io: Io, options: SampleCommand): Promise<void> {
  const { model: path, count, given, evaluations, seed, threads, out, json, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [path], force });
  const model = await readBytes(path);
  // A file that is none, or cells that cannot be given, are refused here, not by a part.
  const parsed = parseTableModel(model, path);
  const cells = givenCells(parsed, given);
  requireGiven(parsed, cells);
  let drawn: DrawnRows | undefined;
  const failed = await doParts<RowsPart, DrawnRows>(
    io,
    options,
    {
      ...{ what: "drawing", unit: "rows", kind: rowsKind, device: "cpu", inputs: [model], signal: io.signal },
      ...{ folder: out && `${out}.parts`, ...(threads !== undefined && { threads }) },
    },
    [rowsGroup({ count, evaluations, seed, ...(given.length > 0 && { given: cells }) }, sha256(model))],
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
    .option("--given <name=value>", "a cell that all rows have; may be repeated", repeated, [])
    .option("--evaluations <n>", "evaluations of the network a row", integer(2, 10_000), 50)
    .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--out <file>", "where the CSV goes (default: standard output)")
    .option("--json", "print columns and rows as JSON")
    .addOption(forceOption())
    .action((options) => sample(io, options));
