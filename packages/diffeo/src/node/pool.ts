/**
 * Worker processes that are kept, each doing one job of some work after another. A job is a kind
 * and parameters, both plain data, and its result is a function of them alone: whoever does it, and
 * in whatever order, it is the same.
 *
 *   parent: openPool(script, { workers }).run({ kind, parameters }) → result
 *   script: serveJobs({ kind: (parameters, { report, ask }) => result, … })
 *
 * A job that fails, or whose process is lost, is an error of that job; the next one gets a
 * process of its own. A worker ends with its parent, however that ends. Workers run in an empty
 * folder, so that a relative path in data from elsewhere finds no file.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DiffeoError, type ErrorKind, fail } from "../graph/index.ts";
import type { Closable } from "../host/index.ts";
import { type JobLimits, watchLimits } from "./limits.ts";

/** A job of a pool: a name and plain data. */
interface PoolJob {
  readonly kind: string;
  readonly parameters: unknown;
}

/** What a job has of its parent. */
export interface JobParent {
  /** Tells it how far the job has come. */
  readonly report: (progress: unknown) => void;
  /**
   * Asks it for something, as its `onAsk` answers: what many jobs need is sent once to a process
   * that keeps it.
   */
  readonly ask: (what: unknown) => Promise<unknown>;
}

/** Does jobs of one kind. */
export type JobRunner = (parameters: never, parent: JobParent) => Promise<unknown>;

interface RunJobOptions {
  readonly onProgress?: (progress: unknown) => void;
  readonly onAsk?: (what: unknown) => Promise<unknown>;
  /** Ends the job where it stands, with its process. */
  readonly signal?: AbortSignal;
}

/** Worker processes that are kept. */
export interface Pool extends Closable {
  /**
   * The result of a job, as soon as a worker is free and has done it. Jobs are begun in the order
   * of the calls.
   */
  run(job: PoolJob, options?: RunJobOptions): Promise<unknown>;
  /** Ends all workers; jobs that are not done fail. */
  close(): Promise<void>;
}

export interface PoolOptions {
  /** The most processes at a time. */
  readonly workers: number;
  /** Flags of Node for the workers. Default: those of this process. */
  readonly execArgv?: readonly string[];
  /** A job that needs more fails, and its process ends. Default none. */
  readonly limits?: JobLimits;
}

/** Messages to a worker. */
type Message =
  | { readonly kind: "job"; readonly job: PoolJob }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "refusal"; readonly id: number; readonly error: Failure };

/** What a worker says. */
type Reply =
  | { readonly kind: "progress"; readonly progress: unknown }
  | { readonly kind: "ask"; readonly id: number; readonly what: unknown }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: Failure };

/** An error as it goes from one process to another. */
interface Failure {
  readonly message: string;
  readonly diffeo?: { readonly kind: ErrorKind; readonly problem: string; readonly remedy: string };
}

const failureOf = (error: unknown): Failure =>
  error instanceof DiffeoError
    ? {
        message: error.message,
        diffeo: { kind: error.kind, problem: error.problem, remedy: error.remedy },
      }
    : { message: error instanceof Error ? error.message : String(error) };

const errorOf = ({ message, diffeo }: Failure): Error =>
  diffeo ? new DiffeoError(diffeo.kind, diffeo.problem, diffeo.remedy) : new Error(message);

/** Makes this process a worker of the pool that started it. */
export function serveJobs(runners: Readonly<Record<string, JobRunner>>): void {
  if (!process.send) fail("usage", "a worker is started by its pool alone", "use openPool");
  process.chdir(process.argv[2]);
  const say = (reply: Reply): void => void process.send?.(reply);
  const asked = new Map<
    number,
    { resolve: (answer: unknown) => void; reject: (error: Error) => void }
  >();
  let questions = 0;
  const parent: JobParent = {
    report: (progress) => say({ kind: "progress", progress }),
    ask: (what) =>
      new Promise((resolve, reject) => {
        const id = questions++;
        asked.set(id, { resolve, reject });
        say({ kind: "ask", id, what });
      }),
  };
  const doJob = async ({ kind, parameters }: PoolJob): Promise<void> => {
    try {
      if (!Object.hasOwn(runners, kind))
        fail("usage", `there is no job of kind "${kind}"`, "correct the worker's script");
      const run = runners[kind] as (parameters: unknown, parent: JobParent) => Promise<unknown>;
      say({ kind: "done", result: await run(parameters, parent) });
    } catch (error) {
      say({ kind: "failed", error: failureOf(error) });
    }
  };
  process.on("SIGINT", () => undefined); // Ctrl-C is the parent's to handle
  process.on("disconnect", () => process.exit());
  process.on("message", (message: Message) => {
    if (message.kind === "job") return void doJob(message.job);
    const question = asked.get(message.id);
    asked.delete(message.id);
    if (message.kind === "answer") question?.resolve(message.answer);
    else question?.reject(errorOf(message.error));
  });
}

/** A job that waits for a worker, or that one is at. */
interface Task extends RunJobOptions {
  readonly job: PoolJob;
  /** Fulfilled when it is done or has failed. */
  readonly ended: Promise<void>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One process, with the job it is at. */
interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  task: Task | undefined;
}

function startWorker(
  script: URL,
  execArgv: readonly string[],
  folder: string,
  free: (worker: Worker) => void,
): Worker {
  // `serveJobs` goes to the folder: flags of Node may name modules relative to this one.
  const child = fork(script, [folder], {
    execArgv: [...execArgv],
    serialization: "advanced",
    // What a library prints must not end up among the results of a command.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const settle = (then: (task: Task) => void): void => {
    const { task } = worker;
    worker.task = undefined;
    if (task) then(task);
  };
  const lose = (how: string): void =>
    settle(({ reject }) => reject(new Error(`its process ${how}`)));
  const ended = new Promise<void>((resolve) => {
    child.on("exit", (code, killed) => {
      lose(`ended with ${killed ?? `code ${code}`}`);
      free(worker);
      resolve();
    });
    child.on("error", ({ message }) => {
      lose(`cannot be used: ${message}`);
      if (child.exitCode === null) child.kill("SIGKILL");
      if (child.pid === undefined) {
        free(worker);
        resolve();
      }
    });
  });
  const worker: Worker = { child, ended, task: undefined };
  const tell = (message: Message): void => void (child.connected && child.send(message));
  const answer = async (id: number, what: unknown): Promise<void> => {
    const {
      onAsk = () =>
        fail("usage", "a job requested data that is not available", "answer it with onAsk"),
    } = worker.task ?? {};
    try {
      tell({ kind: "answer", id, answer: await onAsk(what) });
    } catch (error) {
      tell({ kind: "refusal", id, error: failureOf(error) });
    }
  };
  child.on("message", (reply: Reply) => {
    if (reply.kind === "progress") return worker.task?.onProgress?.(reply.progress);
    if (reply.kind === "ask") return void answer(reply.id, reply.what);
    settle(({ resolve, reject }) =>
      reply.kind === "done" ? resolve(reply.result) : reject(errorOf(reply.error)),
    );
    free(worker);
  });
  return worker;
}

/** A job and what will come of it; the signal is listened to until then. */
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

/** An empty folder that is made when it is first needed, and removed at the latest on exit. */
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

/**
 * Opens a pool of worker processes; each begins when there is a job for it.
 *
 * @param script what the workers run: it calls `serveJobs`
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
    const gone = new DiffeoError(
      "disposed",
      "the pool was closed before the job was done",
      "run it again",
    );
    for (const task of waiting.splice(0)) task.reject(gone);
    const all = [...workers];
    for (const worker of all) {
      const { task, child } = worker;
      worker.task = undefined;
      task?.reject(gone);
      child.kill("SIGKILL");
    }
    await Promise.all(all.map(({ ended }) => ended));
    folder.remove();
  };
  return {
    run: async (job, options = {}) => {
      if (closed) fail("disposed", "the pool is closed", "open another");
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
