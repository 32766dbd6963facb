/**
 * Runs some jobs twice and compares their results, to detect workers that compute wrongly or round
 * differently.
 */
import { fail } from "../graph/index.ts";
import type { Executor, JobResult } from "./executor.ts";
import type { Job } from "./job.ts";

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/**
 * An executor that runs a share of the jobs twice. A job fails if its two results differ in any
 * byte, and both results are removed. Repeated jobs are chosen at random, so workers cannot know
 * them.
 *
 * @param share the share of repeated jobs, from 0 to 1
 * @param random a source of numbers from 0 to 1. Default `Math.random`
 */
export function withRepeats(
  executor: Executor,
  share: number,
  random: () => number = Math.random,
): Executor {
  const compare = async <R>(
    job: Job<object, object, R>,
    first: Promise<JobResult<R>>,
    second: Promise<JobResult<R>>,
  ): Promise<JobResult<R>> => {
    // Waits for both, so that neither is an unhandled rejection if one fails.
    const [one, other] = await Promise.allSettled([first, second]);
    if (one.status === "rejected") throw one.reason;
    if (other.status === "rejected") throw other.reason;
    const [a, b] = [one.value, other.value].map(({ value }) => job.kind.serialize(value));
    if (isEqual(a, b)) return one.value;
    await executor.forget(job);
    await executor.forget(job, { repeat: 1 });
    return fail(
      "data",
      `a job of ${job.kind.name} has different results by ${one.value.worker} and ` +
        `${other.value.worker}`,
      "use machines with processors that round alike, or find the faulty machine; the same " +
        "command repeats the job",
    );
  };
  return {
    ...executor,
    run: (job, options) => {
      const first = executor.run(job, options);
      if (random() >= share) return first;
      return compare(job, first, executor.run(job, { repeat: 1 }));
    },
  };
}
