/** Keys on the server, and settings of commands and workers. */
import type { JobsOptions } from "bullmq";
import type { JobDescription } from "diffeo/job";
import type { Redis } from "ioredis";
import { ATTEMPTS } from "../local.ts";

const PREFIX = "diffeo";

/**
 * The options of BullMQ's classes: the prefix of our keys, and no check of the server's version,
 * because Redis from 6.2 and every Valkey work.
 */
export const onPrefix = (connection: Redis) => ({
  connection,
  prefix: PREFIX,
  skipVersionCheck: true,
});

/** There is one queue per device, because the device determines which workers can run a job. */
export const DEVICES: readonly string[] = ["cpu", "webgpu", "cuda"];
export const queueName = (device: string): string => `jobs-${device}`;

export const bytesKey = (digest: string): string => `${PREFIX}:bytes:${digest}`;
export const chunkKey = (digest: string, i: number): string => `${bytesKey(digest)}:${i}`;
export const resultKey = (job: string): string => `${PREFIX}:result:${job}`;
/** The ids of workers, and the reports of each. */
export const WORKERS = `${PREFIX}:workers`;
export const workerKey = (id: string): string => `${PREFIX}:worker:${id}`;

export const SECONDS_KEPT = 7 * 24 * 3600;

/**
 * A job for BullMQ. Its id is its digest, so a job that is already on the queue is not added again.
 */
export const entryOf = (
  job: JobDescription,
  digest: string,
): { name: string; data: JobDescription; opts: JobsOptions } => ({
  name: job.kind,
  data: job,
  opts: {
    jobId: digest,
    attempts: ATTEMPTS,
    backoff: { type: "fixed", delay: 1000 },
    removeOnComplete: true,
    removeOnFail: { age: SECONDS_KEPT },
    stackTraceLimit: 1,
  },
});
