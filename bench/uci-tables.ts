/**
 * npm run bench -- uci-tables [TABLE …] [--folder DIR] [--steps N] [--seed N] [--threads N] [--loss NAME] [--runs DIR] [--without model]:
 * the three UCI tables of the study by a model of their natural domains, beside a Gaussian, a Gaussian copula and independent columns of the
 * same domains, and beside the deep kernel exponential family of the study.
 *
 * Rows are the study's points, taken back through its whitening to the units of the table: dequantised, shuffled and split as there, with its
 * noise of 0.05 standard deviations, test rows last. All likelihoods are thus of one law in one unit: to those in the study's records
 * log|det W| is added. Two-sample AUC, columns and distances are taken in the columns as they are, which all laws have in common; those of the
 * family need a fit, `diffeo density fit --data TABLE --out DIR/TABLE`, and are left out where --runs has none. A model's training is kept
 * there too, and goes on where it was stopped.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { between, type Domain, positive, product, real } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { input, reference } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import { RunFolder } from "diffeo/node";
import { fold, key } from "diffeo/random";
import {
  type Cells,
  evaluateTable,
  fitTable,
  likelihood,
  modelLaw,
  parseRecords,
  prepare,
  sampleRows,
  scoreRows,
  type Table,
  type TableLaw,
  tableBaselines,
  uciSets,
  whiteningMap,
} from "diffeo-tables";
import { loadDensity, uciTable } from "diffeo-tables/node";

type Name = keyof typeof uciSets;

interface Settings {
  readonly folder: string;
  readonly steps?: number;
  readonly seed: number;
  readonly threads: number;
  readonly loss: string;
  readonly runs?: string;
  readonly without: readonly string[];
}

/** The bound below which a column naturally has nothing, or both bounds; others are positive. */
const natural: Readonly<Record<string, readonly [number, number] | "real">> = {
  pH: [0, 14],
  alcohol: [0, 100],
  test_time: "real",
  motor_UPDRS: [0, 108],
  total_UPDRS: [0, 176],
  RPDE: [0, 1],
  DFA: [0, 1],
  PPE: [0, 1],
};

/** Natural domains; where noise took a number over the bound, the bound is that far out and a tenth of a deviation more. */
function domainsOf(columns: readonly string[], rows: readonly Cells[]): Record<string, Domain> {
  return Object.fromEntries(
    columns.map((name, j) => {
      const known = natural[name];
      if (known === "real") return [name, real()];
      const values = rows.map((row) => Number(row[j]));
      const lowest = values.reduce((low, v) => Math.min(low, v), Number.POSITIVE_INFINITY);
      const mean = values.reduce((s, v) => s + v / values.length, 0);
      const deviation = Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2 / values.length, 0));
      const bound = lowest > 0 ? 0 : lowest - 0.1 * deviation;
      return [name, known ? between(Math.min(known[0], bound), known[1]) : positive({ above: bound })];
    }),
  );
}

/** The points of a study's run as rows of the table. */
function rowsOf(points: NdArray, whitening: Parameters<typeof whiteningMap>[0]): Cells[] {
  const [count, n] = points.shape;
  const x = input("points", [count, n], "float64");
  const [values] = reference(
    [whiteningMap(whitening).inverse(x)],
    new Map([[x, Float64Array.from(points.data as Float32Array)]]),
  );
  return Array.from({ length: count }, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
}

/** A fitted family as a law of rows. */
async function familyLaw(table: Table, path: string): Promise<TableLaw> {
  const model = await loadDensity(path);
  const n = table.columns.length;
  return {
    name: `kernel family, one fit (${model.spec.loss})`,
    score: async (rows) => {
      const own = { ...table, rows: rows.length, values: Float64Array.from(rows.flat() as number[]) };
      return (await scoreRows(model, own)).logDensity;
    },
    draw: async (count, seed) => {
      const { values } = await sampleRows(model, count, { key: key(seed) });
      return Array.from({ length: count }, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
    },
  };
}

async function fittedModel(name: Name, seen: readonly Cells[], columns: Record<string, Domain>, settings: Settings) {
  const { steps, seed, threads, runs } = settings;
  const config = { name, seed, steps: steps ?? null };
  const path = runs && join(runs, `${name}-model`);
  const store = path && (existsSync(path) ? await RunFolder.open(path, config) : await RunFolder.create(path, config));
  return fitTable(seen, { columns, seed, threads, ...(steps !== undefined && { steps }), ...(store && { store }) });
}

/** The test log-likelihoods of the study's runs in the units of the table: median and quartiles over seeds. */
async function studied(name: Name, table: Table, loss: string): Promise<string> {
  const path = new URL(`../studies/uci/${name}.json`, import.meta.url);
  const records = parseRecords(await readFile(path, "utf8"), name).filter((record) => record.loss === loss);
  const values = records.map(({ seed, chosen }) => {
    const { whitening } = prepare(table, fold(key(seed), "data"), uciSets[name].options);
    return likelihood(chosen) + whitening.logDet;
  });
  const [lower, median, upper] = quantiles(values, [0.25, 0.5, 0.75]).map((v) => v.toFixed(3));
  return `| ${name} | kernel family, study (${loss}, ${values.length} seeds) | ${median} (quartiles ${lower}, ${upper}) | | | | | | |\n`;
}

async function* lawsOf(name: Name, table: Table, seen: readonly Cells[], all: readonly Cells[], settings: Settings) {
  const columns = domainsOf(table.columns, all);
  yield* tableBaselines(product(columns), seen);
  const family = settings.runs && join(settings.runs, name, "model.safetensors");
  if (family && existsSync(family)) yield familyLaw(table, family);
  if (!settings.without.includes("model"))
    yield modelLaw(await fittedModel(name, seen, columns, settings), { threads: settings.threads });
}

async function runTable(name: Name, settings: Settings): Promise<void> {
  const { folder, seed, loss } = settings;
  const table = await uciTable(name, folder);
  const data = prepare(table, fold(key(seed), "data"), uciSets[name].options);
  const [train, validation, rows] = [data.train, data.validation, data.test].map((set) => rowsOf(set, data.whitening));
  const seen = [...train, ...validation];
  const domain = product(domainsOf(table.columns, [...seen, ...rows]));
  const plain = product(Object.fromEntries(table.columns.map((column) => [column, real()])));
  process.stdout.write(await studied(name, table, loss));
  for await (const law of lawsOf(name, table, seen, [...seen, ...rows], settings)) {
    const { evaluation, drawn } = await evaluateTable(law, plain, { rows, training: seen, samples: 2000, seed });
    const { likelihood: found, model } = evaluation;
    const { auc, columns, sliced, correlations } = model;
    const outside = drawn.filter((row) => domain.fault(row) !== undefined).length / drawn.length;
    const cells = [
      name,
      law.name,
      `${found.mean.toFixed(3)} ± ${found.error.toFixed(3)}`,
      auc ? `${auc.value.toFixed(3)} ± ${auc.error.toFixed(3)}` : "",
      columns[0].distance.toFixed(3),
      (columns.reduce((s, c) => s + c.distance, 0) / columns.length).toFixed(3),
      correlations.most.toFixed(3),
      (sliced.value / sliced.floor).toFixed(2),
      `${(100 * outside).toFixed(1)} %`,
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}

export async function run(): Promise<void> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: process.argv.slice(3),
    allowPositionals: true,
    options: {
      folder: text,
      steps: text,
      seed: text,
      threads: text,
      loss: text,
      runs: text,
      without: { ...text, multiple: true },
    },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(uciSets, name));
  if (unknown.length > 0) {
    process.stderr.write(`no table ${unknown.join(", ")}; there are ${Object.keys(uciSets).join(", ")}\n`);
    process.exitCode = 2;
    return;
  }
  const heading =
    "table | law | test log-likelihood | AUC | largest KS | mean KS | largest difference of rank correlations | SWD / floor | rows outside";
  process.stdout.write(
    `| ${heading} |\n|${heading
      .split("|")
      .map(() => "---")
      .join("|")}|\n`,
  );
  const settings: Settings = {
    folder: values.folder ?? "data",
    seed: Number(values.seed ?? 0),
    threads: Number(values.threads ?? 2),
    loss: values.loss ?? "gssm-vr",
    without: values.without ?? [],
    ...(values.steps !== undefined && { steps: Number(values.steps) }),
    ...(values.runs !== undefined && { runs: values.runs }),
  };
  for (const name of positionals.length > 0 ? positionals : Object.keys(uciSets))
    await runTable(name as Name, settings);
}
