/** A job on the queue, or waiting for room on it, and the promise of its result. */
import type { Job, JobDescription, JobResult } from "diffeo/job";

export interface OpenJob {
  readonly job: Job;
  readonly description: JobDescription;
  /** Number of results that did not fit the job. */
  misfits: number;
  readonly result: Promise<JobResult<unknown>>;
  readonly resolve: (result: JobResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

export function openJob(job: Job, description: JobDescription): OpenJob {
  let settle: Pick<OpenJob, "resolve" | "reject"> | undefined;
  const result = new Promise<JobResult<unknown>>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    ...(settle as unknown as Pick<OpenJob, "resolve" | "reject">),
    job,
    description,
    misfits: 0,
    result,
  };
}
