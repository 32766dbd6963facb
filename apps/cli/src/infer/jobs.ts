/** Options of `diffeo infer`, and chains as jobs. */
import {
  type ChainMethodName,
  type ChainState,
  type ChainsParameters,
  chainsJobs,
  type Data,
  type MetricName,
  type PosteriorModel,
} from "diffeo/mcmc";
import type { Io } from "../shell/io.ts";
import { planOrShard } from "../shell/job-groups.ts";
import type { JobOptions } from "../shell/job-options.ts";
import { collectJobs, type Work } from "../shell/jobs.ts";

/** Where chains begin: at random, or at draws of an approximation. */
export const starts = ["random", "approximation", "pathfinder"] as const;
type StartName = (typeof starts)[number];

export interface InferCommand extends JobOptions {
  readonly data?: readonly string[];
  readonly prior?: number;
  readonly predict?: boolean;
  readonly predictAt?: readonly string[];
  readonly loo?: boolean;
  readonly out: string;
  readonly chains: number;
  readonly block?: number;
  readonly draws: number;
  readonly warmup: number;
  readonly seed: number;
  readonly method: ChainMethodName;
  readonly metric: MetricName;
  readonly start?: StartName;
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

/** Options of the Markov chains. */
const WALK = [
  "draws",
  "warmup",
  "method",
  "metric",
  "targetAcceptance",
  "maxDepth",
  "steps",
] as const satisfies readonly (keyof InferCommand)[];

/** Settings of the chains. With the model and the seed, they determine the draws. */
export const walkOf = (options: InferCommand) =>
  Object.fromEntries(WALK.map((name) => [name, options[name]])) as Pick<
    InferCommand,
    (typeof WALK)[number]
  >;

/** The folder in which shards store their chains. */
export const jobsFolder = ({ out }: Pick<InferCommand, "out">): string => `${out}.jobs`;

/**
 * Runs all chains to their last draw as jobs. Returns undefined if this process collects nothing.
 */
export async function drawAsJobs(
  io: Io,
  model: PosteriorModel,
  data: Data,
  options: InferCommand,
): Promise<readonly ChainState[] | undefined> {
  const { chains, seed, block, threads } = options;
  const jobs = chainsJobs(model, { data, chains, block, seed, ...walkOf(options) });
  const work: Work<ChainsParameters> = {
    what: "sampling",
    unit: "chains",
    sizeOf: ({ count }) => count,
    device: "cpu",
    threads,
    folder: jobsFolder(options),
    signal: io.signal,
  };
  if (await planOrShard(io, options, work, () => [{ name: "chains", jobs }])) return undefined;
  return collectJobs(io, options, work, jobs, async (results) => {
    const states: ChainState[] = [];
    for await (const { value } of results) states.push(...value);
    return states;
  });
}
