/**
 * Chains of a posterior as jobs: a block of them each. The model travels as the file of
 * `carriedStep`, not as its code.
 */
import {
  type ChainMethodName,
  type ChainState,
  carriedStep,
  chainBlock,
  drawCarried,
  type MetricName,
  methods,
  metrics,
  type PosteriorModel,
  parseChains,
  serializeChains,
} from "diffeo/mcmc";
import { key as keyOf } from "diffeo/random";
import { jobOf, type Kind } from "diffeo-queue";
import { sha256 } from "diffeo-queue/node";
import * as v from "valibot";
import type { Io } from "../shell/io.ts";
import { doJobs, type JobOptions, RELEASE, requireNone } from "../shell/jobs.ts";
import { MOST } from "../shell/options.ts";

export interface InferCommand extends JobOptions {
  readonly data?: string;
  readonly out: string;
  readonly chains: number;
  readonly block?: number;
  readonly draws: number;
  readonly warmup: number;
  readonly seed: number;
  readonly method: ChainMethodName;
  readonly metric: MetricName;
  readonly targetAcceptance?: number;
  readonly maxDepth: number;
  readonly steps: number;
  readonly every: number;
  readonly threads: number;
  readonly pictures: boolean;
  readonly resume?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** How chains walk: what the numbers of one are made of, beside the model and its seed. */
export const walkOf = ({
  draws,
  warmup,
  method,
  metric,
  targetAcceptance,
  maxDepth,
  steps,
}: InferCommand) => ({
  draws,
  warmup,
  method,
  metric,
  targetAcceptance,
  maxDepth,
  steps,
});

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

export interface ChainsJob {
  readonly first: number;
  readonly count: number;
  readonly seed: number;
  readonly draws: number;
  readonly warmup: number;
  readonly method: ChainMethodName;
  readonly metric: MetricName;
  readonly maxDepth: number;
  readonly steps: number;
  readonly targetAcceptance?: number;
}

const parameters: v.GenericSchema<unknown, ChainsJob> = v.strictObject({
  first: whole(0, MOST.chains),
  count: whole(1, MOST.chains),
  seed: whole(0, MOST.seed),
  draws: whole(1, MOST.steps),
  warmup: whole(0, MOST.steps),
  method: v.custom<ChainMethodName>(
    (name) => typeof name === "string" && Object.hasOwn(methods, name),
  ),
  metric: v.picklist(metrics),
  maxDepth: whole(1, 20),
  steps: whole(1, 100_000),
  targetAcceptance: v.optional(v.pipe(v.number(), v.gtValue(0), v.ltValue(1))),
});

export const chainsKind: Kind<ChainsJob, readonly ChainState[]> = {
  name: "infer/chains",
  version: 1,
  parameters,
  run: async ({ seed, ...job }, { input, threads = 1, report, signal }) => {
    const done = new Array<number>(job.count).fill(0);
    return drawCarried(await input("step"), {
      ...job,
      key: keyOf(seed),
      threads,
      ...(signal && { signal }),
      onDraw: (chain, at, of) => {
        done[chain - job.first] = at / of;
        if (at % 50 === 0) report(done.reduce((a, b) => a + b, 0) / job.count);
      },
    });
  },
  make: (chains) => Buffer.from(serializeChains(chains)),
  parse: (bytes, source) => parseChains(new TextDecoder().decode(bytes), source),
};

/** Where shards leave their chains. */
export const jobsFolder = ({ out }: Pick<InferCommand, "out">): string => `${out}.jobs`;

/** All chains at their last draw, drawn as jobs. Nothing where there is nothing to collect. */
export async function drawAsJobs(
  io: Io,
  model: PosteriorModel,
  data: Parameters<typeof carriedStep>[1]["data"],
  options: InferCommand,
): Promise<readonly ChainState[] | undefined> {
  const { chains, seed, metric, block, threads } = options;
  const carried = { chains, metric, block, data };
  const step = carriedStep(model, carried);
  const rows = chainBlock(carried);
  const shared = { seed, ...walkOf(options) };
  const setting = { release: RELEASE, device: "cpu", inputs: { step: sha256(step) } };
  const jobs = Array.from({ length: Math.ceil(chains / rows) }, (_, i) => {
    const count = Math.min(rows, chains - i * rows);
    return {
      job: jobOf(chainsKind, { ...shared, first: i * rows, count }, setting),
      size: count,
    };
  });
  let states: readonly ChainState[] | undefined;
  const failed = await doJobs<ChainsJob, readonly ChainState[]>(
    io,
    options,
    {
      ...{
        what: "sampling",
        unit: "chains",
        kind: chainsKind,
        device: "cpu",
        threads,
        inputs: [step],
      },
      ...{ folder: jobsFolder(options), signal: io.signal },
    },
    [{ name: "chains", jobs }],
    async ({ results }) => {
      states = results.flat();
    },
  );
  if (failed) requireNone(io, failed);
  return states;
}
