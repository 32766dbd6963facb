/**
 * What a run leaves: a file of draws a chain, all of them for ArviZ, the summary, and pictures; and
 * what is printed of it.
 */
import { join } from "node:path";
import {
  arvizJson,
  chainsOf,
  cmdStanCsv,
  elementNames,
  type Origin,
  type Posterior,
  type Summary,
} from "diffeo/mcmc";
import { writeFileAtomic } from "diffeo/node";
import type { Quantity } from "diffeo-picture/posterior";
import type { Io } from "../shell/io.ts";
import type { Planned } from "../shell/outputs.ts";
import { pictureFiles, writePicture } from "../shell/pictures.ts";

const PICTURES = ["trace", "ranks", "pairs"] as const;

/** The files of a run's results. */
export const resultFiles = (out: string, chains: number, pictures: boolean): Planned[] => [
  ...Array.from({ length: chains }, (_, c) => ({ path: join(out, `chain-${c + 1}.csv`) })),
  { path: join(out, "draws.json") },
  { path: join(out, "summary.json") },
  ...(pictures ? PICTURES : []).flatMap((name) => pictureFiles(join(out, name))),
];

/** The most rows that are printed; all are in the file. */
const ROWS = 60;
/** How many numbers pictures show: those that chains know least of come first. */
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

/** A row a number. */
export function summaryTable(summary: Readonly<Record<string, Summary>>, file: string): string {
  const rows = Object.entries(summary);
  const shown = rows
    .slice(0, ROWS)
    .map(([name, row]) => [name, ...columns.map(([, text]) => text(row))]);
  const cells = [["", ...columns.map(([name]) => name)], ...shown];
  // R̂ is one letter with a mark above.
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

/** Numbers of a posterior, those with the fewest effective draws first. */
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

async function writePictures(io: Io, out: string, posterior: Posterior): Promise<string[]> {
  const { pairsPicture, rankPicture, tracePicture } = await import("diffeo-picture/posterior");
  const quantities = quantitiesOf(posterior);
  if (quantities.length === 0) return [];
  const pictures: Partial<Record<(typeof PICTURES)[number], string>> = {
    trace: tracePicture(quantities.slice(0, TRACED)),
    // Of one chain alone every rank is its own.
    ...(posterior.chains.length > 1 && { ranks: rankPicture(quantities.slice(0, TRACED)) }),
    ...(quantities.length > 1 && {
      pairs: pairsPicture(
        quantities.slice(0, PAIRED),
        posterior.chains.map(({ diverged }) => diverged),
      ),
    }),
  };
  const files: string[] = [];
  for (const [name, svg] of Object.entries(pictures)) {
    await writePicture(io, join(out, name), svg);
    files.push(`${name}.svg`, `${name}.png`);
  }
  return files;
}

/**
 * Writes everything; the summary last, so that where it is all is. Returns the names of the files.
 */
export async function writePosterior(
  io: Io,
  out: string,
  posterior: Posterior,
  origin: Origin,
  pictures: boolean,
): Promise<string[]> {
  const files: string[] = [];
  const write = async (name: string, pieces: Iterable<string>): Promise<void> => {
    await writeFileAtomic(join(out, name), pieces);
    files.push(name);
  };
  for (const c of posterior.chains.keys())
    await write(`chain-${c + 1}.csv`, cmdStanCsv(posterior, c, origin));
  await write("draws.json", arvizJson(posterior));
  if (pictures) files.push(...(await writePictures(io, out, posterior)));
  const content = { summary: posterior.summary(), warnings: posterior.warnings() };
  await write("summary.json", [`${JSON.stringify(content, undefined, 1)}\n`]);
  return files;
}
