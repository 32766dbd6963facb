/**
 * Jobs on this machine: in this process, one after the other, or in a pool of processes. A job
 * whose process is lost is tried three times. A job that fails because of its inputs fails at once,
 * because it would fail again.
 */
import { hostname } from "node:os";
import { DiffeoError, fail } from "diffeo/graph";
import { type Executor, type Job, type JobResult, openInline, type RunOptions } from "diffeo/job";
import { openPool, type Pool } from "diffeo/node";
import { descriptionOf, inputsOf, sha256 } from "./digest.ts";
import { JOB, type ProcessJob, type ProcessResult } from "./runner.ts";
import { acceptResult } from "./stored.ts";

/** Options for jobs on this machine. */
export interface LocalOptions {
  /** The release of the program: a process of another release refuses the jobs. */
  readonly release: string;
  /** Number of processes; 1 is this process. */
  readonly workers: number;
  /** The script of a process, which calls `serveRunner`. */
  readonly script: ProcessScript;
  /** Threads per operation. Default: the number of cores. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
}

/** A script, and the flags of Node that it needs. */
export interface ProcessScript {
  readonly url: URL;
  readonly execArgv?: readonly string[];
}

/** Maximum number of attempts per job. */
export const ATTEMPTS = 3;

/** The bytes of an input of a job by their SHA-256. */
const inputBytes = (job: Job, digest: string): Uint8Array =>
  inputsOf(job).get(digest) ??
  fail("data", `the input ${digest} is missing`, "give it with the jobs");

async function runInPool<R>(
  pool: Pool,
  job: Job<object, object, R>,
  { release, signal, threads }: LocalOptions,
  { onProgress, repeat }: RunOptions,
): Promise<JobResult<R>> {
  const parameters: ProcessJob = { job: descriptionOf(job, release, repeat), threads };
  for (let attempt = 1; ; attempt++)
    try {
      const { bytes, seconds } = (await pool.run(
        { kind: JOB, parameters },
        {
          onAsk: async (digest) => inputBytes(job, digest as string),
          onProgress: (share) => onProgress?.(share as number),
          signal,
        },
      )) as ProcessResult;
      const worker = `${hostname()}:${process.pid}`;
      return acceptResult(job, { bytes, sha256: sha256(bytes), seconds, worker });
    } catch (error) {
      if (signal?.aborted || error instanceof DiffeoError || attempt === ATTEMPTS) throw error;
    }
}

/**
 * An executor on this machine. With one worker it is this process, and values are passed without
 * serialisation; with more, it is a pool of processes.
 */
export function openLocal(options: LocalOptions): Executor {
  const { workers, script, threads, signal } = options;
  if (workers === 1) return openInline({ threads, signal });
  const pool = openPool(script.url, {
    workers,
    execArgv: script.execArgv,
  });
  const close = (): Promise<void> => pool.close();
  return {
    run: (job, how = {}) => runInPool(pool, job, options, how),
    forget: async () => undefined,
    workers: () => workers,
    close,
    [Symbol.asyncDispose]: close,
  };
}
