/** diffeo infer: draws from the posterior that a file of JavaScript describes. */
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Option } from "commander";
import { fail } from "diffeo/graph";
import {
  approximate,
  type ChainStore,
  collectPosterior,
  type Data,
  methods,
  metrics,
  type Origin,
  type Posterior,
  type PosteriorModel,
  samplePosterior,
} from "diffeo/mcmc";
import { chainsFile, inFolder, openChainFolder, type RunConfig } from "diffeo/node";
import { fold, key } from "diffeo/random";
import type { Declare, Io } from "../shell/io.ts";
import { asJobs, withJobOptions } from "../shell/jobs.ts";
import { forceOption, integer, MOST, repeated, share } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { acceptOldOption, acceptOldValue } from "../shell/renamed.ts";
import { version } from "../shell/version.ts";
import { readData } from "./data.ts";
import { drawAsJobs, type InferCommand, jobsFolder, starts, walkOf } from "./jobs.ts";
import { loadPosteriorModel } from "./model.ts";
import { predictionsOf, priorGroups, requirePredictable } from "./predictions.ts";
import { looLines, resultFiles, summaryTable, writePosterior } from "./report.ts";

/** The settings that determine the numbers of a run. */
function configOf(
  model: { readonly path: string; readonly digest: string },
  data: { readonly digest: string } | undefined,
  options: InferCommand,
): RunConfig {
  const { chains, block, seed, start = "random" } = options;
  // Run folders keep the name that the option had at first.
  const { targetAcceptance: acceptance, ...walk } = walkOf(options);
  return {
    version,
    files: { model: model.path, data: options.data?.join(", ") },
    seed,
    chains,
    block,
    ...(start !== "random" && { start }),
    ...walk,
    acceptance,
    model: model.digest,
    data: data?.digest,
  };
}

/** How far each chain is, as shares. */
function chainProgress(
  io: Io,
  chains: number,
  of: number,
): { onDraw: (c: number, done: number) => void; end(): void } {
  const done = new Array<number>(chains).fill(0);
  const bar = progress(io.stderr, chains * of, "sampling");
  return {
    onDraw: (c, at) => {
      done[c] = at;
      const total = done.reduce((a, b) => a + b, 0);
      const each = done.slice(0, 8).map((n, i) => `${i + 1}: ${Math.floor((100 * n) / of)} %`);
      bar.update(total, `chains ${each.join("  ")}${chains > 8 ? "  …" : ""}`);
    },
    end: bar.end,
  };
}

/** Draws in this process from a folder that keeps the chains, or collects chains drawn as jobs. */
async function drawPosterior(
  io: Io,
  model: PosteriorModel,
  data: Data,
  options: InferCommand,
  folder: ChainStore,
): Promise<Posterior> {
  const { chains, block, threads, seed, draws, warmup, start = "random" } = options;
  const shared = { data, key: key(seed), chains, block, threads, ...walkOf(options) };
  if (asJobs(options, jobsFolder(options))) {
    if (start !== "random")
      fail("usage", `--start ${start} with chains as jobs`, "leave one of them out");
    const states = await drawAsJobs(io, model, data, options);
    return collectPosterior(model, states ?? [], shared);
  }
  const { onDraw, end } = chainProgress(io, chains, warmup + draws);
  const begins = start !== "random" && (await folder.load()) === undefined;
  const fit = start === "pathfinder" ? "pathfinder" : "evidence";
  const sampling = {
    ...shared,
    ...(begins && {
      start: await approximate(model, { key: fold(key(seed), "start"), data, fit }),
    }),
    store: folder,
    onDraw,
    // Read when the chains begin, after the code of the model has run: until then Ctrl-C ends the
    // process, also where that code loops.
    get signal() {
      return io.signal;
    },
  };
  return samplePosterior(model, sampling).finally(end);
}

/** Refuses what cannot be begun or continued, before any work. */
async function requireBeginning(file: string, options: InferCommand): Promise<void> {
  const { data, predictAt, out, chains, draws, resume = false, force = false, pictures } = options;
  if (resume && force)
    fail("usage", "--resume continues a run and --force begins it again", "give one of them");
  if (!resume && !force && existsSync(join(out, "config.json")))
    fail(
      "usage",
      `${out} already holds a run`,
      "give --resume to continue it, --force to begin it again, or another --out",
    );
  if (resume && !existsSync(join(out, "config.json")))
    fail("usage", `${out} holds no run to continue`, "leave --resume out to begin one");
  if (resume && existsSync(join(out, "summary.json")))
    fail(
      "usage",
      `the run in ${out} is done`,
      "read its summary.json, begin it again with --force, or give another --out",
    );
  if (chains * draws > MOST.draws)
    fail(
      "usage",
      `${chains} chains of ${draws} draws are more than ${MOST.draws.toLocaleString("en")}`,
      "give fewer --draws or --chains",
    );
  const results = resultFiles(out, chains, pictures, options);
  const inputs = [file, ...(data ?? []), ...(predictAt ?? [])];
  await outputs([{ path: chainsFile(out) }, ...results], { inputs, force: force || resume });
}

/** Clears the results of the run that --force replaces: none of them may seem to be of the new one. */
async function clearRun(out: string): Promise<void> {
  const own =
    /^(chain-\d+\.csv|(config|chains|draws|summary|loo)\.json|(trace|ranks|pairs|predictive)\.(svg|png))$/;
  for (const name of existsSync(out) ? await readdir(out) : [])
    if (own.test(name)) await rm(join(out, name));
}

/** Says in words which file a run was begun with and is now another. */
async function requireSameFiles(
  out: string,
  config: RunConfig,
  files: Readonly<Record<string, string>>,
) {
  const text = await readFile(join(out, "config.json"), "utf8").catch(() => "{}");
  let begun: Readonly<Record<string, unknown>> = {};
  try {
    begun = JSON.parse(text) as typeof begun;
  } catch {
    return; // The folder itself says what is wrong with it.
  }
  for (const [name, path] of Object.entries(files))
    if (name in begun && begun[name] !== config[name])
      fail(
        "usage",
        `${path} has changed since the run in ${out} began: its draws are of another ${name === "model" ? "model" : "set of data"}`,
        "begin again with --force, or restore the file",
      );
}

async function run(io: Io, file: string, options: InferCommand): Promise<void> {
  const {
    data: dataFile,
    out,
    chains,
    draws,
    warmup,
    seed,
    resume = false,
    every,
    pictures,
    json,
  } = options;
  await requireBeginning(file, options);
  const { value: model, digest } = await loadPosteriorModel(file);
  const say = (line: string): void => void io.stderr.write(`${line}\n`);
  const read = dataFile === undefined ? undefined : await readData(dataFile, say);
  const data = read?.value ?? {};
  const config = configOf({ path: file, digest }, read, options);
  const at = options.predictAt && (await readData(options.predictAt, say)).value;
  const asked = { prior: options.prior, predict: options.predict, at, loo: options.loo };
  requirePredictable(model, asked);
  if (resume)
    await requireSameFiles(out, config, { model: file, data: dataFile?.join(", ") ?? "the data" });
  if (options.shard || options.dryRun) return void (await drawAsJobs(io, model, data, options));
  await inFolder(out, async () => {
    const prior = await priorGroups(model, data, seed, options.prior);
    if (options.force) await clearRun(out);
    const folder = await openChainFolder(out, config, { resume, every });
    const began = performance.now();
    const posterior = await drawPosterior(io, model, data, options, folder).catch(
      async (error: unknown) => {
        // A folder in which no chain was saved is not a run.
        if (!existsSync(chainsFile(out))) await rm(join(out, "config.json"));
        throw error;
      },
    );
    const seconds = (performance.now() - began) / 1000;
    const origin: Origin = {
      model: file,
      seed,
      version,
      data: dataFile?.join(", "),
    };
    const found = await predictionsOf(model, posterior, seed, asked);
    const predictions = { ...found, groups: { ...prior, ...found.groups } };
    const files = await writePosterior(io, out, posterior, origin, pictures, predictions);
    await rm(chainsFile(out), { force: true });
    const [summary, warnings] = [posterior.summary(), posterior.warnings()];
    if (json)
      return void io.stdout.write(
        `${JSON.stringify({ out, files, chains, draws, warmup, seconds, warnings, summary, loo: found.loo }, undefined, 1)}\n`,
      );
    io.stdout.write(summaryTable(summary, join(out, "summary.json")));
    if (found.loo) io.stdout.write(looLines(found.loo));
    if (found.warning) io.stdout.write(`warning: ${found.warning}\n`);
    for (const warning of warnings) io.stdout.write(`warning: ${warning}\n`);
    io.stdout.write(
      `${chains} ${chains === 1 ? "chain" : "chains"} of ${draws} draws, ${seconds.toFixed(1)} s: ${out}\n`,
    );
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

export const declare: Declare = (command, io) =>
  void acceptOldOption(
    withJobOptions(command, io)
      .argument(
        "<model>",
        "a JavaScript module whose default export is a model(…), or that exports parameters and logDensity",
      )
      .option(
        "--data <file>",
        "JSON, numbers and arrays by name, or CSV, columns by name; may be repeated",
        repeated,
      )
      .requiredOption("--out <folder>", "where draws, summary and pictures go")
      .option("--chains <n>", "how many chains", integer(1, MOST.chains), 4)
      .option(
        "--block <n>",
        "chains that run together, and are one job (default: the least of 4, 8, … 64 that holds all)",
        integer(1, 1024),
      )
      .option("--draws <n>", "draws per chain", integer(1, MOST.steps), 1000)
      .option(
        "--warmup <n>",
        "transitions before them, in which step size and metric are learned",
        integer(0, MOST.steps),
        1000,
      )
      .option("--seed <n>", "seed of all random numbers", integer(0, MOST.seed), 0)
      .addOption(
        acceptOldValue(
          new Option("--method <name>", "how chains move").choices(Object.keys(methods)),
          io,
          { langevin: "ula" },
        ).default("nuts"),
      )
      .addOption(
        new Option(
          "--metric <name>",
          "mass matrix that chains learn: low-rank for correlated parameters",
        )
          .choices([...metrics])
          .default("diagonal"),
      )
      .addOption(
        new Option(
          "--start <name>",
          "where chains begin: random points, or draws of an approximation",
        )
          .choices([...starts])
          .default("random"),
      )
      .option(
        "--target-acceptance <x>",
        "mean acceptance that the step size is adapted to; larger means smaller steps",
        share,
      )
      .option(
        "--max-depth <n>",
        "nuts: at most 2 to the power of this many steps",
        integer(1, 20),
        10,
      )
      .option("--steps <n>", "hmc: mean number of steps per transition", integer(1, 100_000), 10)
      .option(
        "--every <seconds>",
        "how often chains are saved, so that --resume can continue them",
        integer(0, 86_400),
        10,
      )
      .option("--threads <n>", "threads of one operation", integer(1, 1024), 1)
      .option(
        "--prior <n>",
        "also sample n times from the prior and its predictions",
        integer(1, 1e6),
      )
      .option("--predict", "also predict the observations, with a picture of both")
      .option("--predict-at <file>", "also predict at other data; may be repeated", repeated)
      .option("--loo", "also cross-validate, leaving one observation out at a time")
      .option("--no-pictures", "draw no pictures")
      .option("--resume", "continue the run in --out")
      .option("--json", "print the summary as JSON")
      .addOption(forceOption()),
    io,
    "--acceptance",
    "--target-acceptance",
  )
    .addHelpText("after", EXAMPLES)
    .action((file, options) => run(io, file, options));
