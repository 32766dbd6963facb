/** diffeo density fit: a deep kernel exponential family on a table of numbers. */
import { join } from "node:path";
import { type Command, Option } from "commander";
import { preparationOf, tableOf, uciSets } from "../density/datasets.ts";
import { ENOUGH_SAMPLES } from "../density/evaluate.ts";
import { type Fit, fitDensity } from "../density/fit.ts";
import { likelihood, type Measures, measureFitted } from "../density/measure.ts";
import { saveDensity } from "../density/model-file.ts";
import { prepare, prune } from "../density/prepare.ts";
import { synthetics } from "../density/synthetic.ts";
import { without } from "../density/table.ts";
import { DiffeoError, fail } from "../graph/index.ts";
import { type ObjectiveName, objectives } from "../matching/index.ts";
import { fold, key } from "../random/index.ts";
import { writeFileAtomic } from "../train/index.ts";
import { integer, interruption, nonNegative, positive, share } from "./options.ts";
import { progress } from "./progress.ts";

interface FitCommand {
  readonly data: string;
  readonly folder: string;
  readonly loss: ObjectiveName;
  readonly out: string;
  readonly rows: number;
  readonly drop?: string[];
  readonly prune?: number;
  readonly dequantise?: boolean;
  readonly whiten: boolean;
  readonly noise: number;
  readonly test: number;
  readonly validation: number;
  readonly inducing: number;
  readonly batch: number;
  readonly epochs: number;
  readonly patience: number;
  readonly rate: number;
  readonly samples: number;
  readonly seed: number;
  readonly json?: boolean;
}

/** What --data may name beside files. */
export const TABLE_NAMES = [...Object.keys(uciSets), ...Object.keys(synthetics)].join(", ");

/** Adds --folder and --rows, which named tables need. */
export const withTableOptions = (command: Command): Command =>
  command
    .option("--folder <folder>", "where the UCI files are, or are fetched to", "data")
    .option("--rows <n>", "rows of a generated table", integer(10), 2000);

/** Where fit puts its model, and where score and sample look for it. */
export const FIT_FOLDER = "runs/density";
export const MODEL_FILE = "model.safetensors";

function report(m: Measures, found: Fit, n: number): string {
  const floor = { sm: -n / 2, ll: (-n / 2) * (1 + Math.log(2 * Math.PI)) };
  const lines = [
    `chosen at step ${m.step} of ${found.steps}`,
    `test score matching   ${m.scoreMatching.mean.toFixed(3)}   (median ${m.scoreMatching.median.toFixed(3)}; a unit Gaussian has about ${floor.sm.toFixed(2)})`,
    `test log-likelihood   ${likelihood(m).toFixed(3)}   (annealed, ${m.annealed.effectiveSamples.toFixed(0)} effective of ${m.annealed.samples} particles; a unit Gaussian has about ${floor.ll.toFixed(2)})`,
  ];
  if (m.importance) {
    const { logZ, effectiveSamples, samples } = m.importance;
    lines.push(
      `                      ${(m.logDensity.mean - logZ).toFixed(3)}   (plain importance sampling, ${effectiveSamples.toFixed(0)} effective of ${samples})`,
    );
    if (effectiveSamples < ENOUGH_SAMPLES)
      lines.push("warning: the plain estimate rests on few draws, and then the likelihood it gives is too high");
  }
  if (m.annealed.effectiveSamples < ENOUGH_SAMPLES)
    lines.push("warning: the annealed estimate rests on few particles too");
  return `${lines.join("\n")}\n`;
}

async function run(options: FitCommand): Promise<void> {
  const { out, loss, seed } = options;
  const whole = await tableOf(options.data, options, without(options.drop ?? []));
  const table = options.prune === undefined ? whole : prune(whole, options.prune);
  const data = prepare(table, fold(key(seed), "data"), {
    ...preparationOf(options.data),
    ...(options.dequantise !== undefined && { dequantise: options.dequantise }),
    whiten: options.whiten,
    noise: options.noise,
    test: options.test,
    validation: options.validation,
  });
  const signal = interruption();
  let bar: ReturnType<typeof progress> | undefined;
  const found = await fitDensity(data, {
    loss,
    seed,
    inducing: options.inducing,
    batch: options.batch,
    epochs: options.epochs,
    patience: options.patience,
    rate: options.rate,
    signal,
    onStep: ({ step, most, validation, best }) => {
      bar ??= progress(most, "fitting");
      bar.update(step, `validation ${validation.toFixed(2)}, best ${best.toFixed(2)}`);
    },
  });
  bar?.end();
  let lost: DiffeoError | undefined;
  const measures = await measureFitted(found.chosen, data, {
    key: fold(key(seed), "measure"),
    samples: options.samples,
    signal,
  }).catch((error: unknown) => {
    if (!(error instanceof DiffeoError) || error.kind !== "numerical") throw error;
    lost = error;
    return undefined;
  });
  const model = join(out, MODEL_FILE);
  await saveDensity(
    model,
    { loss, seed, columns: data.columns, whitening: data.whitening, ...(measures && { logZ: measures.annealed.logZ }) },
    found.chosen,
  );
  const { curve, steps, stopped } = found;
  const failure = found.failure ?? lost?.message;
  const told = { data: table.source, loss, seed, columns: data.columns, steps, stopped, failure, measures, curve };
  const json = `${JSON.stringify(told, undefined, 1)}\n`;
  await writeFileAtomic(join(out, "report.json"), json);
  process.stdout.write(options.json ? json : `${measures ? report(measures, found, data.n) : ""}${model}\n`);
  if (found.failure !== undefined)
    fail(
      "numerical",
      `${found.failure}; the model is that of step ${found.chosen.step}, the best before it${lost ? ", and has no normaliser" : ""}`,
      `${options.whiten ? "use a smaller --rate" : "leave out --no-whiten"}, or look for outliers in the table`,
    );
  if (lost) throw lost;
}

export function addDensityFit(density: Command): void {
  const fit = density
    .command("fit")
    .description("fit a deep kernel exponential family to a table of numbers; interrupted, it keeps nothing")
    .requiredOption("--data <table>", `a CSV file, or one of ${TABLE_NAMES}`);
  withTableOptions(fit)
    .addOption(new Option("--loss <loss>", "what to minimise").choices(Object.keys(objectives)).default("gssm-vr"))
    .option("--out <folder>", "where the model and its report go", FIT_FOLDER)
    .option("--drop <columns...>", "columns to leave out, by name or number")
    .option("--prune <r>", "drop columns that correlate with another beyond this", share)
    .option("--dequantise", "add noise of the size of a column's steps (default: for the wines alone)")
    .option("--no-dequantise", "add none")
    .option("--no-whiten", "use the numbers as they are")
    .option("--noise <x>", "standard deviation of the noise added in the end", nonNegative, 0.05)
    .option("--test <share>", "share of the rows for the test", share, 0.1)
    .option("--validation <share>", "share of the others for validation", share, 0.1)
    .option("--inducing <n>", "inducing points", integer(1), 200)
    .option("--batch <n>", "points a step, an even number", integer(2), 200)
    .option("--epochs <n>", "passes over the data at most", integer(1), 500)
    .option("--patience <n>", "steps without a better validation loss before it stops", integer(1), 200)
    .option("--rate <x>", "learning rate", positive, 1e-2)
    .option("--samples <n>", "draws of the plain normaliser", integer(1000), 1_000_000)
    .option("--seed <n>", "seed", integer(0), 0)
    .option("--json", "print the report as JSON")
    .action(run);
}
