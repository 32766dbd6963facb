/**
 * npm run bench -- uci-tables [TABLE …] [--folder DIR] [--minutes M] [--seed N] [--threads N] [--loss NAME] [--without dkef]: the three UCI
 * tables of the study by a model of their natural domains, beside a Gaussian, a Gaussian copula and independent columns of the same
 * domains, and beside the deep kernel exponential family of the study.
 *
 * Split and dequantisation are the study's, test rows last. All likelihoods are of the same test rows in the units of the table;
 * the family is fitted to whitened points with noise of 0.05 as the study does, and its density taken back through the whitening. Two-sample
 * AUC, columns and distances are taken in the columns as they are, which all laws have in common.
 */
import { parseArgs } from "node:util";
import { between, type Domain, positive, product, real } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import type { ObjectiveName } from "diffeo/matching";
import { fold, key } from "diffeo/random";
import {
  type Cells,
  evaluateTable,
  fitTable,
  modelLaw,
  type PrepareOptions,
  prepare,
  runDensity,
  sampleRows,
  scoreRows,
  type Table,
  type TableLaw,
  tableBaselines,
  uciSets,
} from "diffeo-tables";
import { uciTable } from "diffeo-tables/node";

type Name = keyof typeof uciSets;

/** Dequantisation moves a number by one step at most: what may be 0, or is one step above it, has its bound that much lower. */
const wine = (names: readonly string[]): Record<string, Domain> => ({
  ...Object.fromEntries(names.map((name) => [name, positive()])),
  "citric acid": positive({ above: -0.02 }),
  "free sulfur dioxide": positive({ above: -2 }),
  pH: between(0, 14),
  alcohol: between(0, 100),
});

const parkinsons = (names: readonly string[]): Record<string, Domain> => ({
  ...Object.fromEntries(names.map((name) => [name, positive()])),
  test_time: real(),
  motor_UPDRS: between(0, 108),
  total_UPDRS: between(0, 176),
  ...Object.fromEntries(["RPDE", "DFA", "PPE"].map((name) => [name, between(0, 1)])),
});

const naturals: Readonly<Record<Name, (names: readonly string[]) => Record<string, Domain>>> = {
  "red-wine": wine,
  "white-wine": wine,
  parkinsons,
};

const rowsOf = ({ shape: [count, n], data }: NdArray): Cells[] =>
  Array.from({ length: count }, (_, i) => Array.from(data.subarray(i * n, (i + 1) * n) as Float32Array));

/** The family of the study as a law of rows. */
async function familyLaw(table: Table, options: PrepareOptions, loss: ObjectiveName, seed: number): Promise<TableLaw> {
  const data = prepare(table, fold(key(seed), "data"), options);
  const { fit, spec, lost } = await runDensity(data, { loss, seed, samples: 1000 });
  if (lost) throw lost;
  const model = { spec, fitted: fit.chosen };
  const n = table.columns.length;
  return {
    name: `kernel family (${loss})`,
    score: async (rows) => {
      const own = { ...table, rows: rows.length, values: Float64Array.from(rows.flat() as number[]) };
      return (await scoreRows(model, own)).logDensity;
    },
    draw: async (count, from) => {
      const { values } = await sampleRows(model, count, { key: key(from) });
      return Array.from({ length: count }, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
    },
  };
}

interface Settings {
  readonly folder: string;
  readonly minutes: number;
  readonly seed: number;
  readonly threads: number;
  readonly loss: ObjectiveName;
  readonly without: readonly string[];
}

async function* lawsOf(name: Name, table: Table, seen: readonly Cells[], settings: Settings): AsyncGenerator<TableLaw> {
  const { minutes, seed, threads, loss, without } = settings;
  const columns = naturals[name](table.columns);
  yield* tableBaselines(product(columns), seen);
  if (!without.includes("model"))
    yield modelLaw(await fitTable(seen, { columns, minutes, seed, threads }), { threads });
  if (!without.includes("dkef")) yield familyLaw(table, uciSets[name].options, loss, seed);
}

async function runTable(name: Name, settings: Settings): Promise<void> {
  const { folder, seed } = settings;
  const table = await uciTable(name, folder);
  // The study's rows, but neither whitened nor noised.
  const { train, validation, test } = prepare(table, fold(key(seed), "data"), {
    ...uciSets[name].options,
    whiten: false,
    noise: 0,
  });
  const [seen, rows] = [[...rowsOf(train), ...rowsOf(validation)], rowsOf(test)];
  const natural = product(naturals[name](table.columns));
  const plain = product(Object.fromEntries(table.columns.map((column) => [column, real()])));
  for await (const law of lawsOf(name, table, seen, settings)) {
    const { evaluation, drawn } = await evaluateTable(law, plain, { rows, training: seen, samples: 2000, seed });
    const { likelihood, model } = evaluation;
    const { auc, columns, sliced, correlations } = model;
    const outside = drawn.filter((row) => natural.fault(row) !== undefined).length / drawn.length;
    const cells = [
      name,
      law.name,
      `${likelihood.mean.toFixed(3)} ± ${likelihood.error.toFixed(3)}`,
      `${auc?.value.toFixed(3)} ± ${auc?.error.toFixed(3)}`,
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
      minutes: text,
      seed: text,
      threads: text,
      loss: text,
      without: { ...text, multiple: true },
    },
  });
  const heading =
    "table | law | test log-likelihood | AUC | largest KS | mean KS | largest difference of rank correlations | SWD / floor | rows outside";
  process.stdout.write(
    `| ${heading} |\n|${heading
      .split("|")
      .map(() => "---")
      .join("|")}|\n`,
  );
  const settings = {
    folder: values.folder ?? "data",
    minutes: Number(values.minutes ?? 2),
    seed: Number(values.seed ?? 0),
    threads: Number(values.threads ?? 2),
    loss: (values.loss ?? "gssm-vr") as ObjectiveName,
    without: values.without ?? [],
  };
  const names = positionals.length > 0 ? positionals : Object.keys(uciSets);
  for (const name of names) await runTable(name as Name, settings);
}
