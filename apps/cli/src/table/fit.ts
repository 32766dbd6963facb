/** diffeo table fit: a model of the rows of a CSV file. */

import { type Command, Option } from "commander";
import { fail } from "diffeo/graph";
import {
  type Evaluated,
  evaluateHeldOut,
  evaluationText,
  type Inferred,
  inferColumns,
  layoutOf,
  mapChoices,
  namedDomains,
  networkKinds,
  type OpenCell,
  otherDomains,
  refitTable,
  rowsOf,
  type TableEvaluation,
  type TableModel,
  weightChoices,
  wholeRows,
} from "diffeo-tables";
import { readCells, saveTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { withJobOptions } from "../shell/jobs.ts";
import {
  engineOf,
  forceOption,
  integer,
  MOST,
  noteUnused,
  positive,
  refuseBeside,
  repeated,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { type Fitted, type FittingCommand, runFit } from "./fitting.ts";
import { measuring, REPORT, requireFaultless, tornRows, writeReport } from "./report.ts";

interface FitCommand extends FittingCommand {
  readonly column?: readonly string[];
  /** Whether it ends with what the model is worth. */
  readonly evaluate: boolean;
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
    Math.max(...inferred.map(({ kind }) => kind.length)),
  ];
  return inferred
    .map(({ kind, reason }, i) => `${names[i].padEnd(wide)}  ${kind.padEnd(kinds)}  ${reason}\n`)
    .join("");
}

const reportOf = (
  source: string,
  inferred: readonly Inferred[],
  { model: { training }, tried, maps }: Fitted,
  seconds: number,
  out: string,
  evaluation: TableEvaluation | undefined,
) => ({
  data: source,
  columns: inferred.map(({ columns, kind, domain, reason }) => ({
    columns,
    kind,
    domain: domain?.spec,
    reason,
  })),
  ...training,
  ...(tried.length > 1 && { seeds: tried }),
  ...(maps.length > 0 && { maps }),
  seconds,
  model: out,
  ...(evaluation && { evaluation }),
});

/** The evaluation of a model on the rows that its fit held out, with what a person should read of it. */
async function worthOf(
  io: Io,
  model: TableModel,
  rows: readonly (readonly OpenCell[])[],
  { seed, minutes }: FitCommand,
  say: (text: string) => void,
): Promise<Evaluated | undefined> {
  const limit = minutes === undefined ? {} : { minutes: MEASURED * minutes };
  const { whole, evaluated } = await measuring(io, (how) =>
    evaluateHeldOut(model, rows, { seed, ...limit, ...how }),
  );
  say(tornRows(model, rows.length, whole));
  if (!evaluated)
    say("not measured: too few rows; diffeo table evaluate measures it on other rows\n");
  return evaluated;
}

/** The share of --minutes that is left for the evaluation. */
const MEASURED = 0.2;

/** The options of a fit that has read its rows and is to be evaluated in its time. */
function inTime(options: FitCommand, began: number): FitCommand {
  const { minutes, evaluate } = options;
  if (minutes === undefined) return options;
  const spent = (performance.now() - began) / 60_000;
  const left = (evaluate ? 1 - MEASURED : 1) * minutes - spent;
  return { ...options, minutes: Math.max(left, 0.05 * minutes) };
}

/** What was fitted, a line each. */
function fittedLines({ model, tried }: Fitted, rows: number, seconds: number, out: string): string {
  const { seed, step, validation } = model.training;
  const seeds = tried.length > 1 ? tried : [];
  return [
    ...seeds.map(
      (one) =>
        `seed ${one.seed}: ${one.validation.toFixed(4)}${one.seed === seed ? ", kept" : ""}\n`,
    ),
    `${rows} rows, ${seconds.toFixed(0)} s; weights of step ${step}, loss on held-out rows ${validation.toFixed(4)}\n`,
    `${out}\n`,
  ].join("");
}

/**
 * The rows of a file, and what its columns were taken to be; the texts of their cells are let go.
 */
async function readRows(
  file: string,
  { column: rules = [], map }: FitCommand,
  say: (text: string) => void,
) {
  const table = await readCells(file);
  if (table.isUnnamed)
    say(`${file} has no line of names: its columns are column1 to column${table.columns.length}\n`);
  const inferred = inferColumns(table, rules);
  say(inferenceLines(inferred));
  const others = map === "auto" ? otherDomains(table, rules, inferred) : undefined;
  return { inferred, others, rows: rowsOf(table, namedDomains(inferred)) };
}

/** Fits the model again to all rows, and writes it in place of the one that was evaluated. */
async function refitted(
  rows: readonly (readonly OpenCell[])[],
  model: TableModel,
  options: FitCommand,
  { signal }: Io,
  say: (text: string) => void,
): Promise<void> {
  const { seed } = model.training;
  const again = await refitTable(rows, model, {
    ...engineOf(options),
    ...{ seed, given: options.given, network: options.network, signal },
  });
  await saveTableModel(options.out, again);
  say(
    `fitted again to all ${rows.length} rows, to step ${again.training.step}${options.evaluate ? "; the evaluation is of the model before that" : ""}\n`,
  );
}

/** Does what the command is asked for. */
export async function fit(io: Io, file: string, options: FitCommand): Promise<void> {
  const { out, accept, report, json, force } = options;
  await outputs(
    [{ path: out }, ...(report === undefined ? [] : [{ path: report, like: REPORT }])],
    {
      inputs: [file],
      force,
    },
  );
  if (options.network === "masked" && options.map !== "usual")
    fail("usage", "--network masked has no use for --map", "leave out one of them");
  const say = (text: string): void => void (json || io.stdout.write(text));
  const began = performance.now();
  const { inferred, others, rows } = await readRows(file, options, say);
  const schema = { columns: namedDomains(inferred), layout: layoutOf(inferred), others };
  const fitted = await runFit(io, rows, schema, inTime(options, began), say);
  if (!fitted) return;
  const { model } = fitted;
  await saveTableModel(out, model);
  const seconds = (performance.now() - began) / 1000;
  say(fittedLines(fitted, rows.length, seconds, out));
  if (!options.evaluate) say("not measured; diffeo table evaluate measures it on other rows\n");
  const evaluated = options.evaluate ? await worthOf(io, model, rows, options, say) : undefined;
  const evaluation = evaluated?.evaluation;
  if (options.allRows) await refitted(rows, model, options, io, say);
  if (report !== undefined && evaluated)
    await writeReport(
      {
        path: report,
        source: file,
        model: out,
        columns: inferred.map(({ columns: names, kind, reason }) => ({
          columns: names,
          kind,
          reason,
        })),
        seconds,
        maps: fitted.maps,
        rows: wholeRows(rows).length > 0 ? wholeRows(rows) : evaluated.compared,
      },
      model,
      evaluated,
    );
  if (json)
    io.stdout.write(
      `${JSON.stringify(reportOf(file, inferred, fitted, seconds, out, evaluation), undefined, 1)}\n`,
    );
  else if (evaluation) say(evaluationText(evaluation));
  if (evaluation && !accept)
    requireFaultless(
      evaluation,
      "the model is written; train longer, look at the columns' domains, or take it as it is by --accept",
    );
}

export const declare: Declare = (command, io) =>
  void withJobOptions(
    withRunOptions(
      command
        .argument("<file>", "a table: CSV, JSON lines or Parquet")
        .requiredOption("--out <file>", "where the model goes")
        .option(
          "--column <rule>",
          "what a column is: age=between:0:120, start<end, sand+silt+clay=100, ward=category, id=drop; may be repeated",
          repeated,
        )
        .option(
          "--minutes <x>",
          "about how long the command may take, from reading the file to the report",
          positive,
        )
        .option(
          "--steps <n>",
          "steps of 512 rows (default: 400 passes, from 2,000 to 20,000)",
          integer(1, MOST.steps),
        )
        .option(
          "--seeds <n>",
          "fit so many, from --seed on, and keep the best on rows held out",
          integer(1, 1000),
          1,
        )
        .addOption(
          new Option(
            "--map <which>",
            "auto tries other maps, bends and flows by short fits; a flow is learned after the maps",
          )
            .choices(mapChoices)
            .default("usual"),
        )
        .addOption(
          new Option(
            "--network <kind>",
            "what is trained on rows: a score network of diffusion, or one of masked cells, which needs no second network for given cells",
          )
            .choices(networkKinds)
            .default("residual"),
        )
        .addOption(
          new Option(
            "--choose <by>",
            "keep the weights of the least loss on held-out rows, or those whose samples are nearest to them",
          )
            .choices(weightChoices)
            .default("loss"),
        )
        .option(
          "--all-rows",
          "when the model is measured, fit it again to all rows, for the steps that held-out rows chose",
        )
        .option(
          "--run <folder>",
          "keep the run there; the same command continues one that was interrupted",
        )
        .option(
          "--accept",
          "exit with 0 even if a baseline is better or the mass of a cluster is wrong",
        )
        .option("--report <file>", "write all of it as one HTML file")
        .option(
          "--no-evaluate",
          "end when the model is written, without measuring what it is worth",
        )
        .option(
          "--no-given",
          "do without the second network, by which cells can be given and completed",
        )
        .option("--json", "print the report as JSON")
        .addOption(forceOption()),
      0,
    ),
    io,
  ).action((file, options: FitCommand, command: Command) => {
    if (!options.evaluate) {
      refuseBeside(command, "--no-evaluate", ["report"]);
      noteUnused(io, command, "with --no-evaluate", ["accept"]);
    }
    return fit(io, file, options);
  });
