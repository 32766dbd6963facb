/**
 * Memory and time of a process that runs a job: the limits are set before, checked while it runs,
 * and a process that takes more is ended. Memory is what is resident, as the system counts it; four
 * looks a second miss a peak that is shorter.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { DiffeoError } from "../graph/index.ts";

/** The time and the memory that a job may take. */
export interface JobLimits {
  /** From the moment a process is given the job. */
  readonly seconds?: number;
  /** Of memory, of the whole process. */
  readonly bytes?: number;
}

const EVERY_MS = 250;

/** Resident bytes of a process; none where it is gone or the system does not say. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined);
  const kilobytes =
    status === undefined
      ? (await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]).catch(() => undefined))
          ?.stdout
      : /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** Calls `exceeded` once, if the process takes more than it may. Returns what ends the watch. */
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
            `the job took ${(taken / 1e9).toFixed(2)} GB of memory, ${(bytes / 1e9).toFixed(2)} are allowed`,
          );
      }, EVERY_MS),
    );
  return end;
}
