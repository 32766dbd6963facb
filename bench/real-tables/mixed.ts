/** Part A: Adult, Shoppers and Magic compared with TabDiff, TabSyn and TabPC. */
import { createReadStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { writtenColumns, writtenRows } from "diffeo-tables";
import { type FitSettings, fitFile, writeRows } from "./fitted.ts";
import type { Measures } from "./measures.ts";
import { type MixedName, publishedMixed } from "./published.ts";
import { recorded, spread, tableLine } from "./records.ts";

interface Info {
  readonly categorical: readonly string[];
  readonly target: string;
  readonly task: string;
  readonly train: number;
}

interface MixedMeasures {
  readonly shape: number;
  readonly trend: number;
  readonly trees: number;
  readonly logistic: number;
  readonly alphaPrecision: number;
  readonly betaRecall: number;
  readonly copies: number;
  readonly copiesOfTest: number;
  readonly nearer: number;
  readonly useful: number;
  readonly usefulReal: number;
  readonly gains: Readonly<Record<string, number>>;
}

interface MixedResult extends MixedMeasures {
  readonly fitting: number;
  readonly sampling: number;
}

export const unzipped = (path: string): Promise<string> =>
  text(createReadStream(path).pipe(createGunzip()));

async function oneFit(
  data: string,
  work: string,
  seed: number,
  settings: FitSettings,
  { ask }: Measures,
): Promise<MixedResult> {
  const info = JSON.parse(await readFile(join(data, "info.json"), "utf8")) as Info;
  const train = join(work, "train.csv");
  await mkdir(work, { recursive: true });
  await writeFile(train, await unzipped(join(data, "train.csv.gz")));
  const categories =
    info.task === "regression" ? info.categorical : [...info.categorical, info.target];
  const { model, seconds } = await fitFile(train, categories, { ...settings, seed, given: false });
  const began = performance.now();
  const { rows } = await model.sample({ count: info.train, seed });
  const sampling = (performance.now() - began) / 1000;
  const written = [writtenColumns(model), writtenRows(model, rows)] as const;
  const synthetic = await writeRows(join(work, `synthetic-${seed}.csv`), ...written);
  const measures = await ask<MixedMeasures>("mixed", {
    info: join(data, "info.json"),
    train,
    test: join(data, "test.csv.gz"),
    synthetic,
  });
  return { ...measures, fitting: seconds, sampling };
}

const header = [
  "method",
  "trees",
  "logistic",
  "Shape",
  "Trend",
  "β-recall",
  "α-precision",
  "AUC or RMSE",
  "copies",
  "nearer to training",
  "training, s",
  "sampling, s",
];

const fixed = (value: number | undefined, digits = 3): string => value?.toFixed(digits) ?? "";

/** Lines of a table: published methods, then ours, each failure as a sentence. */
export async function mixedTable(
  name: MixedName,
  data: string,
  work: string,
  seeds: readonly number[],
  settings: FitSettings,
  measures: Measures,
): Promise<string[]> {
  const runs = [];
  for (const seed of seeds)
    runs.push(
      await recorded(join(work, `mixed-${seed}.json`), { name, seed, ...settings }, () =>
        oneFit(join(data, name), work, seed, settings, measures),
      ),
    );
  const found = runs.flatMap(({ result }) => (result ? [result] : []));
  const of = (key: keyof MixedResult, digits?: number): string =>
    spread(
      found.map((one) => one[key] as number),
      digits,
    );
  const failures = runs.flatMap(({ failed }) =>
    failed === undefined ? [] : [`failed: ${failed}`],
  );
  const seen = Object.entries(found[0]?.gains ?? {})
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([column, gain]) => `${column} ${(100 * gain).toFixed(0)} %`);
  return [
    `\n${name}, ${found.length} of ${seeds.length} fits`,
    tableLine(header),
    tableLine(header.map(() => "---")),
    ...publishedMixed[name].map((row) =>
      tableLine([
        `${row.method} (published)`,
        ...[row.trees, undefined, row.shape, row.trend, row.betaRecall, undefined, row.useful].map(
          (v) => fixed(v),
        ),
        "",
        "",
        fixed(row.seconds, 0),
        "",
      ]),
    ),
    tableLine([
      "diffeo",
      of("trees"),
      of("logistic"),
      of("shape"),
      of("trend"),
      of("betaRecall"),
      of("alphaPrecision"),
      of("useful"),
      of("copies", 4),
      of("nearer"),
      of("fitting", 0),
      of("sampling", 0),
    ]),
    ...(found.length > 0
      ? [
          `Models trained on the real rows: ${fixed(found[0].usefulReal)}. Test rows that are copies: ${fixed(found[0].copiesOfTest, 4)}. What the trees see: ${seen.join(", ")}.`,
        ]
      : []),
    ...failures,
  ];
}
