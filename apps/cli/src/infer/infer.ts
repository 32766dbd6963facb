/** diffeo infer: samples the posterior of a model in a JavaScript file. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { methods, metrics, type Origin, type Posterior } from "diffeo/mcmc";
import { chainsFile, inFolder, openChainFolder } from "diffeo/node";
import type { Declare, Io } from "../shell/io.ts";
import { withJobOptions } from "../shell/job-options.ts";
import { forceOption, integer, MOST, repeated, share } from "../shell/options.ts";
import { acceptOldOption, acceptOldValue } from "../shell/renamed.ts";
import { version } from "../shell/version.ts";
import { readData } from "./data.ts";
import { drawPosterior } from "./draw.ts";
import { drawAsJobs, type InferCommand, starts } from "./jobs.ts";
import { loadPosteriorModel } from "./model.ts";
import { type Predictions, predictionsOf, priorGroups, requirePredictable } from "./predictions.ts";
import { looLines, summaryTable, writePosterior } from "./report.ts";
import { clearRun, configOf, requireBeginning, requireSameFiles } from "./run-files.ts";

/** Prints the summary of a posterior and its warnings. */
function printSummary(io: Io, posterior: Posterior, found: Predictions, out: string): void {
  io.stdout.write(summaryTable(posterior.summary(), join(out, "summary.json")));
  if (found.loo) io.stdout.write(looLines(found.loo));
  const warnings = [...(found.warning ? [found.warning] : []), ...posterior.warnings()];
  for (const warning of warnings) io.stdout.write(`warning: ${warning}\n`);
}

async function run(io: Io, file: string, options: InferCommand): Promise<void> {
  const { data: dataFiles, out, chains, draws, warmup, seed, resume = false } = options;
  await requireBeginning(file, options);
  const { value: model, digest } = await loadPosteriorModel(file);
  const say = (line: string): void => void io.stderr.write(`${line}\n`);
  const read = dataFiles && (await readData(dataFiles, say));
  const data = read?.value ?? {};
  const config = configOf({ path: file, digest }, read, options);
  const at = options.predictAt && (await readData(options.predictAt, say, read?.labels)).value;
  const wanted = { prior: options.prior, predict: options.predict, at, loo: options.loo };
  requirePredictable(model, wanted);
  const dataNames = dataFiles?.join(", ");
  if (resume) await requireSameFiles(out, config, { model: file, data: dataNames ?? "the data" });
  if (options.shard || options.dryRun) return void (await drawAsJobs(io, model, data, options));
  await inFolder(out, async () => {
    const prior = await priorGroups(model, data, seed, options.prior);
    if (options.force) await clearRun(out);
    const folder = await openChainFolder(out, config, { resume, every: options.every });
    const began = performance.now();
    const posterior = await drawPosterior(io, model, data, options, folder).catch(
      async (error: unknown) => {
        // A folder in which no chain was saved is not a run.
        if (!existsSync(chainsFile(out))) await rm(join(out, "config.json"));
        throw error;
      },
    );
    const seconds = (performance.now() - began) / 1000;
    const origin: Origin = { model: file, seed, version, data: dataNames };
    const found = await predictionsOf(model, posterior, seed, wanted);
    const predictions = { ...found, groups: { ...prior, ...found.groups } };
    const files = await writePosterior(io, out, posterior, origin, options.pictures, predictions);
    await rm(chainsFile(out), { force: true });
    if (options.json) {
      const [summary, warnings] = [posterior.summary(), posterior.warnings()];
      const { loo } = found;
      const report = { out, files, chains, draws, warmup, seconds, warnings, summary, loo };
      return void io.stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
    }
    printSummary(io, posterior, found, out);
    const chainsText = `${chains} ${chains === 1 ? "chain" : "chains"}`;
    io.stdout.write(`${chainsText} of ${draws} draws, ${seconds.toFixed(1)} s: ${out}\n`);
  });
}

const EXAMPLES = `
Examples:
  diffeo infer model.mjs --data data.json --out draws/
  diffeo infer model.mjs --data rows.csv --data sizes.json --out draws/ --draws 2000 --seed 1
  diffeo infer model.mjs --data rows.csv --out draws/ --predict --loo --prior 500
  diffeo infer model.mjs --data rows.csv --out draws/ --resume
  diffeo infer model.mjs --data rows.csv --out draws/ --force --target-acceptance 0.95

A model, in model.mjs:
  import { halfNormal, normal } from "diffeo/distribution";
  import { model } from "diffeo/mcmc";

  export default model(({ parameter, observe }) => {
    const mu = parameter("mu", normal(0, 10));
    const sigma = parameter("sigma", halfNormal(10));
    observe("y", normal(mu, sigma));
  });
`;

/** Adds the options of the chains. */
const withChainOptions = (command: Command, io: Io): Command =>
  command
    .option("--chains <n>", "number of chains", integer(1, MOST.chains), 4)
    .option(
      "--block <n>",
      "chains that run together as one job (default: the smallest of 4, 8, … 64 that holds all)",
      integer(1, 1024),
    )
    .option("--draws <n>", "draws per chain", integer(1, MOST.steps), 1000)
    .option(
      "--warmup <n>",
      "warm-up transitions, which adapt the step size and the metric",
      integer(0, MOST.steps),
      1000,
    )
    .option("--seed <n>", "seed of all random numbers", integer(0, MOST.seed), 0)
    .addOption(
      acceptOldValue(
        new Option("--method <name>", "MCMC method").choices(Object.keys(methods)),
        io,
        { langevin: "ula" },
      ).default("nuts"),
    )
    .addOption(
      new Option(
        "--metric <name>",
        "mass matrix that the warm-up adapts; low-rank is for correlated parameters",
      )
        .choices([...metrics])
        .default("diagonal"),
    )
    .addOption(
      new Option(
        "--start <name>",
        "starting points of chains: random, or draws of an approximation",
      )
        .choices([...starts])
        .default("random"),
    )
    .option(
      "--target-acceptance <x>",
      "target for the mean acceptance, to which the step size is adapted; larger means " +
        "smaller steps",
      share,
    )
    .option(
      "--max-depth <n>",
      "nuts: maximum depth of the tree, of at most 2^depth steps",
      integer(1, 20),
      10,
    )
    .option("--steps <n>", "hmc: mean number of steps per transition", integer(1, 100_000), 10)
    .option(
      "--every <seconds>",
      "seconds between saves of the chains, which --resume continues",
      integer(0, 86_400),
      10,
    )
    .option("--threads <n>", "threads per operation", integer(1, 1024), 1);

/** Adds the options of predictions and results. */
const withResultOptions = (command: Command): Command =>
  command
    .option(
      "--prior <n>",
      "also draw this many samples of the prior and its predictions",
      integer(1, 1e6),
    )
    .option("--predict", "also predict the observations, with a picture of both")
    .option("--predict-at <file>", "also predict at other data; may be repeated", repeated)
    .option("--loo", "also run leave-one-out cross-validation")
    .option("--no-pictures", "draw no pictures")
    .option("--resume", "continue the run in --out")
    .option("--json", "print the summary as JSON")
    .addOption(forceOption());

/** Adds the command's arguments, options and help. */
export const declare: Declare = (command, io) => {
  withJobOptions(command, io)
    .argument(
      "<model>",
      "a JavaScript module whose default export is a model(…), or that exports parameters and " +
        "logDensity",
    )
    .option(
      "--data <file>",
      "JSON (numbers and arrays by name) or CSV (columns by name); may be repeated",
      repeated,
    )
    .requiredOption("--out <folder>", "folder for draws, summary and pictures");
  withResultOptions(withChainOptions(command, io));
  acceptOldOption(command, io, "--acceptance", "--target-acceptance")
    .addHelpText("after", EXAMPLES)
    .action((file, options) => run(io, file, options));
};
