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
