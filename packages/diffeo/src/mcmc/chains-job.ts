/**
 * Chains of a posterior as jobs, one block per job. A job gets the file of `serializeChainStep` and
 * not the model's code.
 */
import * as v from "valibot";
import { inputOf, type Job, jobOf, type Kind } from "../job/index.ts";
import { key as keyOf } from "../random/index.ts";
import type { ChainState } from "./chain-state.ts";
import { parseChains, serializeChains } from "./checkpoint.ts";
import { type ChainMethodName, methods } from "./method.ts";
import { type MetricName, metrics } from "./metric.ts";
import type { PosteriorModel } from "./model.ts";
import {
  type ChainStepOptions,
  chainBlock,
  drawChainsFromStep,
  serializeChainStep,
} from "./step-file.ts";

const whole = (least: number, most: number) =>
  v.pipe(v.number(), v.safeInteger(), v.minValue(least), v.maxValue(most));

/** Parameters of a job: which chains it samples, and their settings. */
export interface ChainsParameters {
  /** The number of the first chain, a multiple of the block. */
  readonly first: number;
  /** How many chains, at most a block. */
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

/** Inputs of a job: the file of `serializeChainStep`. */
export interface ChainsInputs {
  readonly step: Uint8Array;
}

const parameters: v.GenericSchema<unknown, ChainsParameters> = v.strictObject({
  first: whole(0, 10_000),
  count: whole(1, 10_000),
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  draws: whole(1, 10_000_000),
  warmup: whole(0, 10_000_000),
  method: v.custom<ChainMethodName>(
    (name) => typeof name === "string" && Object.hasOwn(methods, name),
  ),
  metric: v.picklist(metrics),
  maxDepth: whole(1, 20),
  steps: whole(1, 100_000),
  targetAcceptance: v.optional(v.pipe(v.number(), v.gtValue(0), v.ltValue(1))),
});

/** Transitions between two reports. */
const EVERY = 50;

/** The kind of a job that samples chains; the result is each chain's state at its last draw. */
export const chainsKind: Kind<ChainsParameters, ChainsInputs, readonly ChainState[]> = {
  name: "infer/chains",
  version: 2,
  parameters,
  inputs: { step: (bytes) => bytes },
  run: async ({ seed, ...job }, { input, threads = 1, report, signal }) => {
    const done = new Array<number>(job.count).fill(0);
    return drawChainsFromStep(await input("step"), {
      ...job,
      key: keyOf(seed),
      threads,
      signal,
      onDraw: (chain, at, of) => {
        done[chain - job.first] = at / of;
        if (at % EVERY === 0) report(done.reduce((a, b) => a + b, 0) / job.count);
      },
    });
  },
  serialize: (chains) => new TextEncoder().encode(serializeChains(chains)),
  parse: (bytes, source) => parseChains(new TextDecoder().decode(bytes), source),
  misfit: (chains, { count, draws, warmup }) => {
    if (chains.length !== count) return `it has ${chains.length} chains, the job has ${count}`;
    const other = chains.find(
      ({ value, done }) => value.length !== draws || done !== draws + warmup,
    );
    return other && `a chain has ${other.value.length} draws, the job has ${draws}`;
  },
};

/** The options that all jobs of a posterior share. */
export interface ChainsJobsOptions
  extends ChainStepOptions,
    Omit<ChainsParameters, "first" | "count" | "metric"> {
  readonly metric: MetricName;
}

/**
 * The chains of a model as jobs, one block per job. `collectPosterior` makes a posterior of their
 * results, which is the same as that of `samplePosterior` with the same options.
 */
export function chainsJobs(
  model: PosteriorModel,
  { data, block, chains, ...run }: ChainsJobsOptions,
): Job<ChainsParameters, ChainsInputs, readonly ChainState[]>[] {
  const options: ChainStepOptions = { data, block, chains, metric: run.metric };
  const step = inputOf<Uint8Array>(serializeChainStep(model, options));
  const rows = chainBlock(options);
  return Array.from({ length: Math.ceil(chains / rows) }, (_, i) =>
    jobOf(
      chainsKind,
      { ...run, first: i * rows, count: Math.min(rows, chains - i * rows) },
      { inputs: { step } },
    ),
  );
}
