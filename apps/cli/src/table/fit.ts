/** diffeo table fit: a model of the rows of a CSV file. */

import { product } from "diffeo/domain";
import {
  evaluateTable,
  evaluationText,
  fitTable,
  heldOut,
  type Inferred,
  inferColumns,
  modelLaw,
  namedDomains,
  rowsIn,
  type TableEvaluation,
  type TableModel,
} from "diffeo-tables";
import { readCells, saveTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST, positive } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { REPORT, requireWorth, writeReport } from "./report.ts";

interface FitCommand {
  readonly out: string;
  readonly column: readonly string[];
  readonly minutes?: number;
  readonly steps?: number;
  readonly seed: number;
  readonly threads?: number;
  readonly accept?: boolean;
  readonly report?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** What each column was taken to be, a line each. */
function inferenceLines(inferred: readonly Inferred[]): string {
  const names = inferred.map(({ columns }) => columns.join(", "));
  const [wide, kinds] = [
    Math.max(...names.map((n) => n.length)),
    Math.max(...inferred.map((i) => i.domain.kind.length)),
  ];
  return inferred
    .map(({ domain, reason }, i) => `${names[i].padEnd(wide)}  ${domain.kind.padEnd(kinds)}  ${reason}\n`)
    .join("");
}

const reportOf = (
  source: string,
  inferred: readonly Inferred[],
  { training }: TableModel,
  seconds: number,
  out: string,
  evaluation: TableEvaluation,
) => ({
  data: source,
  columns: inferred.map(({ columns, domain, reason }) => ({ columns, domain: domain.spec, reason })),
  ...training,
  seconds,
  model: out,
  evaluation,
});

async function fit(io: Io, file: string, options: FitCommand): Promise<void> {
  const { out, column, minutes, steps, seed, threads, accept, report, json, force } = options;
  await outputs([{ path: out }, ...(report === undefined ? [] : [{ path: report, like: REPORT }])], {
    inputs: [file],
    force,
  });
  const table = await readCells(file);
  const inferred = inferColumns(table, column);
  if (!json) io.stdout.write(inferenceLines(inferred));
  const columns = namedDomains(inferred);
  const rows = rowsIn(table, product(columns));
  const began = performance.now();
  let bar: ReturnType<typeof progress> | undefined;
  const model = await fitTable(rows, {
    columns,
    seed,
    ...(minutes !== undefined && { minutes }),
    ...(steps !== undefined && { steps }),
    ...(threads !== undefined && { threads }),
    signal: io.signal,
    onProgress: ({ step, steps: all, loss, validation }) => {
      bar ??= progress(io.stderr, all, "fitting");
      bar.update(step, `loss ${loss.toFixed(3)}, held out ${validation.toFixed(3)}`);
    },
  }).finally(() => bar?.end());
  io.signal.throwIfAborted();
  await saveTableModel(out, model);
  const seconds = (performance.now() - began) / 1000;
  const { step, validation } = model.training;
  if (!json)
    io.stdout.write(
      `${table.rows.length} rows, ${seconds.toFixed(0)} s; weights of step ${step}, loss on held-out rows ${validation.toFixed(4)}\n${out}\n`,
    );
  const split = heldOut(rows.length);
  const law = modelLaw(model, { signal: io.signal, ...(threads !== undefined && { threads }) });
  const evaluated = await evaluateTable(law, model.domain, {
    rows: Array.from(split.held, (i) => rows[i]),
    training: Array.from(split.seen, (i) => rows[i]),
    seed,
  });
  const { evaluation } = evaluated;
  if (report !== undefined)
    await writeReport(
      {
        path: report,
        source: file,
        model: out,
        columns: inferred.map(({ columns: names, domain, reason }) => ({ columns: names, kind: domain.kind, reason })),
        seconds,
        rows,
      },
      model,
      evaluated,
    );
  io.stdout.write(
    json
      ? `${JSON.stringify(reportOf(table.source, inferred, model, seconds, out, evaluation), undefined, 1)}\n`
      : evaluationText(evaluation),
  );
  if (!accept)
    requireWorth(
      evaluation,
      "the model is written; train longer, look at the columns' domains, or take it as it is by --accept",
    );
}

const collected = (rule: string, before: readonly string[]): readonly string[] => [...before, rule];

export const declare: Declare = (command, io) =>
  void command
    .argument("<file>", "a CSV file whose first line is names")
    .requiredOption("--out <file>", "where the model goes")
    .option(
      "--column <rule>",
      "what a column is: age=between:0:120, start<end, sand+silt+clay=100, ward=category, id=drop; may be repeated",
      collected,
      [],
    )
    .option("--minutes <x>", "the most that training may take", positive)
    .option("--steps <n>", "steps of 512 rows (default: 200 passes, from 2,000 to 20,000)", integer(1, MOST.steps))
    .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
    .option("--threads <n>", "threads of one operation (default: as many as there are cores)", integer(1, 1024))
    .option("--accept", "exit with 0 even if a baseline is better or the mass of a cluster is wrong")
    .option("--report <file>", "write all of it as one HTML file")
    .option("--json", "print the report as JSON")
    .addOption(forceOption())
    .action((file, options) => fit(io, file, options));
