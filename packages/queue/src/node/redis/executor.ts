/**
 * Jobs on a queue, from the side of the command. A job whose result is on the server is done,
 * whoever did it; others are added under their digests, so that two commands share them. Events of
 * the queue say when to look; a look over all jobs every few seconds finds what no event told, and
 * adds again what a server has lost.
 */
import { Queue, QueueEvents } from "bullmq";
import { DiffeoError, fail } from "diffeo/graph";
import type { Redis } from "ioredis";
import type { Executor, JobResult } from "../../job/executor.ts";
import type { Job } from "../../job/job.ts";
import { digestOf, type Inputs } from "../digest.ts";
import type { Address } from "./address.ts";
import { connect } from "./connection.ts";
import { entryOf, onPrefix, queueName, resultKey } from "./names.ts";
import { refusalOf } from "./refusal.ts";
import { getResult, putBytes } from "./store.ts";
import { countWorkers } from "./workers.ts";

export interface QueueOptions {
  readonly address: Address;
  readonly device: string;
  readonly inputs: Inputs;
  readonly signal?: AbortSignal;
  /** Told what a person should know: that the server is gone, that it is back. */
  readonly say: (line: string) => void;
}

interface Open {
  readonly job: Job;
  readonly result: Promise<JobResult>;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: unknown) => void;
}

function openEntry(job: Job): Open {
  let settle: Pick<Open, "resolve" | "reject"> | undefined;
  const result = new Promise<JobResult>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { ...(settle as unknown as Pick<Open, "resolve" | "reject">), job, result };
}

/** How a job stands: `gone` is one that nobody knows of. */
type Standing = "done" | "failed" | "there" | "gone";

/** Jobs on the queue at a time: a server's memory is not the place for a million descriptions. */
const WINDOW = 5000;
/** Jobs that are looked at in one go. */
const GROUP = 250;
const LOOK_MS = 4000;

class QueueExecutor implements Executor {
  /** Jobs that are on the queue, and those that wait until it has room. */
  private readonly open = new Map<string, Open>();
  private readonly waiting = new Map<string, Open>();
  /** Jobs that the queue said something of. */
  private readonly changed = new Set<string>();
  /** Why the server cannot be used any more. */
  private refusal: DiffeoError | undefined;
  /** Jobs that workers do at a time; not known before the first look. */
  private present = Number.NaN;
  private busy = false;
  private lookedAt = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly options: QueueOptions,
    private readonly client: Redis,
    private readonly queue: Queue<Job>,
  ) {
    this.timer = setInterval(() => this.turn(), LOOK_MS / 4);
    options.signal?.addEventListener("abort", this.onAbort, { once: true });
  }

  async run(job: Job): Promise<JobResult> {
    const { device, signal } = this.options;
    signal?.throwIfAborted();
    if (this.refusal) throw this.refusal;
    if (job.device !== device)
      fail("usage", `the job is for ${job.device}, this queue is for ${device}`, "open another");
    const digest = digestOf(job);
    const open = this.open.get(digest) ?? this.waiting.get(digest) ?? openEntry(job);
    if (!this.open.has(digest)) this.waiting.set(digest, open);
    queueMicrotask(() => this.turn()); // all calls of one turn go to the server together
    return open.result;
  }

  workers(): number {
    return this.present || 0;
  }

  /** The queue has said that something became of a job. */
  hear(digest: string): void {
    if (!this.open.has(digest)) return;
    this.changed.add(digest);
    this.turn();
  }

  /** An error of a connection. One that is lost says so itself; a refusal ends all jobs. */
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

  /** Does what there is to do, one thing at a time. What fails is seen to by the next look. */
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

  /**
   * Puts the next jobs on the queue, as far as it has room; those that failed before get another
   * chance.
   */
  private async feed(): Promise<void> {
    const next = [...this.waiting].slice(0, Math.min(GROUP, WINDOW - this.open.size));
    for (const [digest, job] of next) {
      this.waiting.delete(digest);
      this.open.set(digest, job);
    }
    const digests = next.map(([digest]) => digest);
    const standings = await this.standingOf(digests);
    for (const digest of digests.filter((_, i) => standings[i] === "failed"))
      await (await this.queue.getJob(digest))?.retry("failed", { resetAttemptsMade: true });
    await this.settle(digests.filter((_, i) => standings[i] !== "failed"));
  }

  private async lookAround(): Promise<void> {
    const { device, inputs, address, say } = this.options;
    const before = this.present;
    this.present = await countWorkers(this.client, device);
    if (this.present === 0 && before !== 0 && this.open.size > 0)
      say(`nobody is there to do jobs for ${device} at ${address.shown}; they wait`);
    if (this.open.size > 0) await bringInputs(this.client, inputs);
    const all = [...this.open.keys()];
    for (let at = 0; at < all.length; at += GROUP) await this.settle(all.slice(at, at + GROUP));
    this.lookedAt = performance.now();
  }

  /** Ends jobs that are done or have failed, and adds those that nobody knows of. */
  private async settle(digests: readonly string[]): Promise<void> {
    const standings = await this.standingOf(digests);
    const those = (standing: Standing): string[] =>
      digests.filter((_, i) => standings[i] === standing);
    await Promise.all(those("done").map((digest) => this.finish(digest)));
    for (const digest of those("failed")) {
      const entry = await this.queue.getJob(digest);
      const reason = String(entry?.failedReason).slice(0, 1000);
      const problem = `failed ${entry?.attemptsMade} times: ${reason.replace(/\.$/, "")}`;
      this.end(digest, ({ reject }) =>
        reject(new DiffeoError("data", problem, "the same command tries it again")),
      );
    }
    const gone = those("gone").flatMap((digest) => {
      const job = this.open.get(digest)?.job;
      return job ? [entryOf(job, digest)] : [];
    });
    if (gone.length > 0) await this.queue.addBulk(gone);
  }

  private async finish(digest: string): Promise<void> {
    const result = await getResult(this.client, digest);
    if (result) this.end(digest, ({ resolve }) => resolve(result));
  }

  private end(digest: string, how: (job: Open) => void): void {
    const job = this.open.get(digest);
    this.open.delete(digest);
    if (job) how(job);
  }

  /**
   * An entry goes after its result is there: one that is not there before, and has no result after, is
   * not to be waited for.
   */
  private async standingOf(digests: readonly string[]): Promise<Standing[]> {
    if (digests.length === 0) return [];
    const pipeline = this.client.pipeline();
    for (const digest of digests)
      pipeline
        .exists(this.queue.toKey(digest))
        .zscore(this.queue.toKey("failed"), digest)
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
}

async function bringInputs(client: Redis, inputs: Inputs): Promise<void> {
  for (const [digest, bytes] of inputs) await putBytes(client, bytes, digest);
}

export async function openQueue(options: QueueOptions): Promise<Executor> {
  const { address, device, inputs, say } = options;
  const { client, close } = await connect(address, say);
  try {
    await bringInputs(client, inputs);
  } catch (error) {
    await close();
    throw refusalOf(error, address) ?? error;
  }
  const queue = new Queue<Job>(queueName(device), onPrefix(client));
  const events = new QueueEvents(queueName(device), onPrefix(client));
  const executor = new QueueExecutor(options, client, queue);
  queue.on("error", (error) => executor.onError(error));
  events.on("error", (error) => executor.onError(error));
  events.on("completed", ({ jobId }) => executor.hear(jobId));
  events.on("failed", ({ jobId }) => executor.hear(jobId));
  return {
    run: (job) => executor.run(job),
    workers: () => executor.workers(),
    close: async () => {
      await executor.close();
      await events.close().catch(() => undefined);
      await queue.close().catch(() => undefined);
      await close();
    },
  };
}
