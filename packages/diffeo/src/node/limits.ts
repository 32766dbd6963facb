/**
 * Limits of the memory and time of a process that runs a job. They are checked while it runs, and a
 * process that exceeds them is ended. Memory is the resident memory; it is measured four times per
 * second, so shorter peaks are missed.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { DiffeoError } from "../graph/index.ts";

/** Limits of the time and memory of a job. */
export interface JobLimits {
  /** Seconds from the start of the job. */
  readonly seconds?: number;
  /** Bytes of resident memory of the process. */
  readonly bytes?: number;
}

const EVERY_MS = 250;

/**
 * The resident bytes of a process; undefined if it has ended or the system does not report them.
 */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined);
  const kilobytes =
    status === undefined
      ? (await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]).catch(() => undefined))
          ?.stdout
      : /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/**
 * Calls `exceeded` once if the process exceeds a limit. Returns a function that ends the checks.
 */
export function watchLimits(
  { pid }: ChildProcess,
  { seconds, bytes }: JobLimits,
  exceeded: (error: DiffeoError) => void,
): () => void {
  const timers: NodeJS.Timeout[] = [];
  const end = (): void => {
    for (const timer of timers) clearTimeout(timer);
  };
  const stop = (problem: string): void => {
    end();
    exceeded(new DiffeoError("data", problem, "allow more, or make the jobs smaller"));
  };
  if (seconds !== undefined)
    timers.push(
      setTimeout(
        () => stop(`the job took more than ${seconds} s`),
        Math.min(2 ** 31 - 1, seconds * 1000),
      ),
    );
  if (bytes !== undefined && pid !== undefined)
    timers.push(
      setInterval(async () => {
        const taken = await residentBytes(pid);
        if (taken > bytes)
          stop(
            `the job used ${(taken / 1e9).toFixed(2)} GB of memory, the limit is ` +
              `${(bytes / 1e9).toFixed(2)} GB`,
          );
      }, EVERY_MS),
    );
  return end;
}
