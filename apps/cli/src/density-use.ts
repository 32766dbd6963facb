/** diffeo density score, sample and picture: what fitted models say about rows, rows that they make, and how they look. */
import { join } from "node:path";
import { type Command, Option } from "commander";
import { writeFileAtomic } from "diffeo/node";
import { key } from "diffeo/random";
import { renderPng } from "diffeo-picture/node";
import type { Table } from "diffeo-tables";
import { type DensityModel, densityPicture, modelColumns, sampleRows, scoreRows } from "diffeo-tables";
import { loadDensity, tableOf } from "diffeo-tables/node";
import { FIT_FOLDER, MODEL_FILE } from "./density-fit.ts";
import { type TableCommand, withTableOptions } from "./density-table.ts";
import { checkWritable, integer, interruption } from "./options.ts";

const quoted = (name: string): string => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

function csvOf({ columns, rows, values }: Table): string {
  const n = columns.length;
  const lines = Array.from({ length: rows }, (_, i) => values.subarray(i * n, (i + 1) * n).join(","));
  return `${[columns.map(quoted).join(","), ...lines].join("\n")}\n`;
}

async function emit(table: Table, path: string | undefined): Promise<void> {
  if (path === undefined) process.stdout.write(csvOf(table));
  else {
    await writeFileAtomic(path, csvOf(table));
    process.stdout.write(`${table.rows} rows: ${path}\n`);
  }
}

interface ScoreCommand extends TableCommand {
  readonly model: string;
  readonly out?: string;
}

async function scoreTable({ model: path, out, ...options }: ScoreCommand): Promise<void> {
  const model = await loadDensity(path);
  const table = await tableOf(options.data, options, modelColumns(model));
  await checkWritable(out);
  const found = await scoreRows(model, table);
  const n = model.spec.columns.length;
  const width = n + 1;
  await emit(
    {
      source: table.source,
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

async function sample({ model: path, count, method, steps, seed, out }: SampleCommand): Promise<void> {
  const model = await loadDensity(path);
  await checkWritable(out);
  await emit(await sampleRows(model, count, { method, steps, key: key(seed), signal: interruption() }), out);
}

interface PictureCommand extends TableCommand {
  readonly models: string[];
  readonly out: string;
}

async function drawPicture({ models, out, ...options }: PictureCommand): Promise<void> {
  const loaded: DensityModel[] = [];
  for (const path of models) loaded.push(await loadDensity(path));
  const table = await tableOf(options.data, options, modelColumns(loaded[0]));
  await checkWritable(`${out}.svg`, `${out}.png`);
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
    .addOption(fittedOption());
  withTableOptions(score, "a CSV file with the columns the model was fitted on")
    .option("--out <file>", "where the CSV goes (default: standard output)")
    .action(scoreTable);
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
    .requiredOption("--models <files...>", "models that density fit wrote");
  withTableOptions(picture, "the CSV file they were fitted to")
    .option("--out <name>", "file name without its ending", "density")
    .action(drawPicture);
}
