/**
 * npm run bench -- mixed [--rows N] [--missing P] [--steps N] [--threads N] [--seed N] [--folder
 * DIR] [--count N] [--held N] [--draws N] [--records FILE]:
 * a table of mixed columns, positive, bounded, an ordered pair, three parts, a category and a
 * count, with missing cells. A model is fitted to it with the default settings. With --folder the fit
 * can be interrupted and continued. The model is measured on new rows of the same distribution:
 * rows outside the domain, the largest distances of marginal distribution functions (KS), the
 * largest error of a correlation, and the share of hidden cells within the intervals of their
 * completions, as in `diffeo table evaluate --complete`. --records appends the numbers to a file
 * as a line of JSON.
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { between, type Cell, category, count, ordered, positive, simplex } from "diffeo/domain";
import { RunFolder } from "diffeo/node";
import { fold, type Key, key, normal, uniform } from "diffeo/random";
import { kolmogorovSmirnov } from "diffeo/two-sample";
import { completionLines, completionOf, fitTable, type TableModel } from "diffeo-tables";
import { loadTableModel, saveTableModel } from "diffeo-tables/node";
import { endProgress, printProgress } from "./tables/progress.ts";

const wards = ["north", "south", "east"];
export const columns = {
  size: positive(),
  share: between(0, 1),
  span: ordered(["start", "end"]),
  soil: simplex(["sand", "silt", "clay"], { total: 100, map: "isometricLogRatio" }),
  ward: category(wards),
  visits: count(),
};

type Table = readonly (readonly Cell[])[];

const LATENT = 6;

/** The quantile of a Poisson distribution at probability u. */
function poisson(rate: number, u: number): number {
  let [k, p] = [0, Math.exp(-rate)];
  for (let total = p; total < u && k < 1000; total += p) p *= rate / ++k;
  return k;
}

/**
 * Rows of the distribution: all columns depend on two latent numbers; sizes and visits also depend
 * on the ward.
 */
export function rowsOf(size: number, from: Key): Cell[][] {
  const z = normal(fold(from, "latent"), [size, LATENT], { dtype: "float64" }).data;
  const u = uniform(fold(from, "uniform"), [size, 2], { dtype: "float64" }).data;
  return Array.from({ length: size }, (_, i) => {
    const [a, b, c, d, e, f] = z.subarray(LATENT * i, LATENT * (i + 1));
    const weights = [Math.exp(0.5), Math.exp(0.6 * a), Math.exp(-0.3 - 0.6 * b)];
    const total = weights.reduce((s, w) => s + w, 0);
    const ward =
      u[2 * i] < weights[0] / total ? 0 : u[2 * i] < (weights[0] + weights[1]) / total ? 1 : 2;
    const parts = [
      Math.exp(0.7 * d),
      Math.exp(0.5 * a + 0.4 * e),
      Math.exp(0.4 * d - 0.5 * b + 0.3 * f),
    ];
    const whole = parts.reduce((s, w) => s + w, 0);
    const start = 0.6 * c + 0.5 * b;
    return [
      Math.exp(0.5 * a + [0, 0.6, -0.4][ward] + 0.2 * c),
      1 / (1 + Math.exp(-0.9 * b - 0.6 * e)),
      start,
      start + Math.exp(0.5 * a + 0.4 * f),
      ...parts.map((w) => (100 * w) / whole),
      wards[ward],
      poisson(Math.exp(0.6 + 0.4 * a + [0, 0.5, 0.9][ward]), u[2 * i + 1]),
    ];
  });
}

/** The cells of each group of columns, by position. */
const groups = [[0], [1], [2, 3], [4, 5, 6], [7], [8]];
const names = ["size", "share", "start", "end", "sand", "silt", "clay", "ward", "visits"];

/** Rows in which each group of columns is missing with the same probability. */
function holed(rows: Table, chance: number, from: Key): (Cell | null)[][] {
  const u = uniform(from, [rows.length, groups.length], { dtype: "float64" }).data;
  return rows.map((row, i) => {
    const own = u.subarray(i * groups.length, (i + 1) * groups.length);
    const gone = new Set(groups.flatMap((group, k) => (own[k] < chance ? group : [])));
    return row.map((cell, j) => (gone.has(j) ? null : cell));
  });
}

const numbers = (rows: Table, j: number): Float64Array =>
  Float64Array.from(rows, (row) =>
    j === 7 ? wards.indexOf(row[j] as string) : (row[j] as number),
  );

const mean = (values: Iterable<number> & { readonly length: number }): number => {
  let total = 0;
  for (const v of values) total += v;
  return total / values.length;
};

/** The numbers of a row for correlations: a label becomes an indicator for each ward. */
function features(rows: Table): Float64Array[] {
  return [
    ...[0, 1, 2, 3, 4, 5, 6, 8].map((j) => numbers(rows, j)),
    ...wards.map((ward) => Float64Array.from(rows, (row) => (row[7] === ward ? 1 : 0))),
  ];
}

function correlations(rows: Table): number[] {
  const centred = features(rows).map((values) => {
    const middle = mean(values);
    const away = values.map((v) => v - middle);
    const length = Math.sqrt(mean(away.map((v) => v * v)));
    return away.map((v) => v / length);
  });
  return centred.flatMap((a, i) => centred.slice(0, i).map((b) => mean(a.map((v, k) => v * b[k]))));
}

interface Settings {
  readonly rows: number;
  readonly missing: number;
  readonly steps?: number;
  readonly threads: number;
  readonly seed: number;
}

/** The training run of a network in a folder, new or resumed. */
const runIn = (folder: string, settings: Settings): Promise<RunFolder> => {
  const config = { command: "bench mixed", ...settings };
  return existsSync(join(folder, "config.json"))
    ? RunFolder.open(folder, config)
    : RunFolder.create(folder, config);
};

async function fitted(settings: Settings, folder: string | undefined): Promise<TableModel> {
  const path = folder === undefined ? undefined : join(folder, "mixed.model");
  if (path !== undefined && existsSync(path))
    return loadTableModel(path, { threads: settings.threads });
  const { rows, missing, ...rest } = settings;
  const stores = folder !== undefined && {
    givenStore: await runIn(join(folder, "given"), settings),
    store: await runIn(join(folder, "whole"), settings),
  };
  const began = performance.now();
  const model = await fitTable(holed(rowsOf(rows, key("train")), missing, key("missing")), {
    columns,
    ...rest,
    ...stores,
    onProgress: (progress) => printProgress(progress.network, progress),
  });
  endProgress();
  process.stdout.write(
    `fitted to ${rows} rows in ${((performance.now() - began) / 1000).toFixed(0)} s\n`,
  );
  if (path !== undefined) await saveTableModel(path, model);
  return model;
}

export async function run(): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      rows: text,
      missing: text,
      steps: text,
      threads: text,
      seed: text,
      folder: text,
      count: text,
      held: text,
      draws: text,
      records: text,
    },
  });
  const settings: Settings = {
    rows: Number(values.rows ?? 10_000),
    missing: Number(values.missing ?? 0.05),
    threads: Number(values.threads ?? 2),
    seed: Number(values.seed ?? 0),
    ...(values.steps !== undefined && { steps: Number(values.steps) }),
  };
  const model = await fitted(settings, values.folder);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const completion = await completionOf(model, {
    rows: rowsOf(Number(values.held ?? 1000), key("held out")),
    most: Number.POSITIVE_INFINITY,
    draws: Number(values.draws ?? 60),
  });
  for (const line of completionLines(completion)) say(line);
  const size = Number(values.count ?? 100_000);
  const { rows: drawn } = await model.sample({ count: size });
  const outside = drawn.filter((row) => model.domain.fault(row) !== undefined).length;
  say(`rows outside: ${outside} of ${size}`);
  const fresh = rowsOf(100_000, key("fresh"));
  const ks = names.map((_, j) => kolmogorovSmirnov(numbers(drawn, j), numbers(fresh, j)));
  say(`KS: ${Math.max(...ks).toFixed(4)}`);
  for (const [j, name] of names.entries()) say(`  ${name} ${ks[j].toFixed(4)}`);
  const theirs = correlations(fresh);
  const gapsOf = (rows: Table) => {
    const gaps = correlations(rows).map((r, i) => Math.abs(r - theirs[i]));
    return { most: Math.max(...gaps), mean: mean(gaps) };
  };
  const [gaps, floor] = [gapsOf(drawn), gapsOf(rowsOf(settings.rows, key("train")))];
  say(`correlations: off by ${gaps.most.toFixed(4)} at most, ${gaps.mean.toFixed(4)} on average`);
  say(
    `  those of the rows it was fitted to, before cells went missing: ${floor.most.toFixed(4)}, ${floor.mean.toFixed(4)}`,
  );
  const record = {
    ...settings,
    step: model.training.step,
    outside,
    size,
    ks,
    gaps,
    floor,
    completion,
  };
  if (values.records !== undefined) appendFileSync(values.records, `${JSON.stringify(record)}\n`);
}
