/** diffeo density score, sample and picture: what fitted models say about rows, rows that they make, and how they look. */
import { join } from "node:path";
import { type Command, Option } from "commander";
import { tableOf } from "../density/datasets.ts";
import { type DensityModel, loadDensity } from "../density/model-file.ts";
import { densityPicture } from "../density/picture.ts";
import type { Table } from "../density/table.ts";
import { modelColumns, sampleRows, scoreRows } from "../density/use.ts";
import { renderPng } from "../figure/png.ts";
import { key } from "../random/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import { FIT_FOLDER, MODEL_FILE, TABLE_NAMES, withTableOptions } from "./density-fit.ts";
import { integer, interruption } from "./options.ts";

const quoted = (name: string): string => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

function csvOf({ columns, rows, values }: Table): string {
  const n = columns.length;
  const lines = Array.from({ length: rows }, (_, i) =>
    Array.from(values.subarray(i * n, (i + 1) * n), (v) => String(Number(v.toPrecision(8)))).join(","),
  );
  return `${[columns.map(quoted).join(","), ...lines].join("\n")}\n`;
}

async function emit(table: Table, path: string | undefined): Promise<void> {
  if (path === undefined) process.stdout.write(csvOf(table));
  else {
    await writeFileAtomic(path, csvOf(table));
    process.stdout.write(`${table.rows} rows: ${path}\n`);
  }
}

interface ScoreCommand {
  readonly model: string;
  readonly data: string;
  readonly folder: string;
  readonly rows: number;
  readonly out?: string;
}

async function scoreTable({ model: path, data, folder, rows, out }: ScoreCommand): Promise<void> {
  const model = await loadDensity(path);
  const table = await tableOf(data, { folder, rows }, modelColumns(model));
  const found = await scoreRows(model, table);
  const n = model.spec.columns.length;
  const width = n + 1;
  await emit(
    {
      source: data,
      columns: ["log density", ...model.spec.columns.map((name) => `score of ${name}`)],
      rows: table.rows,
      values: Float64Array.from({ length: table.rows * width }, (_, i) => {
        const [row, column] = [Math.floor(i / width), i % width];
        return column === 0 ? found.logDensity[row] : found.score[row * n + column - 1];
      }),
    },
    out,
  );
}

interface SampleCommand {
  readonly model: string;
  readonly count: number;
  readonly method: "hmc" | "langevin";
  readonly steps: number;
  readonly seed: number;
  readonly out?: string;
}

async function sample({ model, count, method, steps, seed, out }: SampleCommand): Promise<void> {
  const options = { method, steps, key: key(seed), signal: interruption() };
  await emit(await sampleRows(await loadDensity(model), count, options), out);
}

interface PictureCommand {
  readonly models: string[];
  readonly data: string;
  readonly folder: string;
  readonly rows: number;
  readonly out: string;
}

async function drawPicture({ models, data, folder, rows, out }: PictureCommand): Promise<void> {
  const loaded: DensityModel[] = [];
  for (const path of models) loaded.push(await loadDensity(path));
  const table = await tableOf(data, { folder, rows }, modelColumns(loaded[0]));
  const svg = await densityPicture(table, loaded);
  await writeFileAtomic(`${out}.svg`, svg);
  await writeFileAtomic(`${out}.png`, renderPng(svg));
  process.stdout.write(`${out}.svg and .png\n`);
}

const fittedOption = (): Option =>
  new Option("--model <file>", "a model that density fit wrote").default(join(FIT_FOLDER, MODEL_FILE));

export function addDensityUse(density: Command): void {
  const score = density
    .command("score")
    .description("log density and score of every row of a table")
    .addOption(fittedOption())
    .requiredOption("--data <table>", `a CSV file with the columns the model was fitted on, or one of ${TABLE_NAMES}`);
  withTableOptions(score).option("--out <file>", "where the CSV goes (default: standard output)").action(scoreTable);
  density
    .command("sample")
    .description("rows drawn from a fitted density")
    .addOption(fittedOption())
    .option("--count <n>", "how many rows", integer(1), 1000)
    .addOption(new Option("--method <method>", "the Markov chain").choices(["hmc", "langevin"]).default("hmc"))
    .option("--steps <n>", "transitions of every chain", integer(1), 200)
    .option("--seed <n>", "seed", integer(0), 0)
    .option("--out <file>", "where the CSV goes (default: standard output)")
    .action(sample);
  const picture = density
    .command("picture")
    .description("densities of two columns and their scores beside the data, as SVG and PNG")
    .requiredOption("--models <files...>", "models that density fit wrote")
    .requiredOption("--data <table>", "the CSV file, or the name of the table, they were fitted to");
  withTableOptions(picture).option("--out <name>", "file name without its ending", "density").action(drawPicture);
}
