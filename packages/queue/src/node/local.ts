/**
 * Jobs on this machine: in this process, one after the other, or in processes that are kept. A
 * job whose process is lost is tried three times; one that fails by what it is given fails at
 * once, as it would again.
 */
import { hostname } from "node:os";
import { DiffeoError, fail } from "diffeo/graph";
import { type Executor, type Job, type JobResult, openInline, type RunOptions } from "diffeo/job";
import { openPool, type Pool } from "diffeo/node";
import { descriptionOf, inputsOf, sha256 } from "./digest.ts";
import { JOB, type ProcessJob, type ProcessResult } from "./runner.ts";
import { acceptResult } from "./stored.ts";

/** How jobs on this machine are done. */
export interface LocalOptions {
  /** The release of the program: a process of another one refuses the jobs. */
  readonly release: string;
  /** Processes; 1 is this one. */
  readonly workers: number;
  /** What a process runs: it calls `serveRunner`. */
  readonly script: ProcessScript;
  /** Threads of one operation. Default: as many as there are cores. */
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

/** The bytes of an input of a job by their SHA-256. */
const inputBytes = (job: Job, digest: string): Uint8Array =>
  inputsOf(job).get(digest) ?? fail("data", `there is no input ${digest}`, "give it with the jobs");

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
 * An executor of this machine: with one worker it is this process, where values are passed as they
 * are; with more, processes that are kept.
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
