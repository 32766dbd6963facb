/** Whether a process of this machine is alive. */
import { readFileSync, readlinkSync } from "node:fs";

export interface ProcessName {
  readonly pid: number;
  /**
   * Its start time in ticks since boot, if the system reports it, because process numbers are
   * reused.
   */
  readonly began?: string | undefined;
}

/** The 22nd field of /proc/PID/stat; the second may contain blanks and parentheses. */
export function beganAt(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

/**
 * The space of process numbers: the boot and the PID namespace of the machine, if the system
 * reports them. Containers may share a host name and a folder, but have separate process numbers.
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
    // A process that may not be signalled exists.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = began === undefined ? undefined : beganAt(pid);
  return now === undefined || now === began;
}
