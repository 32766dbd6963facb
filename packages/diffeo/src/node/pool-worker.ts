/** A worker process as its pool sees it, and the job that it runs. */
import { type ChildProcess, fork } from "node:child_process";
import { fail } from "../graph/index.ts";
import { errorOf, failureOf, type Message, type PoolJob, type Reply } from "./pool-messages.ts";

export interface RunJobOptions {
  readonly onProgress?: (progress: unknown) => void;
  readonly onAsk?: (what: unknown) => Promise<unknown>;
  /** Stops the job by ending its process. */
  readonly signal?: AbortSignal;
}

/** A job that is queued or running. */
export interface Task extends RunJobOptions {
  readonly job: PoolJob;
  /** Resolves when the job has ended or failed. */
  readonly ended: Promise<void>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One process and its current job. */
export interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  task: Task | undefined;
}

/** Starts a process; `free` is called when it has ended a job, or has ended itself. */
export function startWorker(
  script: URL,
  execArgv: readonly string[],
  folder: string,
  free: (worker: Worker) => void,
): Worker {
  // `serveJobs` changes to the folder, because flags of Node may name modules relative to this one.
  const child = fork(script, [folder], {
    execArgv: [...execArgv],
    serialization: "advanced",
    // The output of libraries must not be mixed with the results of a command.
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
        fail("usage", "a job requested data that is not available", "provide it with onAsk"),
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
