/**
 * The results of a run: one file of draws per chain, all draws in a file for ArviZ, the summary,
 * and pictures; and the text that is printed.
 */
import { join } from "node:path";
import {
  arvizJson,
  chainsOf,
  cmdStanCsv,
  elementNames,
  type Loo,
  type Origin,
  type Posterior,
  type PosteriorDraws,
  type Summary,
} from "diffeo/mcmc";
import { writeFileAtomic } from "diffeo/node";
import type { Predictive, Quantity } from "diffeo-picture/posterior";
import type { Io } from "../shell/io.ts";
import type { Planned } from "../shell/outputs.ts";
import { pictureFiles, writePicture } from "../shell/pictures.ts";
import type { Predicted, Predictions } from "./predictions.ts";

const PICTURES = ["trace", "ranks", "pairs"] as const;

/** The files of a run's results. */
export const resultFiles = (
  out: string,
  chains: number,
  pictures: boolean,
  predicted: Predicted,
): Planned[] => [
  ...Array.from({ length: chains }, (_, c) => ({ path: join(out, `chain-${c + 1}.csv`) })),
  { path: join(out, "draws.json") },
  { path: join(out, "summary.json") },
  ...(predicted.loo ? [{ path: join(out, "loo.json") }] : []),
  ...(pictures
    ? [...PICTURES, ...(predicted.predict ? (["predictive"] as const) : [])]
    : []
  ).flatMap((name) => pictureFiles(join(out, name))),
];

/** Maximum number of printed rows; the file contains all. */
const ROWS = 60;
/** How many quantities the pictures show, those with the fewest effective draws first. */
const TRACED = 12;
const PAIRED = 5;

const number = (v: number): string => {
  if (!Number.isFinite(v)) return String(v);
  const size = Math.abs(v);
  return size !== 0 && (size >= 1e5 || size < 1e-3)
    ? v.toExponential(2)
    : String(Number(v.toPrecision(4)));
};

const columns: readonly (readonly [string, (row: Summary) => string])[] = [
  ["mean", ({ mean }) => number(mean)],
  ["±", ({ meanError }) => number(Number(meanError.toPrecision(2)))],
  ["sd", ({ sd }) => number(sd)],
  ["5 %", ({ q5 }) => number(q5)],
  ["50 %", ({ median }) => number(median)],
  ["95 %", ({ q95 }) => number(q95)],
  ["ESS bulk", ({ bulkEss }) => bulkEss.toFixed(0)],
  ["ESS tail", ({ tailEss }) => tailEss.toFixed(0)],
  ["R̂", ({ rhat }) => rhat.toFixed(3)],
];

/** The result of cross-validation as text. */
export function looLines({
  elpd,
  elpdError,
  parameters,
  parametersError,
  pointwise,
  unreliable,
}: Loo): string {
  const lines = [
    `elpd (leave one out) ${elpd.toFixed(1)} ± ${elpdError.toFixed(1)}, effective parameters ` +
      `${parameters.toFixed(1)} ± ${parametersError.toFixed(1)}`,
  ];
  if (unreliable > 0) {
    const worst = pointwise.toSorted((a, b) => b.shape - a.shape).slice(0, Math.min(3, unreliable));
    const named = worst.map(({ name, shape }) => `${name} ${shape.toFixed(2)}`).join(", ");
    lines.push(
      `warning: k̂ is above 0.7 for ${unreliable} of ${pointwise.length} observations ` +
        `(${named}): their estimates are not reliable. Inspect these observations, or leave out ` +
        "groups of observations instead.",
    );
  }
  return `${lines.join("\n")}\n`;
}

/** One row per quantity. */
export function summaryTable(summary: Readonly<Record<string, Summary>>, file: string): string {
  const rows = Object.entries(summary);
  const shown = rows
    .slice(0, ROWS)
    .map(([name, row]) => [name, ...columns.map(([, text]) => text(row))]);
  const cells = [["", ...columns.map(([name]) => name)], ...shown];
  // R̂ is a letter and a combining mark, which take one column together.
  const width = (text: string): number =>
    [...text.normalize("NFD").replaceAll(/\p{M}/gu, "")].length;
  const widths = cells[0].map((_, k) => Math.max(...cells.map((row) => width(row[k]))));
  const lines = cells.map((row) =>
    row
      .map((text, k) =>
        k === 0 ? text.padEnd(widths[0]) : " ".repeat(widths[k] - width(text)) + text,
      )
      .join("  "),
  );
  const more = rows.length > ROWS ? [`and ${rows.length - ROWS} more: ${file}`] : [];
  return `${[...lines, ...more].join("\n")}\n`;
}

/** Quantities of a posterior, those with the fewest effective draws first. */
function quantitiesOf({ draws, summary }: Posterior): Quantity[] {
  const rows = summary();
  const ess = (name: string): number => Math.min(rows[name].bulkEss, rows[name].tailEss);
  return Object.entries(draws)
    .flatMap(([name, quantity]) =>
      elementNames(name, quantity.shape.slice(2)).map((element, i) => ({
        name: element,
        chains: chainsOf(quantity, i),
      })),
    )
    .filter(({ name }) => Number.isFinite(ess(name)))
    .toSorted((a, b) => ess(a.name) - ess(b.name));
}

/** Number of predicted sets that a picture shows. */
const SETS = 50;

/** The observations, and some predicted sets of the same size. */
function predictedOf(
  name: string,
  { shape, data }: PosteriorDraws,
  observed: Float64Array,
): Predictive {
  const [chains, draws] = shape;
  const size = observed.length;
  const every = Math.max(1, Math.floor((chains * draws) / SETS));
  const sets = Array.from({ length: Math.floor((chains * draws) / every) }, (_, k) =>
    data.subarray(k * every * size, (k * every + 1) * size),
  );
  return { name, observed, sets };
}

async function writePictures(
  io: Io,
  out: string,
  posterior: Posterior,
  { groups }: Predictions,
): Promise<string[]> {
  const { pairsPicture, predictivePicture, rankPicture, tracePicture } = await import(
    "diffeo-picture/posterior"
  );
  const quantities = quantitiesOf(posterior);
  if (quantities.length === 0) return [];
  const compared = Object.entries(groups.posterior_predictive ?? {}).flatMap(([name, draws]) => {
    const seen = posterior.data[name];
    return seen && seen.data.length > 1
      ? [predictedOf(name, draws, seen.data as Float64Array)]
      : [];
  });
  const pictures: Partial<Record<(typeof PICTURES)[number] | "predictive", string>> = {
    trace: tracePicture(quantities.slice(0, TRACED)),
    // With one chain, there is nothing to compare ranks with.
    ...(posterior.chains.length > 1 && { ranks: rankPicture(quantities.slice(0, TRACED)) }),
    ...(quantities.length > 1 && {
      pairs: pairsPicture(
        quantities.slice(0, PAIRED),
        posterior.chains.map(({ diverged }) => diverged),
      ),
    }),
    ...(compared.length > 0 && { predictive: predictivePicture(compared) }),
  };
  const files: string[] = [];
  for (const [name, svg] of Object.entries(pictures)) {
    await writePicture(io, join(out, name), svg);
    files.push(`${name}.svg`, `${name}.png`);
  }
  return files;
}

/**
 * Writes all files, the summary last: where it exists, the results are complete. Returns the names
 * of the files.
 */
export async function writePosterior(
  io: Io,
  out: string,
  posterior: Posterior,
  origin: Origin,
  pictures: boolean,
  predictions: Predictions,
): Promise<string[]> {
  const files: string[] = [];
  const write = async (name: string, pieces: Iterable<string>): Promise<void> => {
    await writeFileAtomic(join(out, name), pieces);
    files.push(name);
  };
  for (const c of posterior.chains.keys())
    await write(`chain-${c + 1}.csv`, cmdStanCsv(posterior, c, origin));
  await write("draws.json", arvizJson(posterior, predictions.groups));
  if (predictions.loo)
    await write("loo.json", [`${JSON.stringify(predictions.loo, undefined, 1)}\n`]);
  if (pictures) files.push(...(await writePictures(io, out, posterior, predictions)));
  const content = { summary: posterior.summary(), warnings: posterior.warnings() };
  await write("summary.json", [`${JSON.stringify(content, undefined, 1)}\n`]);
  return files;
}
