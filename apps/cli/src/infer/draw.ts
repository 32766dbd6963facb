/** The chains of a run: in this process, or as jobs. */
import { fail } from "diffeo/graph";
import {
  approximate,
  type ChainStore,
  collectPosterior,
  type Data,
  type Posterior,
  type PosteriorModel,
  samplePosterior,
} from "diffeo/mcmc";
import { fold, key } from "diffeo/random";
import type { Io } from "../shell/io.ts";
import { asJobs } from "../shell/job-options.ts";
import { progress } from "../shell/progress.ts";
import { drawAsJobs, type InferCommand, jobsFolder, walkOf } from "./jobs.ts";

/** Progress of each chain, as shares. */
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

/** Samples in this process, with chains stored in a folder, or collects chains that run as jobs. */
export async function drawPosterior(
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
      fail(
        "usage",
        `--start ${start} is not available for chains that run as jobs`,
        "omit --start, or run the chains in this process",
      );
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
    // The signal is read when the chains begin, after the code of the model has run. Until then
    // Ctrl-C ends the process, even if that code loops.
    get signal() {
      return io.signal;
    },
  };
  return samplePosterior(model, sampling).finally(end);
}
