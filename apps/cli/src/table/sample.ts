/** diffeo table sample: rows drawn from a model of a table, of which some cells may be given. */
import type { Cell, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { readBytes } from "diffeo/node";
import { sha256 } from "diffeo-queue/node";
import {
  type DrawnRows,
  parseTableModel,
  requireGiven,
  type TableModel,
  writtenColumns,
  writtenRows,
} from "diffeo-tables";
import type { Declare, Io } from "../shell/io.ts";
import { doJobs, type JobOptions, requireNone, withJobOptions } from "../shell/jobs.ts";
import { engineOf, integer, MOST, repeated } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writeCells } from "./csv.ts";
import { type RowsJob, rowsGroups, rowsKind } from "./jobs.ts";
import {
  type DrawOptions,
  type EvaluationOptions,
  type NumbersOptions,
  requireSecondNetwork,
  withDrawOptions,
  withEvaluations,
  withModel,
  withNumbersOptions,
} from "./options.ts";

interface SampleCommand extends JobOptions, DrawOptions, EvaluationOptions, NumbersOptions {
  readonly count: number;
  readonly given?: readonly string[];
}

interface GivenWord {
  readonly part: ProductPart;
  readonly name: string;
  readonly text: string;
}

/** The cell that a word gives: the number or the label that it says. */
function cellOf({ part: { domain }, text }: GivenWord): Cell {
  if (domain.spec?.kind === "category" && domain.fault([text]) === undefined) return text;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : text;
}

/** Whether a column can hold what a word says, as far as one cell shows. */
function isPossible(word: GivenWord): boolean {
  const { domain } = word.part;
  const cell = cellOf(word);
  if (domain.cells === 1) return domain.fault([cell]) === undefined;
  return typeof cell === "number";
}

/** The columns that a word may name: with a column "a=b" beside "a", "a=b=3" has two readings. */
const readings = ({ domain }: TableModel, word: string): GivenWord[] =>
  domain.parts.flatMap((part) =>
    part.columns
      .filter((name) => word.startsWith(`${name}=`))
      .map((name) => ({ part, name, text: word.slice(name.length + 1) })),
  );

/** The column and the value that name=value says. */
function readGiven(model: TableModel, word: string): GivenWord {
  const found = readings(model, word);
  if (found.length === 0)
    fail(
      "usage",
      `--given ${word}: no column of the model is named so`,
      `use ${model.domain.columns.join(", ")}`,
    );
  const possible = found.filter(isPossible);
  if (possible.length > 1)
    fail(
      "usage",
      `--given ${word} is a value of ${possible.map(({ name }) => `"${name}"`).join(" and of ")}`,
      "rename one of the columns in the table and fit again",
    );
  const [first] = possible.length > 0 ? possible : found;
  if (first.text.trim() === "")
    fail(
      "usage",
      `--given ${word}: the value is empty`,
      `give a value, or leave the option out to sample ${first.name}`,
    );
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

/** Rows of jobs in the order of the jobs, whichever ends first. */
function inOrder() {
  const ready = new Map<number, DrawnRows["rows"]>();
  let isOver = false;
  let wake = (): void => undefined;
  async function* rows(): AsyncGenerator<DrawnRows["rows"]> {
    for (let next = 0; ; ) {
      const some = ready.get(next);
      if (some) {
        ready.delete(next++);
        yield some;
      } else if (isOver) return;
      else
        await new Promise<void>((done) => {
          wake = done;
        });
    }
  }
  return {
    rows,
    add: (at: number, drawn: DrawnRows): void => {
      ready.set(at, drawn.rows);
      wake();
    },
    end: (): void => {
      isOver = true;
      wake();
    },
  };
}

async function sample(io: Io, options: SampleCommand): Promise<void> {
  const { model: path, count, given = [], evaluations, seed, device, out, force } = options;
  await outputs(out === undefined ? [] : [{ path: out }], { inputs: [path], force });
  const model = await readBytes(path);
  // A file that is none, or cells that cannot be given, are refused here, not by a job.
  const parsed = parseTableModel(model, path);
  const cells = givenCells(parsed, given);
  if (given.length > 0) requireSecondNetwork(parsed);
  requireGiven(parsed, cells);
  const { rows, add, end } = inOrder();
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  const draw = async (): Promise<void> => {
    const failed = await doJobs<RowsJob, DrawnRows>(
      io,
      options,
      {
        ...{ what: "drawing", unit: "rows", kind: rowsKind, inputs: [model], signal },
        ...{ folder: out && `${out}.jobs`, ...engineOf(options) },
      },
      rowsGroups(
        { count, evaluations, seed, ...(given.length > 0 && { given: cells }) },
        sha256(model),
        device,
      ),
      async ({ results: [drawn] }, i) => add(i, drawn),
    ).finally(end);
    if (failed) requireNone(io, failed);
  };
  // Neither collects anything.
  if (options.dryRun || options.shard) return draw();
  const drawing = draw();
  const ended = drawing.catch(() => undefined);
  async function* drawn() {
    let first = 0;
    for await (const some of rows()) {
      yield writtenRows(parsed, some, { first, seed });
      first += some.length;
    }
    // Where it failed there is nothing to keep.
    await drawing;
  }
  try {
    await writeCells(
      io,
      { columns: writtenColumns(parsed), beside: { evaluations } },
      drawn(),
      options,
    );
  } finally {
    stop.abort();
    await ended;
  }
}

export const declare: Declare = (command, io) =>
  void withJobOptions(
    withDrawOptions(
      withEvaluations(
        withNumbersOptions(
          withModel(command)
            .option("--count <n>", "how many rows", integer(1, MOST.rows), 1000)
            .option(
              "--given <name=value>",
              "a cell that all rows have, as ph=6.5 or ward=north; may be repeated",
              repeated,
            ),
          "where the CSV goes",
          "print columns and rows as JSON",
        ),
      ),
    ),
    io,
  ).action((options) => sample(io, options));
