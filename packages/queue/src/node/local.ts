/**
 * Jobs on this machine: in this process, one after the other, or in processes that are kept. A
 * job whose process is lost is tried three times; one that fails by what it is given fails at
 * once, as it would again.
 */
import { DiffeoError, fail } from "diffeo/graph";
import { openPool, type Pool } from "diffeo/node";
import type { Executor, JobResult, RunOptions } from "../job/executor.ts";
import type { Job } from "../job/job.ts";
import { type Inputs, sha256 } from "./digest.ts";
import {
  JOB,
  openRunner,
  type ProcessJob,
  type ProcessResult,
  type RunnerSettings,
  thisWorker,
} from "./runner.ts";

export interface LocalOptions extends RunnerSettings {
  readonly inputs: Inputs;
  /** Processes; 1 is this one. */
  readonly workers: number;
  /** What a process runs: it calls `serveRunner`. */
  readonly script: ProcessScript;
  readonly threads?: number;
  readonly signal?: AbortSignal;
}

/** A script, and the flags of Node that it needs. */
export interface ProcessScript {
  readonly url: URL;
  readonly execArgv?: readonly string[];
}

/** How often a job is begun. */
export const ATTEMPTS = 3;

const lookedUp = (inputs: Inputs) => async (digest: string) =>
  inputs.get(digest) ?? fail("data", `there is no input ${digest}`, "give it with the jobs");

/** Jobs in this process, one at a time. */
function inline({ inputs, signal, threads, ...settings }: LocalOptions): Executor {
  const runner = openRunner(settings);
  const run = async (job: Job, { onProgress }: RunOptions): Promise<JobResult> => {
    signal?.throwIfAborted();
    const began = performance.now();
    const bytes = await runner.run(job, {
      fetch: lookedUp(inputs),
      report: (share) => onProgress?.(share),
      threads,
      signal,
    });
    return {
      bytes,
      sha256: sha256(bytes),
      seconds: (performance.now() - began) / 1000,
      worker: thisWorker(),
    };
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    run: (job, options = {}) => {
      const result = last.then(() => run(job, options));
      last = result.catch(() => undefined);
      return result;
    },
    workers: () => 1,
    close: () => runner.dispose(),
  };
}

async function inPool(
  pool: Pool,
  job: Job,
  options: LocalOptions,
  { onProgress }: RunOptions,
): Promise<JobResult> {
  const { inputs, signal, threads } = options;
  const parameters: ProcessJob = { job, threads };
  for (let attempt = 1; ; attempt++)
    try {
      const { bytes, seconds } = (await pool.run(
        { kind: JOB, parameters },
        {
          onAsk: (digest) => lookedUp(inputs)(digest as string),
          onProgress: (share) => onProgress?.(share as number),
          signal,
        },
      )) as ProcessResult;
      return { bytes, sha256: sha256(bytes), seconds, worker: thisWorker() };
    } catch (error) {
      if (signal?.aborted || error instanceof DiffeoError || attempt === ATTEMPTS) throw error;
    }
}

export function openLocal(options: LocalOptions): Executor {
  const { workers, script } = options;
  if (workers === 1) return inline(options);
  const pool = openPool(script.url, {
    workers,
    execArgv: script.execArgv,
  });
  return {
    run: (job, how = {}) => inPool(pool, job, options, how),
    workers: () => workers,
    close: () => pool.close(),
  };
}
