/**
 * The contents of a server: queues with their jobs, workers, and failed jobs; and the removal of
 * jobs.
 */

import { Queue } from "bullmq";
import { type JobDescription, nestsDeeply } from "diffeo/job";
import type { Address } from "./address.ts";
import { connect } from "./connection.ts";
import { DEVICES, onPrefix, queueName } from "./names.ts";
import { refusalOf } from "./refusal.ts";
import { listWorkers, type WorkerState } from "./workers.ts";

/** Numbers of waiting, active and failed jobs of a queue. */
export interface QueueState {
  readonly device: string;
  readonly waiting: number;
  readonly active: number;
  readonly failed: number;
}

/** A failed job, and the reason. */
export interface JobFailure {
  readonly device: string;
  readonly job: string;
  readonly kind: string;
  readonly parameters: unknown;
  readonly attempts: number;
  readonly reason: string;
}

/** The contents of a server: queues, workers and failures. */
export interface QueueOverview {
  readonly address: string;
  readonly queues: readonly QueueState[];
  readonly workers: readonly WorkerState[];
  /** The latest failures, at most a hundred per queue. */
  readonly failures: readonly JobFailure[];
}

const MOST_FAILURES = 100;

async function stateOf(queue: Queue, device: string): Promise<QueueState> {
  const {
    wait = 0,
    delayed = 0,
    prioritized = 0,
    active,
    failed,
  } = await queue.getJobCounts(
    ...(["wait", "delayed", "prioritized", "active", "failed"] as const),
  );
  return { device, waiting: wait + delayed + prioritized, active, failed };
}

async function failuresOf(queue: Queue, device: string): Promise<JobFailure[]> {
  const entries = await queue.getFailed(0, MOST_FAILURES - 1);
  return entries.map((entry) => ({
    device,
    job: String(entry.id),
    kind: String(entry.name).slice(0, 100),
    parameters: nestsDeeply(entry.data)
      ? "(nested too deeply to be shown)"
      : (entry.data as JobDescription | undefined)?.parameters,
    attempts: entry.attemptsMade,
    reason: String(entry.failedReason).slice(0, 1000),
  }));
}

async function onQueues<T>(
  address: Address,
  work: (
    queues: ReadonlyMap<string, Queue>,
    client: Awaited<ReturnType<typeof connect>>["client"],
  ) => Promise<T>,
): Promise<T> {
  const { client, close } = await connect(address, () => undefined);
  const queues = new Map(
    DEVICES.map((device) => [device, new Queue(queueName(device), onPrefix(client))]),
  );
  // `work` throws the error.
  for (const queue of queues.values()) queue.on("error", () => undefined);
  try {
    return await work(queues, client);
  } catch (error) {
    throw refusalOf(error, address) ?? error;
  } finally {
    for (const queue of queues.values()) await queue.close();
    await close();
  }
}

export const readQueues = (address: Address): Promise<QueueOverview> =>
  onQueues(address, async (queues, client) => {
    const workers = await listWorkers(client);
    const states = await Promise.all([...queues].map(([device, queue]) => stateOf(queue, device)));
    const failures = await Promise.all(
      [...queues].map(([device, queue]) => failuresOf(queue, device)),
    );
    const used = ({ device, waiting, active, failed }: QueueState): boolean =>
      waiting + active + failed > 0 || workers.some((worker) => worker.device === device);
    return {
      address: address.shown,
      queues: states.filter(used),
      workers,
      failures: failures.flat(),
    };
  });

/** Removes waiting and failed jobs. Active jobs are finished; results stay. */
export const clearQueues = (address: Address): Promise<void> =>
  onQueues(address, async (queues) => {
    for (const queue of queues.values()) {
      await queue.drain(true);
      while ((await queue.clean(0, 1000, "failed")).length > 0);
    }
  });
