/** Executors of jobs: this process, local processes, or workers of a queue. */
import type { Closable } from "../host/index.ts";
import type { Job } from "./job.ts";

/** The result of a job, with its duration and worker. */
export interface JobResult<R> {
  readonly value: R;
  /** The seconds that the job took. */
  readonly seconds: number;
  /** The name of the worker. */
  readonly worker: string;
}

/** Options of a run of one job. */
export interface RunOptions {
  /** Called with the completed share of the job, if it is known. */
  readonly onProgress?: (share: number) => void;
  /**
   * Runs the job again, even if its result is known. The results of repetitions 1, 2, … are stored
   * separately.
   */
  readonly repeat?: number;
}

/**
 * Runs jobs. Results of the same process are passed directly; those of other processes are parsed
 * and checked against the job.
 */
export interface Executor extends Closable {
  /** Runs a job. Jobs are started in the order of the calls. */
  run<R>(job: Job<object, object, R>, options?: RunOptions): Promise<JobResult<R>>;
  /** Removes a stored result, so that the next run repeats the job. */
  forget(job: Job, options?: RunOptions): Promise<void>;
  /** The number of jobs that can run in parallel, as far as is known. */
  workers(): number;
  /** Closes the executor; jobs that have not started fail. */
  close(): Promise<void>;
}

/** The result or the error of a job. */
export type Settled<R> = { readonly result: JobResult<R> } | { readonly error: Error };

/**
 * Runs all jobs, also if some fail.
 *
 * @param on callbacks: `settled` once per job when it ends, `progress` with completed shares of a
 * job
 * @returns the result or the error of each job, in order
 */
export async function runJobs<R>(
  executor: Pick<Executor, "run">,
  jobs: readonly Job<object, object, R>[],
  on: {
    readonly settled?: (settled: Settled<R>, index: number) => void | Promise<void>;
    readonly progress?: (share: number, index: number) => void;
  } = {},
): Promise<Settled<R>[]> {
  return Promise.all(
    jobs.map(async (job, i): Promise<Settled<R>> => {
      const settled: Settled<R> = await executor
        .run(job, { onProgress: (share) => on.progress?.(share, i) })
        .then((result) => ({ result }))
        .catch((error: Error) => ({ error }));
      await on.settled?.(settled, i);
      return settled;
    }),
  );
}

/**
 * Yields the results of jobs in order, each as soon as it and all before it are available. Throws
 * the error of the first failed job.
 *
 * @example
 * import type { Job } from "diffeo/job";
 * declare const jobs: readonly Job<object, object, number>[];
 * for await (const { value } of resultsOf(openInline(), jobs)) console.log(value);
 */
export async function* resultsOf<R>(
  executor: Pick<Executor, "run">,
  jobs: readonly Job<object, object, R>[],
): AsyncGenerator<JobResult<R>> {
  const running = jobs.map((job) => executor.run(job));
  // An error is thrown in its turn; until then it must not be an unhandled rejection.
  for (const result of running) result.catch(() => undefined);
  for (let i = 0; i < running.length; i++) {
    yield await running[i];
    delete running[i]; // a result is kept until it is yielded
  }
}
