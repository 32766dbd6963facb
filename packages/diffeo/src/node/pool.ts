/**
 * A pool of worker processes, each of which runs one job after another. A job has a kind and
 * parameters, both plain data, and its result is a function of these alone, independent of the
 * worker and the order.
 *
 *   parent: openPool(script, { workers }).run({ kind, parameters }) → result
 *   script: serveJobs({ kind: (parameters, { report, ask }) => result, … })
 *
 * If a job fails or its process is lost, only that job has an error; the next job gets a new
 * process. Workers always end with their parent. They run in an empty folder, so that relative
 * paths in untrusted data find no files.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DiffeoError, fail } from "../graph/index.ts";
import type { Closable } from "../host/index.ts";
import { type JobLimits, watchLimits } from "./limits.ts";
import type { Message, PoolJob } from "./pool-messages.ts";
import { type RunJobOptions, startWorker, type Task, type Worker } from "./pool-worker.ts";

/** A pool of worker processes. */
export interface Pool extends Closable {
  /** Runs a job when a worker is free. Jobs are started in the order of the calls. */
  run(job: PoolJob, options?: RunJobOptions): Promise<unknown>;
  /** Ends all workers; unfinished jobs fail. */
  close(): Promise<void>;
}

export interface PoolOptions {
  /** The most processes. */
  readonly workers: number;
  /** Flags of Node for the workers. Default: those of this process. */
  readonly execArgv?: readonly string[];
  /** Limits per job; a job that exceeds them fails, and its process ends. Default none. */
  readonly limits?: JobLimits;
}

/** A job with the promise of its result; the signal is observed until it ends. */
function taskOf(
  job: PoolJob,
  options: RunJobOptions,
  abort: (task: Task, reason: unknown) => void,
): { readonly task: Task; readonly result: Promise<unknown> } {
  const { signal } = options;
  let settle: Pick<Task, "resolve" | "reject"> | undefined;
  const onAbort = (): void => abort(task, signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const result = new Promise<unknown>((resolve, reject) => {
    settle = { resolve, reject };
  }).finally(() => signal?.removeEventListener("abort", onAbort));
  const done = (): void => undefined;
  const task: Task = {
    ...options,
    ...(settle as unknown as Task),
    job,
    ended: result.then(done, done),
  };
  return { task, result };
}

/** An empty folder that is created when it is first needed, and removed on exit at the latest. */
function emptyFolder(): { readonly path: () => string; readonly remove: () => void } {
  let folder: string | undefined;
  const remove = (): void => {
    process.off("exit", remove);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    folder = undefined;
  };
  const make = (): string => {
    process.once("exit", remove);
    return mkdtempSync(join(tmpdir(), "diffeo-worker-"));
  };
  return { path: () => (folder ??= make()), remove };
}

/** Ends processes; their jobs and those that wait fail. */
async function endAll(workers: readonly Worker[], waiting: readonly Task[]): Promise<void> {
  const gone = new DiffeoError(
    "disposed",
    "the pool was closed before the job had ended",
    "run it again",
  );
  for (const task of waiting) task.reject(gone);
  for (const worker of workers) {
    const { task, child } = worker;
    worker.task = undefined;
    task?.reject(gone);
    child.kill("SIGKILL");
  }
  await Promise.all(workers.map(({ ended }) => ended));
}

/**
 * Opens a pool of worker processes, which are started when there are jobs.
 *
 * @param script the script of the workers, which calls `serveJobs`
 */
export function openPool(script: URL, options: PoolOptions): Pool {
  const { workers: most, execArgv = process.execArgv, limits = {} } = options;
  const workers = new Set<Worker>();
  const waiting: Task[] = [];
  const folder = emptyFolder();
  let closed = false;

  const begin = (): void => {
    while (waiting.length > 0) {
      const idle = [...workers].find(
        ({ task, child }) => task === undefined && child.connected && !child.killed,
      );
      if (!idle && workers.size >= most) return;
      const worker = idle ?? startWorker(script, execArgv, folder.path(), free);
      workers.add(worker);
      const task = waiting.shift() as Task;
      worker.task = task;
      worker.child.send({ kind: "job", job: task.job } satisfies Message, (error) => {
        if (error && worker.task === task) worker.child.kill("SIGKILL");
      });
      task.ended.then(watchLimits(worker.child, limits, (error) => abort(task, error)));
    }
  };
  const free = (worker: Worker): void => {
    if (!worker.child.connected) workers.delete(worker);
    begin();
  };
  const abort = (task: Task, reason: unknown): void => {
    const at = waiting.indexOf(task);
    if (at >= 0) waiting.splice(at, 1);
    for (const worker of workers)
      if (worker.task === task) {
        worker.task = undefined;
        worker.child.kill("SIGKILL");
      }
    task.reject(reason);
  };

  const close = async (): Promise<void> => {
    closed = true;
    await endAll([...workers], waiting.splice(0));
    folder.remove();
  };
  return {
    run: async (job, options = {}) => {
      if (closed) fail("disposed", "the pool is closed", "open a new one");
      options.signal?.throwIfAborted();
      const { task, result } = taskOf(job, options, abort);
      waiting.push(task);
      begin();
      return result;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
