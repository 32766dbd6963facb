/** The side of a worker process: it runs the jobs that its pool sends. */
import { fail } from "../graph/index.ts";
import { errorOf, failureOf, type Message, type PoolJob, type Reply } from "./pool-messages.ts";

/** The functions of the parent that a job can call. */
export interface JobParent {
  /** Reports progress. */
  readonly report: (progress: unknown) => void;
  /**
   * Requests data, which the parent's `onAsk` provides. Data that many jobs need are sent once per
   * process, which keeps them.
   */
  readonly ask: (what: unknown) => Promise<unknown>;
}

/** Runs jobs of one kind. */
export type JobRunner = (parameters: never, parent: JobParent) => Promise<unknown>;

/** Makes this process a worker of its pool. */
export function serveJobs(runners: Readonly<Record<string, JobRunner>>): void {
  if (!process.send) fail("usage", "this process was not started by a pool", "use openPool");
  process.chdir(process.argv[2]);
  const say = (reply: Reply): void => void process.send?.(reply);
  const pending = new Map<
    number,
    { resolve: (answer: unknown) => void; reject: (error: Error) => void }
  >();
  let questions = 0;
  const parent: JobParent = {
    report: (progress) => say({ kind: "progress", progress }),
    ask: (what) =>
      new Promise((resolve, reject) => {
        const id = questions++;
        pending.set(id, { resolve, reject });
        say({ kind: "ask", id, what });
      }),
  };
  const doJob = async ({ kind, parameters }: PoolJob): Promise<void> => {
    try {
      if (!Object.hasOwn(runners, kind))
        fail("usage", `unknown kind of job "${kind}"`, "correct the worker's script");
      const run = runners[kind] as (parameters: unknown, parent: JobParent) => Promise<unknown>;
      say({ kind: "done", result: await run(parameters, parent) });
    } catch (error) {
      say({ kind: "failed", error: failureOf(error) });
    }
  };
  process.on("SIGINT", () => undefined); // the parent handles Ctrl-C
  process.on("disconnect", () => process.exit());
  process.on("message", (message: Message) => {
    if (message.kind === "job") return void doJob(message.job);
    const question = pending.get(message.id);
    pending.delete(message.id);
    if (message.kind === "answer") question?.resolve(message.answer);
    else question?.reject(errorOf(message.error));
  });
}
