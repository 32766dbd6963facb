/** Keys on the server, and the settings that commands and workers share. */
import type { JobsOptions } from "bullmq";
import type { JobDescription } from "diffeo/job";
import type { Redis } from "ioredis";
import { ATTEMPTS } from "../local.ts";

const PREFIX = "diffeo";

/**
 * The options of BullMQ's classes: the prefix of our keys, and no check of the server's version,
 * since any Redis from 6.2 and any Valkey will do.
 */
export const onPrefix = (connection: Redis) => ({
  connection,
  prefix: PREFIX,
  skipVersionCheck: true,
});

/** Where a job can be run decides who may take it: a queue a device. */
export const DEVICES: readonly string[] = ["cpu", "webgpu", "cuda"];
export const queueName = (device: string): string => `jobs-${device}`;

export const bytesKey = (digest: string): string => `${PREFIX}:bytes:${digest}`;
export const chunkKey = (digest: string, i: number): string => `${bytesKey(digest)}:${i}`;
export const resultKey = (job: string): string => `${PREFIX}:result:${job}`;
/** The ids of workers, and what each says of itself. */
export const WORKERS = `${PREFIX}:workers`;
export const workerKey = (id: string): string => `${PREFIX}:worker:${id}`;

export const SECONDS_KEPT = 7 * 24 * 3600;

/**
 * A job as BullMQ takes it. One that is on the queue already is not added again: its id is its
 * digest.
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
