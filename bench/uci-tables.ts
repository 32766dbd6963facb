/**
 * npm run bench -- uci-tables [TABLE …] [--folder DIR] [--steps N] [--seed N] [--threads N] [--loss
 * NAME] [--runs DIR] [--models baselines,family,model] [--records FILE]: a model of the three UCI
 * tables of the study on their natural domains, compared with a Gaussian, a Gaussian copula and
 * independent columns on the same domains, and with the deep kernel exponential family of the
 * study.
 *
 * Rows are the study's points in the units of the table, after the inverse of its whitening:
 * dequantised, shuffled and split as in the study, with its noise of 0.05 standard deviations, test
 * rows last. All likelihoods thus refer to the same distribution and units: log|det W| is added to
 * those in the study's records. Two-sample AUC, columns and distances are computed in the columns
 * of the table, which all models share. The figures of the family are those of one fit by `diffeo
 * density fit --data TABLE --out DIR/TABLE`; if --runs has none, the family is fitted. With --runs
 * the training of a model is stored and resumed. --records appends each row to a file as a line of
 * JSON.
 */
import { appendFileSync, existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { between, type Domain, positive, product, real } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { input, reference } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import type { ObjectiveName } from "diffeo/matching";
import { RunFolder } from "diffeo/node";
import { fold, key } from "diffeo/random";
import {
  type Cells,
  evaluateTable,
  fitTable,
  modelDistribution,
  type TableDistribution,
  tableBaselines,
} from "diffeo-tables";
import {
  type DensityModel,
  likelihood,
  type Prepared,
  parseRecords,
  prepare,
  runDensity,
  sampleRows,
  scoreRows,
  type Table,
  uciSets,
  whiteningMap,
} from "diffeo-tables/density";
import { loadDensity, saveDensity, uciTable } from "diffeo-tables/node";

type Name = keyof typeof uciSets;

interface Settings {
  readonly folder: string;
  readonly steps?: number;
  readonly seed: number;
  readonly threads: number;
  readonly loss: ObjectiveName;
  readonly runs?: string;
  readonly models: readonly string[];
  readonly records?: string;
}

/** The natural lower bound of a column, or both bounds; other columns are positive. */
const bounds: Readonly<Record<string, readonly [number, number] | "real">> = {
  pH: [0, 14],
  alcohol: [0, 100],
  test_time: "real",
  motor_UPDRS: [0, 108],
  total_UPDRS: [0, 176],
  RPDE: [0, 1],
  DFA: [0, 1],
  PPE: [0, 1],
};

/**
 * Natural domains. If noise moved a number beyond a bound, the bound is that number plus a tenth of
 * a standard deviation.
 */
function domainsOf(columns: readonly string[], rows: readonly Cells[]): Record<string, Domain> {
  return Object.fromEntries(
    columns.map((name, j) => {
      const known = bounds[name];
      if (known === "real") return [name, real()];
      const values = rows.map((row) => Number(row[j]));
      const lowest = values.reduce((low, v) => Math.min(low, v), Number.POSITIVE_INFINITY);
      const mean = values.reduce((s, v) => s + v / values.length, 0);
      const deviation = Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2 / values.length, 0));
      const bound = lowest > 0 ? 0 : lowest - 0.1 * deviation;
      return [
        name,
        known ? between(Math.min(known[0], bound), known[1]) : positive({ above: bound }),
      ];
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

/** The family of the study, from its file or fitted. */
async function familyOf(
  name: Name,
  data: Prepared,
  { runs, loss, seed }: Settings,
): Promise<DensityModel> {
  const folder = runs && join(runs, name);
  const path = folder && join(folder, "model.safetensors");
  if (path && existsSync(path)) return loadDensity(path);
  const { fit, spec } = await runDensity(data, { loss, seed, samples: 0 });
  if (folder && path) {
    await mkdir(folder, { recursive: true });
    await saveDensity(path, spec, fit.chosen);
  }
  return { spec, fitted: fit.chosen };
}

/** A fitted family as a distribution of rows. */
function familyAsModel(table: Table, model: DensityModel): TableDistribution {
  const n = table.columns.length;
  return {
    name: `kernel family, one fit (${model.spec.loss})`,
    logLikelihood: async (rows) => {
      const own = {
        ...table,
        rows: rows.length,
        values: Float64Array.from(rows.flat() as number[]),
      };
      return (await scoreRows(model, own)).logDensity;
    },
    draw: async (count, seed) => {
      const { values } = await sampleRows(model, count, { key: key(seed) });
      return Array.from({ length: count }, (_, i) =>
        Array.from(values.subarray(i * n, (i + 1) * n)),
      );
    },
  };
}

async function fittedModel(
  name: Name,
  seen: readonly Cells[],
  columns: Record<string, Domain>,
  settings: Settings,
) {
  const { steps, seed, threads, runs } = settings;
  const config = { name, seed, steps: steps ?? null };
  const path = runs && join(runs, `${name}-model`);
  const store =
    path &&
    (existsSync(path) ? await RunFolder.open(path, config) : await RunFolder.create(path, config));
  return fitTable(seen, {
    columns,
    seed,
    threads,
    given: false,
    ...(steps !== undefined && { steps }),
    ...(store && { store }),
  });
}

/**
 * The test log-likelihoods of the study's runs in the units of the table: median and quartiles over
 * seeds.
 */
async function studied(name: Name, table: Table, loss: string): Promise<string> {
  const path = new URL(`../studies/uci/${name}.json`, import.meta.url);
  const records = parseRecords(await readFile(path, "utf8"), name).filter(
    (record) => record.loss === loss,
  );
  const values = records.map(({ seed, chosen }) => {
    const { whitening } = prepare(table, fold(key(seed), "data"), uciSets[name].options);
    return likelihood(chosen) + whitening.logDet;
  });
  const [lower, median, upper] = quantiles(values, [0.25, 0.5, 0.75]).map((v) => v.toFixed(3));
  return `| ${name} | kernel family, study (${loss}, ${values.length} seeds) | ${median} (quartiles ${lower}, ${upper}) | | | | | | |\n`;
}

async function* modelsOf(
  name: Name,
  table: Table,
  data: Prepared,
  seen: readonly Cells[],
  columns: Record<string, Domain>,
  settings: Settings,
) {
  const { models } = settings;
  if (models.includes("baselines")) yield* tableBaselines(product(columns), seen);
  if (models.includes("family")) yield familyAsModel(table, await familyOf(name, data, settings));
  if (models.includes("model"))
    yield modelDistribution(await fittedModel(name, seen, columns, settings));
}

/**
 * A table of the study in its units: training rows, test rows, and the domains of the columns.
 */
export async function uciRows(name: Name, folder: string, seed: number) {
  const table = await uciTable(name, folder);
  const data = prepare(table, fold(key(seed), "data"), uciSets[name].options);
  const [train, validation, rows] = [data.train, data.validation, data.test].map((set) =>
    rowsOf(set, data.whitening),
  );
  const seen = [...train, ...validation];
  return { table, data, seen, rows, domains: domainsOf(table.columns, [...seen, ...rows]) };
}

async function runTable(name: Name, settings: Settings): Promise<void> {
  const { folder, seed, loss, records } = settings;
  const { table, data, seen, rows, domains } = await uciRows(name, folder, seed);
  const domain = product(domains);
  const plain = product(Object.fromEntries(table.columns.map((column) => [column, real()])));
  process.stdout.write(await studied(name, table, loss));
  for await (const candidate of modelsOf(name, table, data, seen, domains, settings)) {
    const began = performance.now();
    const { evaluation, drawn } = await evaluateTable(candidate, plain, {
      rows,
      training: seen,
      samples: 2000,
      seed,
    });
    const { likelihood: found, model } = evaluation;
    const { auc, columns, sliced, correlations } = model;
    const outside = drawn.filter((row) => domain.fault(row) !== undefined).length / drawn.length;
    const cells = [
      name,
      candidate.name,
      `${found.mean.toFixed(3)} ± ${found.error.toFixed(3)}`,
      auc ? `${auc.value.toFixed(3)} ± ${auc.error.toFixed(3)}` : "",
      columns[0].distance.toFixed(3),
      (columns.reduce((s, c) => s + c.distance, 0) / columns.length).toFixed(3),
      correlations.most.toFixed(3),
      (sliced.value / sliced.floor).toFixed(2),
      `${(100 * outside).toFixed(1)} %`,
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
    const seconds = (performance.now() - began) / 1000;
    const record = {
      table: name,
      distribution: candidate.name,
      seed,
      seconds,
      likelihood: found,
      outside,
      ...model,
    };
    if (records !== undefined) appendFileSync(records, `${JSON.stringify(record)}\n`);
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
      models: text,
      records: text,
    },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(uciSets, name));
  if (unknown.length > 0) {
    process.stderr.write(
      `unknown table ${unknown.join(", ")}. Tables: ${Object.keys(uciSets).join(", ")}\n`,
    );
    process.exitCode = 2;
    return;
  }
  const heading =
    "table | model | test log-likelihood | AUC | largest KS | mean KS | largest difference of rank correlations | SWD / floor | rows outside";
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
    loss: (values.loss ?? "gssm-vr") as ObjectiveName,
    models: (values.models ?? "baselines,family,model").split(","),
    records: values.records,
    ...(values.steps !== undefined && { steps: Number(values.steps) }),
    runs: values.runs,
  };
  for (const name of positionals.length > 0 ? positionals : Object.keys(uciSets))
    await runTable(name as Name, settings);
}
