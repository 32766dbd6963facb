/**
 * A worker of a queue: it runs jobs in its own processes, and stores their results on the server.
 * It opens no port, runs only the code of its kinds, and writes no files except inputs in its
 * cache.
 *
 * A worker that is killed loses nothing, because a job is leased, not removed. A lease that is not
 * renewed expires, and another worker runs the job. A result that was stored before is found and
 * not computed again.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Job as Entry, Queue, WaitingError, Worker } from "bullmq";
import { fail } from "diffeo/graph";
import { type JobDescription, requireDescription } from "diffeo/job";
import { openPool, type Pool } from "diffeo/node";
import { type InputCache, openCache } from "../cache.ts";
import { digestOf, sha256 } from "../digest.ts";
import type { ProcessScript } from "../local.ts";
import { JOB, type ProcessJob, type ProcessResult } from "../runner.ts";
import type { Address } from "./address.ts";
import { atMost, connect } from "./connection.ts";
import { onPrefix, queueName } from "./names.ts";
import { refusalOf } from "./refusal.ts";
import { getBytes, hasResult, MOST_RESULT, putResult } from "./store.ts";
import { heartbeat } from "./workers.ts";

/** Options of a worker: its queue, resources and limits. */
export interface WorkerOptions {
  readonly address: Address;
  readonly name: string;
  readonly release: string;
  readonly device: string;
  /** Jobs at a time, with one process per job, and threads per operation in each. */
  readonly jobs: number;
  readonly threads: number;
  /** The script of a process, which calls `serveRunner`. */
  readonly script: ProcessScript;
  /** Limits per job; a result or an input larger than the memory is refused. */
  readonly limits: { readonly seconds: number; readonly bytes: number };
  /** The folder of inputs, and the limit on its bytes. */
  readonly cache: { readonly folder: string; readonly bytes: number };
  /** Seconds until another worker takes over the job of a lost one. Default 20. */
  readonly leaseSeconds?: number;
  /** End when no job is waiting. Default: wait for more until the signal is aborted. */
  readonly once?: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** After this many lost workers, the job itself is taken to be the reason. */
const MOST_LOST = 10;
/** Seconds without an event after which a worker checks for jobs. */
const ASK_SECONDS = 2;
/** Time for the jobs of a stopped worker to return to the queue. */
const STOP_MS = 3000;

const short = (digest: string | undefined): string => `${(digest ?? "").slice(0, 12)}…`;

interface Serving {
  readonly options: WorkerOptions;
  readonly client: Awaited<ReturnType<typeof connect>>["client"];
  readonly pool: Pool;
  readonly cache: InputCache;
  readonly counts: { done: number; failed: number; active: number };
  /** A server that refuses ends the worker; a lost connection is reported elsewhere. */
  readonly onError: (error: unknown) => void;
}

/** Runs a job of the queue, unless it has a result. */
async function doJob(
  entry: Entry<unknown>,
  { options, client, pool, cache }: Serving,
): Promise<void> {
  const { limits, threads, signal, name, say } = options;
  const job: JobDescription = requireDescription(entry.data);
  const digest = digestOf(job);
  if (digest !== entry.id)
    fail(
      "data",
      `a job with digest ${short(digest)} has the name ${short(entry.id)}`,
      "name jobs by their digests",
    );
  if (await hasResult(client, digest)) return;
  const fetch = (input: string): Promise<Uint8Array> =>
    cache.get(input, () => getBytes(client, input, limits.bytes));
  const parameters: ProcessJob = { job, threads };
  const { bytes, seconds } = (await pool.run(
    { kind: JOB, parameters },
    { onAsk: (input) => fetch(input as string), signal },
  )) as ProcessResult;
  if (bytes.length > Math.min(MOST_RESULT, limits.bytes))
    fail(
      "data",
      `the result has ${(bytes.length / 1e6).toFixed(1)} MB, more than the memory limit of a job`,
      "allow more memory",
    );
  const own = sha256(bytes);
  const kept = await putResult(client, digest, { bytes, sha256: own, seconds, worker: name });
  if (kept !== own)
    say(
      `job ${short(digest)} has a different result on this worker than before; the earlier ` +
        "result is kept",
    );
}

/** Runs a job and counts it. A stopped worker returns its jobs to the queue. */
async function serveJob(
  entry: Entry<unknown>,
  token: string | undefined,
  serving: Serving,
): Promise<void> {
  const { counts, onError, options } = serving;
  counts.active++;
  try {
    await doJob(entry, serving);
    counts.done++;
  } catch (error) {
    onError(error);
    if (options.signal.aborted) {
      await entry.moveToWait(token);
      throw new WaitingError();
    }
    counts.failed++;
    const name = String(entry.name).slice(0, 100);
    const message = (error as Error).message.slice(0, 500);
    options.say(`job ${short(entry.id)} (${name}) failed: ${message}`);
    throw error;
  } finally {
    counts.active--;
  }
}

/** The worker of BullMQ, which leases jobs and calls `serveJob` with each. */
function openWorker(serving: Serving): Worker<unknown> {
  const { client, onError, options } = serving;
  const lease = (options.leaseSeconds ?? 20) * 1000;
  const worker = new Worker<unknown>(
    queueName(options.device),
    (entry, token) => serveJob(entry, token, serving),
    {
      ...onPrefix(client),
      name: options.name,
      concurrency: options.jobs,
      lockDuration: lease,
      stalledInterval: lease / 2,
      maxStalledCount: MOST_LOST,
      drainDelay: ASK_SECONDS,
      runRetryDelay: 1000,
    },
  );
  worker.on("error", onError);
  return worker;
}

/** Serves the queue until the signal is aborted or, with `once`, until no job is waiting. */
export async function serveQueue(
  options: WorkerOptions,
): Promise<{ readonly done: number; readonly failed: number }> {
  const { address, name, device, jobs, threads, limits, release, script, say } = options;
  const { client, close } = await connect(address, say, { signal: options.signal });
  const pool = openPool(script.url, { workers: jobs, limits, execArgv: script.execArgv });
  const refused = new AbortController();
  const signal = AbortSignal.any([options.signal, refused.signal]);
  const onError = (error: unknown): void => {
    const refusal = refusalOf(error, address);
    if (refusal) refused.abort(refusal);
  };
  const counts = { done: 0, failed: 0, active: 0 };
  const cache = openCache(options.cache.folder, options.cache.bytes);

  const worker = openWorker({
    options: { ...options, signal },
    client,
    pool,
    cache,
    counts,
    onError,
  });
  const queue = new Queue(queueName(device), onPrefix(client));
  queue.on("error", onError);
  const self = { name, host: hostname(), pid: process.pid, release, device, jobs, threads, limits };
  const { end } = heartbeat(client, randomUUID(), () => ({ ...self, ...counts }));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (options.once) whenDrained(queue, () => counts.active === 0, signal, onError).then(resolve);
  });
  const leave = async (): Promise<void> => {
    await worker.close();
    await queue.close();
    await end();
  };
  // The jobs of a stopped worker return to the queue, unless the server is frozen.
  await (signal.aborted ? atMost(leave(), STOP_MS) : leave());
  await pool.close();
  await close();
  refused.signal.throwIfAborted();
  return { done: counts.done, failed: counts.failed };
}

/** Resolves when this worker has no job and none is waiting, or the signal is aborted. */
async function whenDrained(
  queue: Queue,
  idle: () => boolean,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (signal.aborted || !idle()) continue;
    const waiting = await queue
      .getJobCounts("wait", "delayed", "prioritized")
      .catch((error: unknown) => {
        onError(error);
        return { wait: 1 };
      });
    if (Object.values(waiting).every((n) => n === 0) && idle()) return;
  }
}
