/**
 * Who does jobs: local processes, or workers of a queue. Results come by job, whoever was first.
 */
import type { Job } from "./job.ts";

export interface JobResult {
  readonly bytes: Uint8Array;
  /** Of the bytes. */
  readonly sha256: string;
  /** What it took, and whom. */
  readonly seconds: number;
  readonly worker: string;
}

export interface RunOptions {
  /** Called with the share of the job that is done, where that is known. */
  readonly onProgress?: (share: number) => void;
}

export interface Executor {
  /** The result of a job. Jobs are begun in the order of the calls. */
  run(job: Job, options?: RunOptions): Promise<JobResult>;
  /** How many jobs can be worked on at a time, as far as is known now. */
  workers(): number;
  close(): Promise<void>;
}

/** What became of a job. */
export type Settled = { readonly result: JobResult } | { readonly error: Error };

/**
 * Does jobs, all of them whatever becomes of one, and gives what became of each in their order.
 */
export async function runJobs(
  executor: Pick<Executor, "run">,
  jobs: readonly Job[],
  on: {
    /** Called once for each job as it ends, in whatever order. */
    readonly settled?: (settled: Settled, index: number) => void | Promise<void>;
    readonly progress?: (share: number, index: number) => void;
  } = {},
): Promise<Settled[]> {
  return Promise.all(
    jobs.map(async (job, i): Promise<Settled> => {
      const settled: Settled = await executor
        .run(job, { onProgress: (share) => on.progress?.(share, i) })
        .then((result) => ({ result }))
        .catch((error: Error) => ({ error }));
      await on.settled?.(settled, i);
      return settled;
    }),
  );
}
