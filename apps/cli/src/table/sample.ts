/** diffeo table sample: samples rows from a model of a table; some cells may be given. */
import type { Cell, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { inputOf } from "diffeo/job";
import { readBytes } from "diffeo/node";
import {
  dateFormatOf,
  parseDate,
  parseTableModel,
  type RowsParameters,
  requireGiven,
  rowsJobs,
  type TableModel,
  writtenColumns,
  writtenRows,
} from "diffeo-tables";
import type { Declare, Io } from "../shell/io.ts";
import { planOrShard } from "../shell/job-groups.ts";
import { type JobOptions, withJobOptions } from "../shell/job-options.ts";
import { collectJobs, type Work } from "../shell/jobs.ts";
import { integer, MOST, repeated } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";
import { type RowsOptions, requireSecondNetwork, withModel, withRowsOptions } from "./options.ts";

interface SampleCommand extends JobOptions, RowsOptions {
  readonly count: number;
  readonly given?: readonly string[];
}

interface GivenWord {
  readonly part: ProductPart;
  readonly name: string;
  readonly text: string;
}

/** The cell of an argument: a number, a date or a label. */
function cellOf({ part: { domain }, text }: GivenWord): Cell {
  const format = dateFormatOf(domain);
  if (format !== undefined) return parseDate(text, format) ?? text;
  if (domain.spec?.kind === "category" && domain.fault([text]) === undefined) return text;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : text;
}

/** Whether a column can hold the value of an argument, as far as one cell shows. */
function isPossible(word: GivenWord): boolean {
  const { domain } = word.part;
  const cell = cellOf(word);
  if (domain.cells === 1) return domain.fault([cell]) === undefined;
  return typeof cell === "number";
}

/**
 * The columns that an argument may name: if "a" and "a=b" are columns, "a=b=3" has two readings.
 */
const readings = ({ domain, related }: TableModel, word: string): GivenWord[] =>
  (related?.domain ?? domain).parts.flatMap((part) =>
    part.columns
      .filter((name) => word.startsWith(`${name}=`))
      .map((name) => ({ part, name, text: word.slice(name.length + 1) })),
  );

/** The column and the value of an argument name=value. */
function readGiven(model: TableModel, word: string): GivenWord {
  const found = readings(model, word);
  if (found.length === 0)
    fail(
      "usage",
      `--given ${word}: the model has no such column`,
      `use ${(model.related?.domain ?? model.domain).columns.join(", ")}`,
    );
  const possible = found.filter(isPossible);
  if (possible.length > 1)
    fail(
      "usage",
      `--given ${word} is ambiguous: it may set ` +
        `${possible.map(({ name }) => `"${name}"`).join(" or ")}`,
      "rename one of the columns in the table and fit again",
    );
  const [first] = possible.length > 0 ? possible : found;
  if (first.text.trim() === "")
    fail(
      "usage",
      `--given ${word}: the value is empty`,
      `give a value, or omit the option to sample ${first.name}`,
    );
  const format = dateFormatOf(first.part.domain);
  if (format !== undefined && typeof cellOf(first) !== "number")
    fail("usage", `--given ${word}: ${first.text} is not a date`, `write it as ${format}`);
  if (first.part.domain.spec?.kind !== "category" && typeof cellOf(first) !== "number")
    fail("usage", `--given ${word}: ${first.text} is not a number`, "write it as 12.5 or 1e3");
  return first;
}

/** name=value of columns of a model, numbers except for categories. */
function givenCells(model: TableModel, words: readonly string[]): Record<string, Cell> {
  const found = new Map<string, Cell>();
  for (const word of words) {
    const read = readGiven(model, word);
    if (found.has(read.name))
      fail("usage", `--given ${word}: ${read.name} is given twice`, "give it once");
    found.set(read.name, cellOf(read));
  }
  return Object.fromEntries(found);
}

/** Runs the command. */
export async function sample(io: Io, options: SampleCommand): Promise<void> {
  const { model: path, count, given = [], evaluations, seed, device, threads, out } = options;
  await outputs(out === undefined ? [] : [{ path: out }], {
    inputs: [path],
    force: options.force,
  });
  const bytes = await readBytes(path);
  // A file that is not a model, and values that cannot be given, are errors before any job starts.
  const model = parseTableModel(bytes, path);
  const cells = givenCells(model, given);
  if (given.length > 0) requireSecondNetwork(model);
  requireGiven(model, cells);
  const jobs = rowsJobs(inputOf(bytes, model), {
    count,
    evaluations,
    seed,
    device,
    given: given.length > 0 ? cells : undefined,
  });
  const work: Work<RowsParameters> = {
    what: "sampling",
    unit: "rows",
    sizeOf: ({ count: rows }) => rows,
    device,
    threads,
    folder: out && `${out}.jobs`,
    signal: io.signal,
  };
  if (await planOrShard(io, options, work, () => [{ name: "rows", jobs }])) return;
  await collectJobs(io, options, work, jobs, (results) => {
    async function* written() {
      let first = 0;
      for await (const { value } of results) {
        yield writtenRows(model, value.rows, { first, seed });
        first += value.rows.length;
      }
    }
    const columns = { columns: writtenColumns(model), beside: { evaluations } };
    return writeCells(io, columns, written(), options);
  });
}

export const declare: Declare = (command, io) => {
  withModel(command)
    .option("--count <n>", "number of rows", integer(1, MOST.rows), 1000)
    .option(
      "--given <name=value>",
      "value of a cell in all rows, as in ph=6.5 or ward=north; may be repeated",
      repeated,
    );
  withJobOptions(withRowsOptions(command), io).action((options) => sample(io, options));
};
