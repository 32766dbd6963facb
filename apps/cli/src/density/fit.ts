/** diffeo density fit: fits a deep kernel exponential family to a table of numbers. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Option } from "commander";
import { fail } from "diffeo/graph";
import { type ObjectiveName, objectives } from "diffeo/matching";
import { inFolder, writeFileAtomic } from "diffeo/node";
import {
  type DensityEvaluation,
  ENOUGH_SAMPLES,
  evaluateDensityFit,
  fitDensitySeeds,
  likelihood,
  type Measures,
  type Prepared,
  plainLikelihood,
  protocol,
  unitGaussian,
} from "diffeo-tables/density";
import { preparedTable, saveDensity, sourceFile } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST, nonNegative, positive, share } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { FIT_FOLDER, MODEL_FILE, type TableCommand, withTableOptions } from "./table.ts";

interface FitCommand extends TableCommand {
  readonly loss: ObjectiveName;
  readonly out: string;
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
  readonly seeds: number;
  readonly accept?: boolean;
  readonly json?: boolean;
  readonly force?: boolean;
}

/**
 * The report on a fitted density, in the units of the fit: those of the table, or whitened ones.
 */
export function fitReport(
  m: Measures,
  steps: number,
  { test, whitening }: Pick<Prepared, "test" | "whitening">,
  whiten: boolean,
): string {
  const unit = unitGaussian(test);
  const lines = [
    `chosen at step ${m.step} of ${steps}`,
    `test score matching   ${m.scoreMatching.mean.toFixed(3)}   (median ` +
      `${m.scoreMatching.median.toFixed(3)}; a unit Gaussian has ` +
      `${unit.scoreMatching.toFixed(2)})`,
    `test log-likelihood   ${likelihood(m).toFixed(3)}   (annealed, ` +
      `${m.annealed.effectiveSamples.toFixed(0)} effective of ${m.annealed.samples} particles; ` +
      `a unit Gaussian has ${unit.logLikelihood.toFixed(2)})`,
  ];
  if (m.importance) {
    const { effectiveSamples, samples } = m.importance;
    lines.push(
      `                      ${plainLikelihood(m)?.toFixed(3)}   (plain importance sampling, ` +
        `${effectiveSamples.toFixed(0)} effective of ${samples})`,
    );
    if (effectiveSamples < ENOUGH_SAMPLES)
      lines.push(
        "warning: few samples of the plain estimate are effective, so its likelihood is " +
          "usually too high",
      );
  }
  if (m.annealed.effectiveSamples < ENOUGH_SAMPLES)
    lines.push("warning: few particles of the annealed estimate are effective");
  lines.push(
    whiten
      ? "all values are in whitened units; in the units of the table, which density score uses, " +
          `the log-likelihood is ${(likelihood(m) + whitening.logDet).toFixed(3)}`
      : "all values are in the units of the table",
  );
  return `${lines.join("\n")}\n`;
}

const filesIn = (out: string) => ({
  model: join(out, MODEL_FILE),
  written: join(out, "report.json"),
});

type PreparedTable = Awaited<ReturnType<typeof preparedTable>>;

const preparedFor = (
  { dequantise, whiten, noise, test, validation, ...options }: FitCommand,
  seed: number,
) =>
  preparedTable(options.data, {
    ...options,
    seed,
    preparation: {
      dequantise,
      whiten,
      noise,
      test,
      validation,
    },
  });

async function fit(io: Io, options: FitCommand): Promise<void> {
  const { out } = options;
  const { model, written } = filesIn(out);
  const requireFree = (): Promise<void> =>
    outputs([{ path: model }, { path: written }], {
      inputs: [sourceFile(options.data, options.folder)],
      force: options.force,
    });
  await requireFree();
  const prepared = await preparedFor(options, options.seed);
  await inFolder(out, async () => {
    // Another fit may have written there while the table was read.
    await requireFree();
    await fitInto(io, options, prepared);
  });
}

const trainingOf = ({ inducing, batch, epochs, patience, rate }: FitCommand) => ({
  inducing,
  batch,
  epochs,
  patience,
  rate,
});

/** The fits of all seeds, with one progress bar each. */
async function fitSeeds(io: Io, options: FitCommand, first: PreparedTable) {
  const { loss, samples, seed, seeds } = options;
  let bar: ReturnType<typeof progress> | undefined;
  const endBar = (): void => {
    bar?.end();
    bar = undefined;
  };
  return fitDensitySeeds({
    loss,
    seed,
    seeds,
    samples,
    ...trainingOf(options),
    signal: io.signal,
    prepare: async (own) => {
      endBar();
      return own === seed ? first : preparedFor(options, own);
    },
    onStep: ({ step, most, validation, best }) => {
      bar ??= progress(io.stderr, most, "fitting");
      bar.update(step, `validation ${validation.toFixed(2)}, best ${best.toFixed(2)}`);
    },
  }).finally(endBar);
}

/** The gain over a Gaussian as text. */
function worthLines({ gaussian: { mean, gain }, clusters: { masses } }: DensityEvaluation): string {
  const size = `${Math.abs(gain.mean).toFixed(3)} ± ${gain.error.toFixed(3)}`;
  const shares = masses.map(
    ({ data, samples }) => `${(100 * data).toFixed(1)} % (${(100 * samples).toFixed(1)})`,
  );
  return (
    `a fitted Gaussian     ${mean.toFixed(3)}   ` +
    `(the model has ${size} ${gain.mean < 0 ? "less" : "more"})\n` +
    `mass by cluster       ${shares.join(", ")}   data (samples)\n`
  );
}

/** Fits, and writes the model and its report. The folder is locked. */
async function fitInto(io: Io, options: FitCommand, first: PreparedTable): Promise<void> {
  const { out, loss, whiten, samples, seeds, accept } = options;
  const { model, written } = filesIn(out);
  const { best, tried } = await fitSeeds(io, options, first);
  const { seed, prepared, run } = best;
  const { table, preparation, data } = prepared;
  const { fit: found, measures, lost, spec } = run;
  await saveDensity(model, spec, found.chosen);
  const { steps, stopped, failure, chosen, curve } = found;
  const worth = await evaluateDensityFit(best, io.signal);
  const report = {
    data: table.source,
    rows: table.rows,
    columns: data.columns,
    // Of the numbers as float64, row by row.
    sha256: createHash("sha256").update(table.values).digest("hex"),
    loss,
    seed,
    seeds: seeds > 1 ? tried : undefined,
    preparation,
    training: trainingOf(options),
    samples,
    steps,
    stopped,
    failure: failure ?? lost?.message,
    measures: measures?.chosen,
    worth,
    curve,
  };
  const json = `${JSON.stringify(report, undefined, 1)}\n`;
  await writeFileAtomic(written, json);
  const chose =
    seeds > 1
      ? `seed ${seed} of ${seeds}, by the likelihood of validation rows: ` +
        `${best.validation.toFixed(3)}\n`
      : "";
  const lines = measures ? fitReport(measures.chosen, steps, data, whiten) : "";
  io.stdout.write(
    options.json ? json : `${chose}${lines}${worth ? worthLines(worth) : ""}${model}\n`,
  );
  if (failure !== undefined)
    fail(
      "numerical",
      `${failure}; the model is from step ${chosen.step}, the best before the ` +
        `failure${lost ? ", and has no normaliser" : ""}`,
      `${whiten ? "use a smaller --rate" : "omit --no-whiten"}, or look for outliers in the table`,
    );
  if (lost) throw lost;
  if (worth && worth.faults.length > 0 && !accept)
    fail(
      "numerical",
      worth.faults.join("; "),
      "the model is written; fit several seeds with --seeds 5, use diffeo table fit, or " +
        "accept the model with --accept",
    );
}

export const declare: Declare = (command, io) =>
  void withTableOptions(command)
    .addOption(
      new Option("--loss <loss>", "loss to minimise")
        .choices(Object.keys(objectives))
        .default("gssm-vr"),
    )
    .option("--out <folder>", "folder for the model and its report", FIT_FOLDER)
    .option("--drop <columns...>", "columns to leave out, by name or number")
    .option("--prune <r>", "drop columns whose correlation with another exceeds this", share)
    .option(
      "--dequantise",
      "add noise of the size of a column's rounding (default: only for the wine tables)",
    )
    .option("--no-dequantise", "do not add this noise")
    .option("--no-whiten", "use the numbers as they are")
    .option(
      "--noise <x>",
      "standard deviation of the noise added after preparation",
      nonNegative,
      0.05,
    )
    .option("--test <share>", "share of the rows used for the test", share, 0.1)
    .option("--validation <share>", "share of the other rows used for validation", share, 0.1)
    .option("--inducing <n>", "inducing points", integer(1, 100_000), protocol.inducing)
    .option("--batch <n>", "points per step, an even number", integer(2, 1_000_000), protocol.batch)
    .option(
      "--epochs <n>",
      "maximum number of passes over the data",
      integer(1, 1e9),
      protocol.epochs,
    )
    .option(
      "--patience <n>",
      "stop after this many steps without a better validation loss",
      integer(1, 1e9),
      protocol.patience,
    )
    .option("--rate <x>", "learning rate", positive, protocol.rate)
    .option("--samples <n>", "samples for the plain normaliser", integer(1000, 1e9), 1_000_000)
    .option("--seed <n>", "seed", integer(0, MOST.seed), 0)
    .option(
      "--seeds <n>",
      "fit this many seeds, starting at --seed, and keep the one with the best validation " +
        "likelihood",
      integer(1, 1000),
      1,
    )
    .option(
      "--accept",
      "exit with 0 even if a Gaussian is better or the mass of a cluster is wrong",
    )
    .option("--json", "print the report as JSON")
    .addOption(forceOption())
    .action((options) => fit(io, options));
