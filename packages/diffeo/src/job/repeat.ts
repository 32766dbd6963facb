/**
 * Some jobs done twice, and their results compared: what a worker that computes wrong, or a machine
 * that rounds otherwise, is found by.
 */
import { fail } from "../graph/index.ts";
import type { Executor, JobResult } from "./executor.ts";
import type { Job } from "./job.ts";

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/**
 * An executor that does a share of the jobs twice and fails those whose two results differ in any
 * byte. Both results are forgotten then. Which jobs are repeated is chosen at random, so that no
 * worker knows it before.
 *
 * @param share from 0 to 1: 0.05 repeats about one job in 20
 * @param random numbers from 0 to 1. Default `Math.random`
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
    // Both are waited for: one that fails alone must not leave the other unheard.
    const [one, other] = await Promise.allSettled([first, second]);
    if (one.status === "rejected") throw one.reason;
    if (other.status === "rejected") throw other.reason;
    const [a, b] = [one.value, other.value].map(({ value }) => job.kind.serialize(value));
    if (isEqual(a, b)) return one.value;
    await executor.forget(job);
    await executor.forget(job, { repeat: 1 });
    return fail(
      "data",
      `a job of ${job.kind.name} has one result by ${one.value.worker} and another by ` +
        `${other.value.worker}`,
      "one of them computes wrong, or their processors round differently: use machines of one " +
        "kind, or find the one that is wrong; the same command does the job again",
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
