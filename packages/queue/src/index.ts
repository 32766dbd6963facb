/**
 * diffeo-queue: jobs of long work, described so that whoever does them gives the same bytes. What
 * does them is in node.
 */
export type { Executor, JobResult, RunOptions, Settled } from "./job/executor.ts";
export { runJobs } from "./job/executor.ts";
export { canonical, type Job, jobOf, requireJob } from "./job/job.ts";
export type { JobContext, Kind, Kinds } from "./job/kind.ts";
export { ofShard, parseShard, type Shard } from "./job/shard.ts";
