/**
 * Jobs on a queue, on the command's side. A job with a result on the server is done, no matter who
 * ran it. Other jobs are added under their digests, so that two commands share them. Events of the
 * queue report changes; a check of all jobs every few seconds finds what events missed, and adds
 * jobs that a server has lost.
 */
import { Queue, QueueEvents } from "bullmq";
import { DiffeoError, fail } from "diffeo/graph";
import type { Executor, Job, JobDescription, JobResult, RunOptions } from "diffeo/job";
import type { Redis } from "ioredis";
import { descriptionOf, digestOf, inputsOf } from "../digest.ts";
import { ATTEMPTS } from "../local.ts";
import { acceptResult, Misfit } from "../stored.ts";
import type { Address } from "./address.ts";
import { atMost, connect } from "./connection.ts";
import { entryOf, onPrefix, queueName, resultKey } from "./names.ts";
import { type OpenJob, openJob } from "./open-job.ts";
import { refusalOf } from "./refusal.ts";
import { dropResult, getResult, putBytes } from "./store.ts";
import { countWorkers } from "./workers.ts";

/** The queue, and the release of the program. */
export interface QueueOptions {
  readonly address: Address;
  readonly device: string;
  /** The release of the program: workers of another release refuse the jobs. */
  readonly release: string;
  readonly signal?: AbortSignal;
  /** Called with messages for the user: the server is unreachable, or reachable again. */
  readonly say: (line: string) => void;
}

const short = (digest: string): string => `${digest.slice(0, 12)}…`;

/** The state of a job; `gone` is unknown to the server. */
type Standing = "done" | "failed" | "there" | "gone";

/**
 * The states of jobs. A job's entry disappears after its result is stored. So a job whose entry is
 * gone, and that still has no result afterwards, is lost.
 */
async function standingOf(
  queue: Queue<JobDescription>,
  client: Redis,
  digests: readonly string[],
): Promise<Standing[]> {
  if (digests.length === 0) return [];
  const pipeline = client.pipeline();
  for (const digest of digests)
    pipeline
      .exists(queue.toKey(digest))
      .zscore(queue.toKey("failed"), digest)
      .exists(resultKey(digest));
  const replies = (await pipeline.exec()) ?? [];
  return digests.map((_, i) => {
    const [there, failed, done] = replies.slice(3 * i, 3 * i + 3).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
    return done === 1 ? "done" : failed !== null ? "failed" : there === 1 ? "there" : "gone";
  });
}

/** Maximum number of jobs on the queue, to limit the server's memory. */
const WINDOW = 5000;
/** Number of jobs that one request checks. */
const GROUP = 250;
const LOOK_MS = 4000;

class QueueExecutor {
  /** The inputs of jobs by their SHA-256, and those that were uploaded. */
  private readonly inputs = new Map<string, Uint8Array>();
  private readonly brought = new Set<string>();
  /** Jobs on the queue, and jobs that wait until it has room. */
  private readonly open = new Map<string, OpenJob>();
  private readonly waiting = new Map<string, OpenJob>();
  /** Jobs for which the queue reported an event. */
  private readonly changed = new Set<string>();
  /** Why the server cannot be used any more. */
  private refusal: DiffeoError | undefined;
  /** Number of jobs that workers run at a time; unknown before the first check. */
  private present = Number.NaN;
  private busy = false;
  private lookedAt = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly options: QueueOptions,
    private readonly client: Redis,
    private readonly queue: Queue<JobDescription>,
  ) {
    this.timer = setInterval(() => this.turn(), LOOK_MS / 4);
    options.signal?.addEventListener("abort", this.onAbort, { once: true });
  }

  async run<R>(job: Job<object, object, R>, { repeat }: RunOptions): Promise<JobResult<R>> {
    const { device, signal, release } = this.options;
    signal?.throwIfAborted();
    if (this.refusal) throw this.refusal;
    if (job.device !== device)
      fail(
        "usage",
        `the job is for ${job.device}, but this queue is for ${device}`,
        "open a queue for that device",
      );
    const description = descriptionOf(job, release, repeat);
    for (const [digest, bytes] of inputsOf(job)) this.inputs.set(digest, bytes);
    const digest = digestOf(description);
    const open = this.open.get(digest) ?? this.waiting.get(digest) ?? openJob(job, description);
    if (!this.open.has(digest)) this.waiting.set(digest, open);
    queueMicrotask(() => this.turn()); // one request for all calls of a turn
    return open.result as Promise<JobResult<R>>;
  }

  async forget(job: Job, { repeat }: RunOptions): Promise<void> {
    await dropResult(this.client, digestOf(descriptionOf(job, this.options.release, repeat)));
  }

  workers(): number {
    return this.present || 0;
  }

  /** Handles an event of the queue for a job. */
  hear(digest: string): void {
    if (!this.open.has(digest)) return;
    this.changed.add(digest);
    this.turn();
  }

  /**
   * Handles a connection error. A lost connection is reported elsewhere; a refusal ends all jobs.
   */
  onError(error: unknown): void {
    const refusal = refusalOf(error, this.options.address);
    if (!refusal || this.refusal) return;
    this.refusal = refusal;
    this.rejectAll(refusal);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.options.signal?.removeEventListener("abort", this.onAbort);
  }

  private readonly onAbort = (): void => this.rejectAll(this.options.signal?.reason);

  private rejectAll(reason: unknown): void {
    for (const jobs of [this.open, this.waiting]) {
      for (const { reject } of jobs.values()) reject(reason);
      jobs.clear();
    }
  }

  /** Performs pending work, one task at a time. The next check handles errors. */
  private async turn(): Promise<void> {
    if (this.busy || this.refusal || this.client.status !== "ready") return;
    this.busy = true;
    try {
      for (;;) {
        if (this.changed.size > 0 || (this.waiting.size > 0 && this.open.size < WINDOW)) {
          const heard = [...this.changed].slice(0, GROUP);
          for (const digest of heard) this.changed.delete(digest);
          await this.settle(heard);
          await this.feed();
        } else if (performance.now() - this.lookedAt > LOOK_MS) await this.lookAround();
        else return;
      }
    } catch (error) {
      this.onError(error);
    } finally {
      this.busy = false;
    }
  }

  /** Puts the next jobs on the queue while it has room. Jobs that failed before are tried again. */
  private async feed(): Promise<void> {
    await this.bringInputs([...this.inputs].filter(([digest]) => !this.brought.has(digest)));
    const next = [...this.waiting].slice(0, Math.min(GROUP, WINDOW - this.open.size));
    for (const [digest, job] of next) {
      this.waiting.delete(digest);
      this.open.set(digest, job);
    }
    const digests = next.map(([digest]) => digest);
    const standings = await standingOf(this.queue, this.client, digests);
    for (const digest of digests.filter((_, i) => standings[i] === "failed"))
      await (await this.queue.getJob(digest))?.retry("failed", { resetAttemptsMade: true });
    await this.settle(digests.filter((_, i) => standings[i] !== "failed"));
  }

  private async bringInputs(inputs: Iterable<[string, Uint8Array]>): Promise<void> {
    for (const [digest, bytes] of inputs) {
      await putBytes(this.client, bytes, digest);
      this.brought.add(digest);
    }
  }

  private async lookAround(): Promise<void> {
    const { device, address, say } = this.options;
    const before = this.present;
    this.present = await countWorkers(this.client, device);
    if (this.present === 0 && before !== 0 && this.open.size > 0)
      say(`no worker for ${device} is connected to ${address.shown}; the jobs wait`);
    if (this.open.size > 0) await this.bringInputs(this.inputs);
    const all = [...this.open.keys()];
    for (let at = 0; at < all.length; at += GROUP) await this.settle(all.slice(at, at + GROUP));
    this.lookedAt = performance.now();
  }

  /** Settles jobs that are done or have failed, and adds those that the server does not know. */
  private async settle(digests: readonly string[]): Promise<void> {
    const standings = await standingOf(this.queue, this.client, digests);
    const those = (standing: Standing): string[] =>
      digests.filter((_, i) => standings[i] === standing);
    await Promise.all(those("done").map((digest) => this.finish(digest)));
    for (const digest of those("failed")) {
      const entry = await this.queue.getJob(digest);
      const reason = String(entry?.failedReason).slice(0, 1000);
      const problem = `failed ${entry?.attemptsMade} times: ${reason.replace(/\.$/, "")}`;
      this.end(digest, ({ reject }) =>
        reject(new DiffeoError("data", problem, "repeat the command to try again")),
      );
    }
    const gone = those("gone").flatMap((digest) => {
      const entry = this.open.get(digest);
      return entry ? [entryOf(entry.description, digest)] : [];
    });
    if (gone.length > 0) await this.queue.addBulk(gone);
  }

  private async finish(digest: string): Promise<void> {
    const stored = await getResult(this.client, digest);
    const entry = this.open.get(digest);
    if (!entry) return;
    if (!stored) {
      // A broken result was removed: the job is added again at once.
      this.changed.add(digest);
      return;
    }
    try {
      const result = acceptResult(entry.job, stored);
      this.end(digest, ({ resolve }) => resolve(result));
    } catch (error) {
      if (error instanceof Misfit) await this.redo(digest, entry, stored.worker, error.message);
      else this.end(digest, ({ reject }) => reject(error));
    }
  }

  /** Drops a result that does not fit its job, so that the job runs again, up to a limit. */
  private async redo(digest: string, entry: OpenJob, worker: string, what: string): Promise<void> {
    await dropResult(this.client, digest);
    const result = `the result of job ${short(digest)} by ${worker.slice(0, 200)}`;
    const problem = `${result} is not used: ${what}`;
    if (++entry.misfits < ATTEMPTS) {
      this.options.say(`${problem}; the job runs again`);
      this.changed.add(digest);
    } else {
      const often = `this happened ${ATTEMPTS} times`;
      const remedy = `${often}: stop or replace that worker, and repeat the command`;
      this.end(digest, ({ reject }) => reject(new DiffeoError("data", problem, remedy)));
    }
  }

  private end(digest: string, how: (job: OpenJob) => void): void {
    const job = this.open.get(digest);
    this.open.delete(digest);
    if (job) how(job);
  }
}

export async function openQueue(options: QueueOptions): Promise<Executor> {
  const { address, device, say, signal } = options;
  const connection = await connect(address, say, { signal });
  const { client } = connection;
  const queue = new Queue<JobDescription>(queueName(device), onPrefix(client));
  const events = new QueueEvents(queueName(device), onPrefix(client));
  const executor = new QueueExecutor(options, client, queue);
  queue.on("error", (error) => executor.onError(error));
  events.on("error", (error) => executor.onError(error));
  events.on("completed", ({ jobId }) => executor.hear(jobId));
  events.on("failed", ({ jobId }) => executor.hear(jobId));
  const close = async (): Promise<void> => {
    await executor.close();
    await atMost(events.close());
    await atMost(queue.close());
    await connection.close();
  };
  return {
    run: (job, how = {}) => executor.run(job, how),
    forget: (job, how = {}) => executor.forget(job, how),
    workers: () => executor.workers(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
