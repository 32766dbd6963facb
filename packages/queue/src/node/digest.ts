/** What names bytes and jobs: their SHA-256 in hexadecimal digits. */
import { createHash } from "node:crypto";
import { canonical, type Job } from "../job/job.ts";

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");

export const digestOf = (job: Job): string => sha256(canonical(job));

/** Files that jobs need, by their SHA-256. */
export type Inputs = ReadonlyMap<string, Uint8Array>;

export const inputsOf = (files: readonly Uint8Array[]): Inputs =>
  new Map(files.map((bytes) => [sha256(bytes), bytes]));
