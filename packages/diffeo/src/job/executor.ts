/** Who does jobs: this process, local processes, or workers of a queue. */
import type { Closable } from "../host/index.ts";
import type { Job } from "./job.ts";

/** What came of a job. */
export interface JobResult<R> {
  readonly value: R;
  /** How long it took, and who did it. */
  readonly seconds: number;
  readonly worker: string;
}

/** How one job is run. */
export interface RunOptions {
  /** Called with the share of the job that is done, where that is known. */
  readonly onProgress?: (share: number) => void;
  /**
   * Runs the job once more, although its result may be known: its results 1, 2, … are kept apart.
   */
  readonly repeat?: number;
}

/**
 * Does jobs. In the same process a result is passed as it is; from elsewhere it is read and held to
 * its job.
 */
export interface Executor extends Closable {
  /** The result of a job. Jobs are begun in the order of the calls. */
  run<R>(job: Job<object, object, R>, options?: RunOptions): Promise<JobResult<R>>;
  /** Removes a result that is kept, so that the next run does the job again. */
  forget(job: Job, options?: RunOptions): Promise<void>;
  /** How many jobs can be worked on at a time, as far as is known now. */
  workers(): number;
  /** Ends it; jobs that were not begun fail. */
  close(): Promise<void>;
}

/** What became of a job. */
export type Settled<R> = { readonly result: JobResult<R> } | { readonly error: Error };

/**
 * Does jobs, all of them whatever becomes of one.
 *
 * @param on callbacks: `settled` once for each job as it ends, `progress` with shares of a job
 * @returns what became of each, in the order of the jobs
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
 * The results of jobs in their order, each as soon as it and those before it are done. Throws what
 * the first job that failed threw.
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
  // A failure is thrown when its turn comes, and until then it is not unhandled.
  for (const result of running) result.catch(() => undefined);
  for (let i = 0; i < running.length; i++) {
    yield await running[i];
    delete running[i]; // a result is held until its reader has it
  }
}
