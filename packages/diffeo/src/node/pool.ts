/**
 * Worker processes that are kept, each doing one part of some work after another. A part is a kind and parameters, both
 * plain data, and its result is a function of them alone: whoever does it, and in whatever order, it is the same.
 *
 *   parent: openPool(script, { workers }).run({ kind, parameters }) → result
 *   script: serveParts({ kind: (parameters, report) => result, … })
 *
 * A part that fails, or whose process is lost, is an error of that part; the next one gets a process of its own. A worker
 * ends with its parent, however that ends.
 */
import { type ChildProcess, fork } from "node:child_process";
import { DiffeoError, type ErrorKind, fail } from "../graph/index.ts";

export interface Part {
  readonly kind: string;
  readonly parameters: unknown;
}

/** Does parts of one kind. `report` tells the parent how far it has come. */
export type PartRunner = (parameters: never, report: (progress: unknown) => void) => Promise<unknown>;

export interface RunPartOptions {
  readonly onProgress?: (progress: unknown) => void;
  /** Ends the part where it stands, with its process. */
  readonly signal?: AbortSignal;
}

export interface Pool {
  /** The result of a part, as soon as a worker is free and has done it. Parts are begun in the order of the calls. */
  run(part: Part, options?: RunPartOptions): Promise<unknown>;
  /** Ends all workers; parts that are not done fail. */
  close(): Promise<void>;
}

export interface PoolOptions {
  /** The most processes at a time. */
  readonly workers: number;
  /** Flags of Node for the workers. Default: those of this process. */
  readonly execArgv?: readonly string[];
}

type Reply =
  | { readonly kind: "progress"; readonly progress: unknown }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: Failure };

/** An error as it goes from one process to another. */
interface Failure {
  readonly message: string;
  readonly diffeo?: { readonly kind: ErrorKind; readonly problem: string; readonly remedy: string };
}

const failureOf = (error: unknown): Failure =>
  error instanceof DiffeoError
    ? { message: error.message, diffeo: { kind: error.kind, problem: error.problem, remedy: error.remedy } }
    : { message: error instanceof Error ? error.message : String(error) };

const errorOf = ({ message, diffeo }: Failure): Error =>
  diffeo ? new DiffeoError(diffeo.kind, diffeo.problem, diffeo.remedy) : new Error(message);

/** Makes this process a worker of the pool that started it. */
export function serveParts(runners: Readonly<Record<string, PartRunner>>): void {
  if (!process.send) fail("usage", "a worker is started by its pool alone", "use openPool");
  const say = (reply: Reply): void => void process.send?.(reply);
  process.on("SIGINT", () => undefined); // Ctrl-C is the parent's to handle
  process.on("disconnect", () => process.exit());
  process.on("message", async ({ kind, parameters }: Part) => {
    try {
      if (!Object.hasOwn(runners, kind))
        fail("usage", `there is no part of kind "${kind}"`, "mend the worker's script");
      const run = runners[kind] as (parameters: unknown, report: (progress: unknown) => void) => Promise<unknown>;
      say({ kind: "done", result: await run(parameters, (progress) => say({ kind: "progress", progress })) });
    } catch (error) {
      say({ kind: "failed", error: failureOf(error) });
    }
  });
}

/** A part that waits for a worker, or that one is at. */
interface Job extends RunPartOptions {
  readonly part: Part;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One process, with the part it is at. */
interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  job: Job | undefined;
}

function startWorker(script: URL, execArgv: readonly string[], free: (worker: Worker) => void): Worker {
  const child = fork(script, [], {
    execArgv: [...execArgv],
    serialization: "advanced",
    // What a library prints must not end up among the results of a command.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const settle = (then: (job: Job) => void): void => {
    const { job } = worker;
    worker.job = undefined;
    if (job) then(job);
  };
  const lose = (how: string): void => settle(({ reject }) => reject(new Error(`its process ${how}`)));
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
  const worker: Worker = { child, ended, job: undefined };
  child.on("message", (reply: Reply) => {
    if (reply.kind === "progress") return worker.job?.onProgress?.(reply.progress);
    settle(({ resolve, reject }) => (reply.kind === "done" ? resolve(reply.result) : reject(errorOf(reply.error))));
    free(worker);
  });
  return worker;
}

/** A part and what will come of it; the signal is listened to until then. */
function jobOf(
  part: Part,
  options: RunPartOptions,
  abort: (job: Job, reason: unknown) => void,
): { readonly job: Job; readonly result: Promise<unknown> } {
  const { signal } = options;
  let job: Job | undefined;
  const onAbort = (): void => abort(job as Job, signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const result = new Promise<unknown>((resolve, reject) => {
    job = { ...options, part, resolve, reject };
  }).finally(() => signal?.removeEventListener("abort", onAbort));
  return { job: job as unknown as Job, result };
}

/** @param script what the workers run: it calls `serveParts` */
export function openPool(script: URL, { workers: most, execArgv = process.execArgv }: PoolOptions): Pool {
  const workers = new Set<Worker>();
  const waiting: Job[] = [];
  let closed = false;

  const begin = (): void => {
    while (waiting.length > 0) {
      const idle = [...workers].find(({ job, child }) => job === undefined && child.connected && !child.killed);
      if (!idle && workers.size >= most) return;
      const worker = idle ?? startWorker(script, execArgv, free);
      workers.add(worker);
      const job = waiting.shift() as Job;
      worker.job = job;
      worker.child.send(job.part, (error) => {
        if (error && worker.job === job) worker.child.kill("SIGKILL");
      });
    }
  };
  const free = (worker: Worker): void => {
    if (!worker.child.connected) workers.delete(worker);
    begin();
  };
  const abort = (job: Job, reason: unknown): void => {
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
    for (const worker of workers)
      if (worker.job === job) {
        worker.job = undefined;
        worker.child.kill("SIGKILL");
      }
    job.reject(reason);
  };

  return {
    run: async (part, options = {}) => {
      if (closed) fail("disposed", "the pool is closed", "open another");
      options.signal?.throwIfAborted();
      const { job, result } = jobOf(part, options, abort);
      waiting.push(job);
      begin();
      return result;
    },
    close: async () => {
      closed = true;
      const gone = new DiffeoError("disposed", "the pool was closed before the part was done", "run it again");
      for (const job of waiting.splice(0)) job.reject(gone);
      const all = [...workers];
      for (const worker of all) {
        const { job, child } = worker;
        worker.job = undefined;
        job?.reject(gone);
        child.kill("SIGKILL");
      }
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
