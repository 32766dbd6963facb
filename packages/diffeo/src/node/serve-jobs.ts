/** The side of a worker process: it runs the jobs that its pool sends. */
import { fail } from "../graph/index.ts";
import { errorOf, failureOf, type Message, type PoolJob, type Reply } from "./pool-messages.ts";

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
