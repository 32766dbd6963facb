/**
 * Results in a folder that machines share: one file per job, named by the job's digest, written
 * atomically. The first line, in JSON, describes the following bytes. A file that does not match
 * its description or its job is ignored, and the job is run again.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Executor, Job } from "diffeo/job";
import { writeFileAtomic } from "diffeo/node";
import * as v from "valibot";
import { descriptionOf, digestOf, sha256 } from "./digest.ts";
import { acceptResult, Misfit, type StoredResult, storedOf } from "./stored.ts";

const head = v.object({
  job: v.string(),
  sha256: v.string(),
  seconds: v.number(),
  worker: v.pipe(v.string(), v.maxLength(300)),
});

const LINE = 10;

async function readResult(path: string, digest: string): Promise<StoredResult | undefined> {
  const file = await readFile(path).catch(() => undefined);
  if (!file) return undefined;
  const end = file.indexOf(LINE);
  try {
    const { job, ...about } = v.parse(head, JSON.parse(file.toString("utf8", 0, Math.max(0, end))));
    const bytes = new Uint8Array(file.subarray(end + 1));
    if (job === digest && about.sha256 === sha256(bytes)) return { bytes, ...about };
  } catch {
    // Not the file of a result.
  }
  throw new Misfit("it is damaged");
}

async function writeResult(
  path: string,
  digest: string,
  { bytes, ...about }: StoredResult,
): Promise<void> {
  const line = Buffer.from(`${JSON.stringify({ job: digest, ...about })}\n`);
  await writeFileAtomic(path, [line, bytes]);
}

/** Options for a folder of results. */
export interface FolderOptions {
  /** The release of the program. */
  readonly release: string;
  /** Whether new results are stored there. */
  readonly write: boolean;
  /** Called with a sentence if a result is ignored. */
  readonly say: (line: string) => void;
}

/**
 * An executor that reads results from a folder, and runs the jobs without a result.
 *
 * @param executor runs the other jobs
 * @param folder the folder of results, one file per job
 */
export function withFolder(
  executor: Executor,
  folder: string,
  { release, write, say }: FolderOptions,
): Executor {
  const placeOf = (job: Job, repeat?: number): { digest: string; path: string } => {
    const digest = digestOf(descriptionOf(job, release, repeat));
    return { digest, path: join(folder, `${digest}.job`) };
  };
  return {
    ...executor,
    run: async (job, options) => {
      const { digest, path } = placeOf(job, options?.repeat);
      try {
        const stored = await readResult(path, digest);
        if (stored) return acceptResult(job, stored);
      } catch (error) {
        if (!(error instanceof Misfit)) throw error;
        say(`${path} is not used: ${error.message}; its job runs again`);
      }
      const result = await executor.run(job, options);
      if (write) await writeResult(path, digest, storedOf(job, result));
      return result;
    },
    forget: async (job, options) => {
      await rm(placeOf(job, options?.repeat).path, { force: true });
      await executor.forget(job, options);
    },
  };
}
