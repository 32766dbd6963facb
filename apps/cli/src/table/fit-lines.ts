/** What diffeo table fit prints: columns, the network, what was fitted, the report as JSON. */
import type { Inferred, NetworkChoice, TableEvaluation } from "diffeo-tables";
import type { FitCommand } from "./fit-options.ts";
import type { Fitted } from "./fitting.ts";

/** One line for each column: its name, its kind and the reason. */
export function inferenceLines(inferred: readonly Inferred[]): string {
  const names = inferred.map(({ columns }) => columns.join(", "));
  const [wide, kinds] = [
    Math.max(...names.map((n) => n.length)),
    Math.max(...inferred.map(({ kind }) => kind.length)),
  ];
  return inferred
    .map(({ kind, reason }, i) => `${names[i].padEnd(wide)}  ${kind.padEnd(kinds)}  ${reason}\n`)
    .join("");
}

/** Which network is fitted and why, with the option that sets the other one. */
export const networkLine = ({ network, reason }: NetworkChoice): string =>
  network === "masked"
    ? `network: masked cells (${reason}); --network diffusion fits diffusion, which table ` +
      `export and --map need\n`
    : `network: diffusion (${reason})\n`;

/** Rows below which weights chosen by distance give better samples. */
const FEW_ROWS = 1000;

/** Names the options that give better samples of small tables, and what they cost. */
export const adviceLine = (rows: number, { choose, allRows }: FitCommand): string =>
  rows < FEW_ROWS && choose === "loss" && !allRows
    ? `fewer than ${FEW_ROWS.toLocaleString("en")} rows: --choose distance --all-rows gives ` +
      "samples closer to the table as a whole, but worse likelihoods and samples nearer to " +
      `single rows\n`
    : "";

/** What was fitted: the loss of each seed, the rows, the time, the weights, the model's file. */
export function fittedLines(
  { model, tried }: Fitted,
  rows: number,
  seconds: number,
  out: string,
): string {
  const { seed, step, validation } = model.training;
  const seeds = tried.length > 1 ? tried : [];
  return [
    ...seeds.map(
      (one) =>
        `seed ${one.seed}: ${one.validation.toFixed(4)}${one.seed === seed ? ", kept" : ""}\n`,
    ),
    `${rows} rows, ${seconds.toFixed(0)} s; weights of step ${step}, loss on held-out rows ` +
      `${validation.toFixed(4)}\n`,
    `${out}\n`,
  ].join("");
}

/** The facts of a fit that a report contains. */
export interface FitFacts {
  readonly source: string;
  readonly out: string;
  readonly inferred: readonly Inferred[];
  readonly choice: NetworkChoice;
  readonly fitted: Fitted;
  readonly seconds: number;
  readonly evaluation?: TableEvaluation;
}

/** The report of --json. */
export function reportOf({ source, out, inferred, choice, seconds, ...rest }: FitFacts): object {
  const {
    evaluation,
    fitted: { model, tried, maps },
  } = rest;
  return {
    data: source,
    columns: inferred.map(({ columns, kind, domain, reason }) => ({
      columns,
      kind,
      domain: domain?.spec,
      reason,
    })),
    network: choice,
    ...model.training,
    ...(tried.length > 1 && { seeds: tried }),
    ...(maps.length > 0 && { maps }),
    seconds,
    model: out,
    ...(evaluation && { evaluation }),
  };
}
