/**
 * diffeo/job: long work as jobs that give the same result wherever and in whatever order they run.
 * Kinds of jobs live beside the work that they do; `diffeo-queue` runs jobs on other processes and
 * machines.
 */
export { nestsDeeply } from "./depth.ts";
export {
  canonical,
  type DescribeOptions,
  describeJob,
  type JobDescription,
  requireDescription,
} from "./description.ts";
export {
  type Executor,
  type JobResult,
  type RunOptions,
  resultsOf,
  runJobs,
  type Settled,
} from "./executor.ts";
export { type InlineOptions, openInline } from "./inline.ts";
export {
  type Input,
  inputOf,
  inputsByName,
  type Job,
  type JobOptions,
  jobOf,
  misfitOf,
} from "./job.ts";
export { type Keeper, openKeeper } from "./keeper.ts";
export type { JobContext, Kind, Kinds } from "./kind.ts";
export { withRepeats } from "./repeat.ts";
export { ofShard, parseShard, type Shard } from "./shard.ts";
