/** Whether a process of this machine is still there. */
import { readFileSync, readlinkSync } from "node:fs";

export interface ProcessName {
  readonly pid: number;
  /**
   * When it began, in ticks since the machine did, where the system says: a number of an ended
   * process is given again.
   */
  readonly began?: string | undefined;
}

/** The 22nd field of /proc/PID/stat; the second may hold blanks and parentheses. */
export function beganAt(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

/**
 * Where numbers of processes mean the same: a boot of the machine and a PID namespace of it, where
 * the system says. Containers may share a host name and a folder, and count their processes apart.
 */
export function processSpace(): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

export function isAlive({ pid, began }: ProcessName): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // One that may not be signalled is there.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = began === undefined ? undefined : beganAt(pid);
  return now === undefined || now === began;
}
