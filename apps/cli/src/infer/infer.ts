/** diffeo infer: draws from the posterior that a file of JavaScript describes. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Option } from "commander";
import { fail } from "diffeo/graph";
import {
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
import { key } from "diffeo/random";
import type { Declare, Io } from "../shell/io.ts";
import { asJobs, withJobOptions } from "../shell/jobs.ts";
import { forceOption, integer, MOST, share } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { acceptOldOption, acceptOldValue } from "../shell/renamed.ts";
import { version } from "../shell/version.ts";
import { drawAsJobs, type InferCommand, jobsFolder, walkOf } from "./jobs.ts";
import { loadPosteriorModel, readData } from "./model.ts";
import { resultFiles, summaryTable, writePosterior } from "./report.ts";

/** The settings that determine the numbers of a run. */
function configOf(
  model: { readonly path: string; readonly digest: string },
  data: { readonly digest: string } | undefined,
  options: InferCommand,
): RunConfig {
  const { chains, block, seed } = options;
  // Run folders keep the name that the option had at first.
  const { targetAcceptance: acceptance, ...walk } = walkOf(options);
  return {
    version,
    files: { model: model.path, data: options.data },
    seed,
    chains,
    block,
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
  const { chains, block, threads, seed, draws, warmup } = options;
  const shared = { data, key: key(seed), chains, block, threads, ...walkOf(options) };
  if (asJobs(options, jobsFolder(options))) {
    const states = await drawAsJobs(io, model, data, options);
    return collectPosterior(model, states ?? [], shared);
  }
  const { onDraw, end } = chainProgress(io, chains, warmup + draws);
  return samplePosterior(model, { ...shared, store: folder, signal: io.signal, onDraw }).finally(
    end,
  );
}

/** Refuses what cannot be begun or continued, before any work. */
async function requireBeginning(file: string, options: InferCommand): Promise<void> {
  const { data, out, chains, draws, resume = false, force = false, pictures } = options;
  if (!resume && existsSync(join(out, "config.json")))
    fail("usage", `${out} already holds a run`, "give --resume to continue it, or another --out");
  if (resume && !existsSync(join(out, "config.json")))
    fail("usage", `${out} holds no run to continue`, "leave --resume out to begin one");
  if (resume && existsSync(join(out, "summary.json")))
    fail(
      "usage",
      `the run in ${out} is done`,
      "read its summary.json, or begin another with another --out",
    );
  if (chains * draws > MOST.draws)
    fail(
      "usage",
      `${chains} chains of ${draws} draws are more than ${MOST.draws.toLocaleString("en")}`,
      "give fewer --draws or --chains",
    );
  const files = [{ path: chainsFile(out) }, ...resultFiles(out, chains, pictures)];
  await outputs(files, { inputs: [file, data], force: force || resume });
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
  const read = dataFile === undefined ? undefined : await readData(dataFile);
  const data = read?.value ?? {};
  const config = configOf({ path: file, digest }, read, options);
  if (options.shard || options.dryRun) return void (await drawAsJobs(io, model, data, options));
  await inFolder(out, async () => {
    const folder = await openChainFolder(out, config, { resume, every });
    const began = performance.now();
    const posterior = await drawPosterior(io, model, data, options, folder).catch(
      async (error: unknown) => {
        // What never kept anything is no run.
        if (!existsSync(chainsFile(out))) await rm(join(out, "config.json"));
        throw error;
      },
    );
    const seconds = (performance.now() - began) / 1000;
    const origin: Origin = {
      model: file,
      seed,
      version,
      data: dataFile,
    };
    const files = await writePosterior(io, out, posterior, origin, pictures);
    await rm(chainsFile(out), { force: true });
    const [summary, warnings] = [posterior.summary(), posterior.warnings()];
    if (json)
      return void io.stdout.write(
        `${JSON.stringify({ out, files, chains, draws, warmup, seconds, warnings, summary }, undefined, 1)}\n`,
      );
    io.stdout.write(summaryTable(summary, join(out, "summary.json")));
    for (const warning of warnings) io.stdout.write(`warning: ${warning}\n`);
    io.stdout.write(
      `${chains} ${chains === 1 ? "chain" : "chains"} of ${draws} draws, ${seconds.toFixed(1)} s: ${out}\n`,
    );
  });
}

export const declare: Declare = (command, io) =>
  void acceptOldOption(
    withJobOptions(command, io)
      .argument(
        "<model>",
        "a JavaScript module whose default export is a model(…), or that exports parameters and logDensity",
      )
      .option("--data <file>", "JSON: numbers and arrays of numbers by name")
      .requiredOption("--out <folder>", "where draws, summary and pictures go")
      .option("--chains <n>", "how many chains", integer(1, MOST.chains), 4)
      .option(
        "--block <n>",
        "chains that run together, and are one job (default: the least of 4, 8, … 64 that holds all)",
        integer(1, 1024),
      )
      .option("--draws <n>", "draws a chain", integer(1, MOST.steps), 1000)
      .option(
        "--warmup <n>",
        "transitions before them, in which steps are learned",
        integer(0, MOST.steps),
        1000,
      )
      .option("--seed <n>", "seed of everything that is drawn", integer(0, MOST.seed), 0)
      .addOption(
        acceptOldValue(
          new Option("--method <name>", "how chains move").choices(Object.keys(methods)),
          io,
          { langevin: "ula" },
        ).default("nuts"),
      )
      .addOption(
        new Option("--metric <name>", "the mass matrix").choices([...metrics]).default("diagonal"),
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
      .option("--steps <n>", "hmc: steps a transition, on average", integer(1, 100_000), 10)
      .option(
        "--every <seconds>",
        "how often the chains are kept, to be continued",
        integer(0, 86_400),
        10,
      )
      .option("--threads <n>", "threads of one operation", integer(1, 1024), 1)
      .option("--no-pictures", "draw no pictures")
      .option("--resume", "continue the run in --out")
      .option("--json", "print the summary as JSON")
      .addOption(forceOption()),
    io,
    "--acceptance",
    "--target-acceptance",
  ).action((file, options) => run(io, file, options));
