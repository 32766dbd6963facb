/** diffeo calibrate: simulation-based calibration of a model written as model(…). */
import { join } from "node:path";
import { fail } from "diffeo/graph";
import { type Calibration, calibrate, type StatementModel } from "diffeo/mcmc";
import { writeFileAtomic } from "diffeo/node";
import { key } from "diffeo/random";
import type { Declare, Io } from "../shell/io.ts";
import { forceOption, integer, MOST, repeated, share } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { pictureFiles, writePicture } from "../shell/pictures.ts";
import { progress } from "../shell/progress.ts";
import { readData } from "./data.ts";
import { loadPosteriorModel } from "./model.ts";

interface CalibrateCommand {
  readonly data?: readonly string[];
  readonly out?: string;
  readonly datasets: number;
  readonly thin: number;
  readonly warmup: number;
  readonly targetAcceptance: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly force?: boolean;
}

/** How many quantities a picture shows, those with the least uniform ranks first. */
const SHOWN = 12;

const sorted = ({ ranks }: Calibration) =>
  Object.entries(ranks).toSorted(([, a], [, b]) => a.p - b.p);

function lines(found: Calibration): string {
  const rows = sorted(found);
  const width = Math.max(...rows.map(([name]) => name.length));
  const limit = 0.01 / rows.length;
  const wrong = rows.filter(([, { p }]) => p < limit).map(([name]) => name);
  const verdict =
    wrong.length > 0
      ? `warning: the ranks of ${wrong.slice(0, 5).join(", ")} are not uniform (p below ` +
        `${limit.toPrecision(2)}). Either the simulated model is not the fitted one, or chains ` +
        "do not reach parts of the posterior."
      : `${found.datasets} datasets: all ranks are uniform within chance.`;
  const diverged = found.diverged > 0 ? [`${found.diverged} transitions diverged.`] : [];
  const ranks = rows.map(([name, { p }]) => `${name.padEnd(width)}  p ${p.toFixed(3)}`);
  return `${[...ranks, ...diverged, verdict].join("\n")}\n`;
}

async function run(io: Io, file: string, options: CalibrateCommand): Promise<void> {
  const { out, datasets, seed, json, force, ...rest } = options;
  if (out !== undefined)
    await outputs(
      [{ path: join(out, "calibration.json") }, ...pictureFiles(join(out, "calibration"))],
      {
        inputs: [file, ...(rest.data ?? [])],
        force,
      },
    );
  const { value: model } = await loadPosteriorModel(file);
  if (!("program" in model))
    fail(
      "usage",
      `${file} exports a log-density, which cannot simulate data`,
      "write it as model(({ parameter, observe }, data) => …)",
    );
  const say = (line: string): void => void io.stderr.write(`${line}\n`);
  const data = rest.data ? (await readData(rest.data, say)).value : {};
  const bar = progress(io.stderr, Math.ceil(datasets / 64), "calibrating");
  const found = await calibrate(model as StatementModel, {
    key: key(seed),
    data,
    datasets,
    thin: rest.thin,
    warmup: rest.warmup,
    targetAcceptance: rest.targetAcceptance,
    // The signal is read after the code of the model has run: until then Ctrl-C ends the process.
    get signal() {
      return io.signal;
    },
    onRound: (done) => bar.update(done, `${64 * done} datasets`),
  }).finally(bar.end);
  if (out !== undefined) {
    const { ranksPicture } = await import("diffeo-picture/posterior");
    const shown = sorted(found).slice(0, SHOWN);
    const counts = Object.fromEntries(shown.map(([name, own]) => [name, own.counts]));
    await writePicture(io, join(out, "calibration"), ranksPicture(counts));
    await writeFileAtomic(
      join(out, "calibration.json"),
      `${JSON.stringify(found, undefined, 1)}\n`,
    );
  }
  io.stdout.write(json ? `${JSON.stringify(found, undefined, 1)}\n` : lines(found));
}

export const declare: Declare = (command, io) =>
  void command
    .argument("<model>", "a JavaScript module whose default export is a model(…)")
    .option(
      "--data <file>",
      "covariates and sizes, JSON or CSV as for infer; observations are simulated; may be repeated",
      repeated,
    )
    .option("--out <folder>", "folder for calibration.json and a picture of the ranks")
    .option("--datasets <n>", "number of simulated datasets, in rounds of 64", integer(1, 1e6), 256)
    .option("--thin <n>", "transitions per recorded draw", integer(1, 1000), 5)
    .option("--warmup <n>", "warm-up transitions", integer(0, MOST.steps), 300)
    .option(
      "--target-acceptance <x>",
      "target for the mean acceptance, to which the step size is adapted",
      share,
      0.9,
    )
    .option("--seed <n>", "seed of all random numbers", integer(0, MOST.seed), 0)
    .option("--json", "print ranks and p as JSON")
    .addOption(forceOption())
    .addHelpText(
      "after",
      "\nExample:\n  diffeo calibrate model.mjs --data covariates.csv --datasets 512 --out " +
        "calibration/\n",
    )
    .action((file, options) => run(io, file, options));
