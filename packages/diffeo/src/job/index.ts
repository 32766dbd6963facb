/**
 * diffeo/job: long computations as jobs, whose results do not depend on where and in which order
 * they run. Kinds of jobs are defined next to their work; `diffeo-queue` runs jobs on other
 * processes and machines.
 */
export {
  type Executor,
  type JobResult,
  type RunOptions,
  resultsOf,
  runJobs,
  type Settled,
} from "./executor.ts";
export { type InlineOptions, openInline } from "./inline.ts";
export { type Input, inputOf, type Job, type JobOptions, jobOf } from "./job.ts";
export type { JobContext, Kind, Kinds } from "./kind.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { nestsDeeply } from "./depth.ts";
/** @internal */
export { canonical, describeJob, type JobDescription, requireDescription } from "./description.ts";
/** @internal */
export { inputsByName, misfitOf } from "./job.ts";
/** @internal */
export { openKeeper } from "./keeper.ts";
/** @internal */
export { withRepeats } from "./repeat.ts";
/** @internal */
export { ofShard, parseShard, type Shard } from "./shard.ts";
