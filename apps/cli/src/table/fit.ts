/** diffeo table fit: fits a model to the rows of a table. */

import type { Command } from "commander";
import { fail } from "diffeo/graph";
import {
  chooseNetwork,
  type Evaluated,
  evaluateHeldOut,
  evaluationText,
  type Inferred,
  inferColumns,
  layoutOf,
  type NetworkChoice,
  type NetworkKind,
  namedDomains,
  type OpenCell,
  otherDomains,
  refitTable,
  rowsOf,
  type TableModel,
  wholeRows,
} from "diffeo-tables";
import { readCells, saveTableModel } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, noteUnused, refuseBeside } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import {
  adviceLine,
  type FitFacts,
  fittedLines,
  inferenceLines,
  networkLine,
  reportOf,
} from "./fit-lines.ts";
import { type FitCommand, withFitOptions } from "./fit-options.ts";
import { runFit } from "./fitting.ts";
import { measuring, REPORT, requireFaultless, tornRows, writeReport } from "./report.ts";

/** The share of --minutes that is left for the evaluation. */
const MEASURED = 0.2;

type Rows = readonly (readonly OpenCell[])[];
type Say = (text: string) => void;
/** The options of a fit with its chosen network. */
type SettledFit = FitCommand & { readonly network: NetworkKind };

const NOT_MEASURED = "diffeo table evaluate evaluates it on other rows\n";

/** Evaluates a model on the rows that its fit held out. */
async function evaluated(
  io: Io,
  model: TableModel,
  rows: Rows,
  { seed, minutes, evaluate }: FitCommand,
  say: Say,
): Promise<Evaluated | undefined> {
  if (!evaluate) {
    say(`not evaluated; ${NOT_MEASURED}`);
    return undefined;
  }
  const limit = minutes === undefined ? {} : { minutes: MEASURED * minutes };
  const { whole, evaluated: found } = await measuring(io, (how) =>
    evaluateHeldOut(model, rows, { seed, ...limit, ...how }),
  );
  say(tornRows(model, rows.length, whole));
  if (!found) say(`not evaluated: too few rows; ${NOT_MEASURED}`);
  return found;
}

/** The options with the minutes that are left for the fit, once its rows are read. */
function inTime(options: SettledFit, began: number): SettledFit {
  const { minutes, evaluate } = options;
  if (minutes === undefined) return options;
  const spent = (performance.now() - began) / 60_000;
  const left = (evaluate ? 1 - MEASURED : 1) * minutes - spent;
  return { ...options, minutes: Math.max(left, 0.05 * minutes) };
}

/** The rows of a file and the kinds of its columns; the texts of the cells are freed. */
async function readRows(file: string, { column: rules = [], map }: FitCommand, say: Say) {
  const table = await readCells(file);
  if (table.isUnnamed)
    say(`${file} has no line of names: its columns are column1 to column${table.columns.length}\n`);
  const inferred = inferColumns(table, rules);
  say(inferenceLines(inferred));
  const others = map === "auto" ? otherDomains(table, rules, inferred) : undefined;
  return { inferred, others, rows: rowsOf(table, namedDomains(inferred)) };
}

/** The network that is set, or the one that suits the table. */
function networkOf(
  { network, map }: FitCommand,
  rows: Rows,
  inferred: readonly Inferred[],
): NetworkChoice {
  if (network !== "auto") return { network, reason: "as specified" };
  if (map !== "usual") return { network: "diffusion", reason: `--map ${map} needs it` };
  return chooseNetwork(rows.length, namedDomains(inferred));
}

/** Fits the model again to all rows, and writes it in place of the one that was evaluated. */
async function refitted(
  rows: Rows,
  model: TableModel,
  { network, given, evaluate, out, ...options }: SettledFit,
  { signal }: Io,
  say: Say,
): Promise<void> {
  const { seed } = model.training;
  const how = { ...engineOf(options), seed, given, network, signal };
  const again = await refitTable(rows, model, how);
  await saveTableModel(out, again);
  const of = evaluate ? "; the evaluation is of the model before that" : "";
  say(`fitted again to all ${rows.length} rows, to step ${again.training.step}${of}\n`);
}

/** Writes the HTML report, and prints the evaluation or the report as JSON. */
async function reported(
  facts: FitFacts,
  rows: Rows,
  found: Evaluated | undefined,
  { report, json }: FitCommand,
  io: Io,
): Promise<void> {
  const { source, out, inferred, seconds, fitted, evaluation } = facts;
  if (report !== undefined && found) {
    const columns = inferred.map(({ columns: names, kind, reason }) => ({
      ...{ columns: names, kind, reason },
    }));
    const shown = wholeRows(rows).length > 0 ? wholeRows(rows) : found.compared;
    const file = { path: report, source, model: out, columns, seconds, maps: fitted.maps };
    await writeReport({ ...file, rows: shown }, fitted.model, found);
  }
  if (json) io.stdout.write(`${JSON.stringify(reportOf(facts), undefined, 1)}\n`);
  else if (evaluation) io.stdout.write(evaluationText(evaluation));
}

/** Runs the command. */
export async function fit(io: Io, file: string, asked: FitCommand): Promise<void> {
  const { out, accept, report, json, force } = asked;
  await outputs(
    [{ path: out }, ...(report === undefined ? [] : [{ path: report, like: REPORT }])],
    { inputs: [file], force },
  );
  if (asked.network === "masked" && asked.map !== "usual")
    fail(
      "usage",
      "--map applies to diffusion networks, and --network is masked",
      "omit --map, or set --network diffusion",
    );
  const say = (text: string): void => void (json || io.stdout.write(text));
  const began = performance.now();
  const { inferred, others, rows } = await readRows(file, asked, say);
  const choice = networkOf(asked, rows, inferred);
  if (asked.network === "auto") say(networkLine(choice));
  say(adviceLine(rows.length, asked));
  const options: SettledFit = { ...asked, network: choice.network };
  const schema = { columns: namedDomains(inferred), layout: layoutOf(inferred), others };
  const fitted = await runFit(io, rows, schema, inTime(options, began), say);
  if (!fitted) return;
  const { model } = fitted;
  await saveTableModel(out, model);
  const seconds = (performance.now() - began) / 1000;
  say(fittedLines(fitted, rows.length, seconds, out));
  const found = await evaluated(io, model, rows, options, say);
  const evaluation = found?.evaluation;
  if (options.allRows) await refitted(rows, model, options, io, say);
  const facts = { source: file, out, inferred, choice, fitted, seconds, evaluation };
  await reported(facts, rows, found, options, io);
  if (evaluation && !accept)
    requireFaultless(
      evaluation,
      "the model is written; train longer, check the kinds of the columns, or accept the " +
        "model with --accept",
    );
}

export const declare: Declare = (command, io) =>
  void withFitOptions(command, io).action((file, options: FitCommand, own: Command) => {
    if (!options.evaluate) {
      refuseBeside(own, "--no-evaluate", ["report"]);
      noteUnused(io, own, "with --no-evaluate", ["accept"]);
    }
    return fit(io, file, options);
  });
