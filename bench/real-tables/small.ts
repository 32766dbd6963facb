/** Part B: small tables, generated and imputed, compared with ForestDiffusion's results. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fold, key, uniform } from "diffeo/random";
import { pointOf, writtenColumns, writtenRows } from "diffeo-tables";
import { type FitSettings, fitFile, writeRows } from "./fitted.ts";
import type { Measures } from "./measures.ts";
import { unzipped } from "./mixed.ts";
import { publishedSmall, type SmallName } from "./published.ts";
import { recorded, spread, tableLine } from "./records.ts";

interface Info {
  readonly target: string;
  readonly target_kind: "cat" | "bin" | "real";
  readonly binary: readonly string[];
  readonly category: readonly string[];
  readonly splits: readonly {
    readonly train: readonly number[];
    readonly test: readonly number[];
  }[];
}

interface Generated {
  readonly wTrain: number | null;
  readonly wTest: number | null;
  readonly coverageTrain: number;
  readonly coverageTest: number;
  /** The shares of synthetic rows and of test rows that are copies of training rows. */
  readonly copies: number;
  readonly freshCopies: number;
  /**
   * The median distance of synthetic rows to the nearest training row, divided by that of test
   * rows.
   */
  readonly nearness: number | null;
  readonly useful: number;
  readonly isClass: boolean;
  readonly fitting: number;
}

interface Errors {
  readonly min: number;
  readonly avg: number;
}

interface Imputed {
  readonly draws: Errors;
  /** Of the median or the mode of the draws. */
  readonly point: Errors;
  readonly covered?: number;
  readonly fitting: number;
}

/** The share of cells, except the target, that is removed at random from the training rows. */
const MISSING = 0.2;
/** Fit settings of models whose rows are compared with rows of the table. */
const NEAR = { choose: "distance", allRows: true } as const;
/** The numbers of draws for errors, and for intervals and points. */
const COUNT = 5;
const DRAWS = 41;

interface Split {
  readonly names: readonly string[];
  readonly train: readonly (readonly string[])[];
  readonly test: readonly (readonly string[])[];
  readonly categories: readonly string[];
  readonly info: object;
}

async function splitOf(data: string, at: number): Promise<Split> {
  const info = JSON.parse(await readFile(join(data, "info.json"), "utf8")) as Info;
  const lines = (await unzipped(join(data, "all.csv.gz"))).trim().split(/\r?\n/);
  const [names, ...rows] = lines.map((line) => line.split(","));
  const { splits, ...rest } = info;
  return {
    names,
    train: splits[at].train.map((i) => rows[i]),
    test: splits[at].test.map((i) => rows[i]),
    categories: [
      ...info.binary,
      ...info.category,
      ...(info.target_kind === "real" ? [] : [info.target]),
    ],
    info: { ...rest, names },
  };
}

async function generation(
  split: Split,
  work: string,
  seed: number,
  settings: FitSettings,
  { ask }: Measures,
): Promise<Generated> {
  const { names, train, test, categories, info } = split;
  const file = (what: string): string => join(work, `${what}-${seed}.csv`);
  await writeRows(file("train"), names, train);
  await writeRows(file("test"), names, test);
  const { model, seconds } = await fitFile(file("train"), categories, {
    ...{ ...settings, ...NEAR, seed, given: false },
  });
  const { rows } = await model.sample({ count: train.length, seed });
  const synthetic = [writtenColumns(model), writtenRows(model, rows)] as const;
  const measured = await ask<Omit<Generated, "fitting">>("small", {
    info,
    train: file("train"),
    test: file("test"),
    synthetic: [await writeRows(file("synthetic"), ...synthetic)],
  });
  return { ...measured, fitting: seconds };
}

/**
 * Measures the training rows instead of synthetic ones, over all splits: W_test and coverage must
 * equal the published values of the oracle.
 */
export async function oracleCells(
  name: SmallName,
  data: string,
  work: string,
  splits: readonly number[],
  { ask }: Measures,
): Promise<readonly (string | number)[]> {
  await mkdir(work, { recursive: true });
  const found: Omit<Generated, "fitting">[] = [];
  for (const at of splits) {
    const { names, train, test, info } = await splitOf(join(data, name), at);
    const [seen, held] = [join(work, `train-${at}.csv`), join(work, `test-${at}.csv`)];
    await writeRows(seen, names, train);
    await writeRows(held, names, test);
    found.push(await ask("small", { info, train: seen, test: held, synthetic: [seen] }));
  }
  const { oracle } = publishedSmall[name];
  const [w, covered] = [found.map((m) => m.wTest), found.map((m) => m.coverageTest)];
  const useful = fixed(meanOf(found.map((m) => m.useful)));
  return [name, oracle[0] ?? "–", fixed(meanOf(w)), oracle[1], fixed(meanOf(covered)), useful];
}

/**
 * Training rows with cells removed at random, and those with at least one cell besides the target.
 */
function holed({ names, train }: Split, seed: number) {
  const width = names.length;
  const from = fold(key(seed), "missing");
  const u = uniform(from, [train.length, width], { dtype: "float64" }).data;
  const rows = train.map((row, i) =>
    row.map((cell, j) => (j < width - 1 && u[i * width + j] < MISSING ? "" : cell)),
  );
  const kept = rows.flatMap((row, i) => (row.slice(0, -1).some((cell) => cell !== "") ? [i] : []));
  return { truth: kept.map((i) => train[i]), holes: kept.map((i) => rows[i]) };
}

type Drawn = readonly (readonly (string | number)[])[];

async function imputation(
  split: Split,
  work: string,
  seed: number,
  settings: FitSettings,
  { ask }: Measures,
): Promise<Imputed> {
  const { names, categories, info } = split;
  const file = (what: string): string => join(work, `${what}-${seed}.csv`);
  const { truth, holes } = holed(split, seed);
  await writeRows(file("truth"), names, truth);
  await writeRows(file("holes"), names, holes);
  const { model, seconds } = await fitFile(file("holes"), categories, {
    ...{ ...settings, seed, given: true },
  });
  const open = holes.map((row) =>
    Object.fromEntries(
      row.flatMap((cell, j) =>
        cell === "" ? [] : [[names[j], categories.includes(names[j]) ? cell : Number(cell)]],
      ),
    ),
  );
  const { rows } = await model.complete(open, { draws: DRAWS, seed });
  const columns = writtenColumns(model);
  const write = (what: string, pick: (draws: Drawn) => readonly (string | number)[]) =>
    writeRows(file(what), columns, writtenRows(model, rows.map(pick)));
  const draws: string[] = [];
  for (let k = 0; k < DRAWS; k++) draws.push(await write(`draw${k}`, (own) => own[k]));
  const point = await write("point", (own) => pointOf(model.domain.parts, own));
  const paths = { train: file("truth"), holes: file("holes"), draws, point };
  return {
    ...(await ask<Omit<Imputed, "fitting">>("impute", { info, ...paths, count: COUNT })),
    fitting: seconds,
  };
}

const meanOf = (values: readonly (number | null | undefined)[]): number | undefined => {
  const known = values.filter((v): v is number => typeof v === "number");
  return known.length === 0 ? undefined : known.reduce((s, v) => s + v, 0) / known.length;
};

const fixed = (value: number | undefined): string => value?.toFixed(3) ?? "–";

export interface SmallLine {
  readonly name: SmallName;
  readonly cells: readonly (string | number)[];
  /** Means over the splits that worked: W_test, coverage, MinMAE and AvgMAE of draws and point. */
  readonly means: readonly (number | undefined)[];
  readonly failures: readonly string[];
}

export const smallHeader = [
  "set",
  "W_test: oracle",
  "ForestFlow",
  "diffeo",
  "W_train",
  "coverage: oracle",
  "ForestFlow",
  "diffeo",
  "F1 or R²",
  "copies (of test rows)",
  "distance to training, of test rows 1",
  "MinMAE: miceforest",
  "diffeo, draws",
  "AvgMAE: MissForest",
  "diffeo, draws",
  "diffeo, point",
  "in 90 %",
  "fitting rows, s of the processor",
  "fitting for imputation, s",
];

/** The parts measured of a small table. */
export const smallParts = ["generation", "imputation"] as const;

export async function smallLine(
  name: SmallName,
  data: string,
  work: string,
  splits: readonly number[],
  { parts, ...settings }: FitSettings & { readonly parts: readonly string[] },
  measures: Measures,
): Promise<SmallLine> {
  await mkdir(work, { recursive: true });
  const made: Generated[] = [];
  const filled: Imputed[] = [];
  const failures: string[] = [];
  for (const at of splits) {
    const split = await splitOf(join(data, name), at);
    const one = async <T>(
      what: (typeof smallParts)[number],
      into: T[],
      work_: () => Promise<T>,
      aim: object = {},
    ): Promise<void> => {
      if (!parts.includes(what)) return;
      const path = join(work, `${what}-${at}.json`);
      const { result, failed } = await recorded(path, { name, at, ...settings, ...aim }, work_);
      if (result) into.push(result);
      if (failed !== undefined) failures.push(`${name}, split ${at}, ${what} failed: ${failed}`);
    };
    await one("generation", made, () => generation(split, work, at, settings, measures), NEAR);
    await one("imputation", filled, () => imputation(split, work, at, settings, measures));
  }
  const { oracle, forestFlow, missForest, miceforest } = publishedSmall[name];
  const lists = [
    made.map((m) => m.wTest),
    made.map((m) => m.coverageTest),
    filled.map((m) => m.draws.min),
    filled.map((m) => m.draws.avg),
    filled.map((m) => m.point.avg),
    filled.map((m) => m.covered),
  ];
  const shown = lists.map((values) => spread(values));
  return {
    name,
    failures,
    means: lists.map(meanOf),
    cells: [
      ...[name, oracle[0] ?? "–", forestFlow[0] ?? "–", shown[0]],
      spread(made.map((m) => m.wTrain)),
      ...[oracle[1], forestFlow[1], shown[1], spread(made.map((m) => m.useful))],
      `${spread(
        made.map((m) => m.copies),
        2,
      )} (${spread(
        made.map((m) => m.freshCopies),
        2,
      )})`,
      spread(
        made.map((m) => m.nearness),
        2,
      ),
      ...[miceforest[0], shown[2], missForest[1], shown[3], shown[4], shown[5]],
      spread(
        made.map((m) => m.fitting),
        0,
      ),
      spread(
        filled.map((m) => m.fitting),
        0,
      ),
    ],
  };
}

/** The mean over the sets that have the value. */
export function meanLine(lines: readonly SmallLine[]): string {
  const mean = (i: number): string => meanOf(lines.map(({ means }) => means[i]))?.toFixed(3) ?? "–";
  const published = (pick: (name: SmallName) => number | null, i: number): string => {
    const measured = lines.filter(({ means }) => means[i] !== undefined);
    return fixed(meanOf(measured.map(({ name }) => pick(name))));
  };
  return tableLine([
    "mean",
    published((n) => publishedSmall[n].oracle[0], 0),
    published((n) => publishedSmall[n].forestFlow[0], 0),
    mean(0),
    "",
    published((n) => publishedSmall[n].oracle[1], 1),
    published((n) => publishedSmall[n].forestFlow[1], 1),
    mean(1),
    "",
    "",
    "",
    published((n) => publishedSmall[n].miceforest[0], 2),
    mean(2),
    published((n) => publishedSmall[n].missForest[1], 3),
    mean(3),
    mean(4),
    mean(5),
    "",
    "",
  ]);
}
