/**
 * Results in a folder that machines share: one file a job, named by the job's digest, written
 * whole or not at all. A line of JSON says what the bytes after it are; a file that is not what it
 * says is none, and its job is done again.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "diffeo/node";
import * as v from "valibot";
import type { Executor, JobResult } from "../job/executor.ts";
import { digestOf, sha256 } from "./digest.ts";

const head = v.object({
  job: v.string(),
  sha256: v.string(),
  seconds: v.number(),
  worker: v.pipe(v.string(), v.maxLength(300)),
});

const pathOf = (folder: string, digest: string): string => join(folder, `${digest}.job`);

const LINE = 10;

async function readResult(folder: string, digest: string): Promise<JobResult | undefined> {
  const file = await readFile(pathOf(folder, digest)).catch(() => undefined);
  const end = file?.indexOf(LINE) ?? -1;
  if (!file || end < 0) return undefined;
  try {
    const { job, ...about } = v.parse(head, JSON.parse(file.toString("utf8", 0, end)));
    const bytes = new Uint8Array(file.subarray(end + 1));
    return job === digest && about.sha256 === sha256(bytes) ? { bytes, ...about } : undefined;
  } catch {
    return undefined;
  }
}

async function writeResult(
  folder: string,
  digest: string,
  { bytes, ...about }: JobResult,
): Promise<void> {
  const line = Buffer.from(`${JSON.stringify({ job: digest, ...about })}\n`);
  await writeFileAtomic(pathOf(folder, digest), [line, bytes]);
}

/** Does what the folder has no result of. */
export function withFolder(
  executor: Executor,
  folder: string,
  { write }: { readonly write: boolean },
): Executor {
  return {
    ...executor,
    run: async (job, options) => {
      const digest = digestOf(job);
      const there = await readResult(folder, digest);
      if (there) return there;
      const result = await executor.run(job, options);
      if (write) await writeResult(folder, digest, result);
      return result;
    },
  };
}
