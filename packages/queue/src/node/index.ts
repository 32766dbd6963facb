/** The executors of jobs. Code that connects to a server is loaded when it is first used. */
export { type FolderOptions, withFolder } from "./folder.ts";
export { type LocalOptions, openLocal, type ProcessScript } from "./local.ts";
export type { Address } from "./redis/address.ts";
export { parseAddress } from "./redis/address.ts";
export type { QueueOptions } from "./redis/executor.ts";
export type { JobFailure, QueueOverview, QueueState } from "./redis/overview.ts";
export type { WorkerOptions } from "./redis/worker.ts";
export type { WorkerState } from "./redis/workers.ts";
export { type RunnerSettings, serveRunner } from "./runner.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { descriptionOf, digestOf, inputsOf, sha256 } from "./digest.ts";

import type { Executor } from "diffeo/job";
import type { Address } from "./redis/address.ts";
import type { QueueOptions } from "./redis/executor.ts";
import type { QueueOverview } from "./redis/overview.ts";
import type { WorkerOptions } from "./redis/worker.ts";

/** Jobs on a queue, on the command's side. */
export const openQueue = async (options: QueueOptions): Promise<Executor> =>
  (await import("./redis/executor.ts")).openQueue(options);

/** Serves a queue until its signal is aborted. */
export const serveQueue = async (
  options: WorkerOptions,
): Promise<{ readonly done: number; readonly failed: number }> =>
  (await import("./redis/worker.ts")).serveQueue(options);

/** The jobs, workers and failures on a server. */
export const readQueues = async (address: Address): Promise<QueueOverview> =>
  (await import("./redis/overview.ts")).readQueues(address);

/** Removes waiting and failed jobs. Results stay. */
export const clearQueues = async (address: Address): Promise<void> =>
  (await import("./redis/overview.ts")).clearQueues(address);
