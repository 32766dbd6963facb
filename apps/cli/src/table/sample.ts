/** diffeo table sample: rows drawn from a model of a table, of which some cells may be given. */
import type { Cell } from "diffeo/domain";
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

/** name=value of columns of a model, numbers but for categories. */
function givenCells({ domain }: TableModel, words: readonly string[]): Record<string, Cell> {
  const found = new Map<string, Cell>();
  for (const word of words) {
    const part = domain.parts.find(({ columns }) =>
      columns.some((name) => word.startsWith(`${name}=`)),
    );
    const name = part?.columns.find((one) => word.startsWith(`${one}=`));
    if (!part || name === undefined)
      return fail(
        "usage",
        `--given ${word}: no column of the model is named so`,
        `use ${domain.columns.join(", ")}`,
      );
    if (found.has(name)) fail("usage", `--given ${word}: ${name} is given twice`, "give it once");
    const text = word.slice(name.length + 1);
    const isLabel = part.domain.kind === "category" && part.domain.fault([text]) === undefined;
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!isLabel && part.domain.kind !== "category" && !Number.isFinite(value))
      fail("usage", `--given ${word}: ${text} is no number`, "write it as 12.5 or 1e3");
    found.set(name, isLabel || Number.isNaN(value) ? text : value);
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
