/**
 * Locks, so that one process at a time uses a file or a folder: a lock file next to it or in it
 * names the process. A process that is killed leaves its lock behind. The lock is replaced if the
 * process can be checked, which requires the same host, the same boot and the same PID namespace
 * (containers have their own). Other locks are kept, because their process may be alive.
 */
import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fail } from "../graph/index.ts";
import { cannotWrite } from "./atomic.ts";
import { beganAt, isAlive, type ProcessName, processSpace } from "./process.ts";

interface Holder extends ProcessName {
  readonly host: string;
  /** The space in which its process number is valid. */
  readonly space?: string | undefined;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The process that a lock names; undefined if the text is not a lock. */
function holderOf(content: string): Holder | undefined {
  try {
    const { pid, host, space, began } = JSON.parse(content) as Holder;
    const known = Number.isSafeInteger(pid) && pid > 0 && typeof host === "string";
    return known ? { pid, host, space: text(space), began: text(began) } : undefined;
  } catch {
    return undefined;
  }
}

const isHere = ({ host, space }: Holder): boolean =>
  host === hostname() && space === processSpace();

const isStale = (content: string): boolean => {
  const holder = holderOf(content);
  return holder !== undefined && isHere(holder) && !isAlive(holder);
};

const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** A suffix that no other process uses, in any container. */
const unique = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

/** Creates the lock together with its text. Returns whether it was created. */
async function make(path: string, content: string): Promise<boolean> {
  const own = `${path}.${unique()}`;
  await writeFile(own, content);
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (errno(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

/**
 * Removes a stale lock. If several processes find it stale, one removes it; a new lock of another
 * process is put back.
 */
async function takeAway(path: string): Promise<void> {
  const aside = `${path}.${unique()}.stale`;
  await rename(path, aside).catch(() => undefined);
  const content = await readFile(aside, "utf8").catch(() => undefined);
  if (content !== undefined && !isStale(content)) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Describes where a process runs, relative to this one. */
function placeOf(holder: Holder): string {
  if (holder.host !== hostname()) return ` on ${holder.host}`;
  return isHere(holder) ? "" : ` of another container or boot of ${holder.host}`;
}

async function take(path: string, what: string): Promise<void> {
  const own: Holder = {
    pid: process.pid,
    host: hostname(),
    space: processSpace(),
    began: beganAt(process.pid),
  };
  while (!(await make(path, `${JSON.stringify(own)}\n`))) {
    const found = await readFile(path, "utf8").catch(() => undefined);
    if (found === undefined) continue;
    if (!isStale(found)) {
      const holder = holderOf(found);
      const who = holder ? `process ${holder.pid}${placeOf(holder)}` : "another";
      fail(
        "usage",
        `${what} is in use by ${who}`,
        `wait until it is done; if it is gone, delete ${path}`,
      );
    }
    await takeAway(path);
  }
}

async function holding<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw cannotWrite(folder, error);
  });
  await take(path, what).catch((error: unknown) => {
    throw errno(error) === undefined ? error : cannotWrite(path, error);
  });
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
    if (made !== undefined) await rmdir(folder).catch(() => undefined);
  }
}

/**
 * Runs work with exclusive use of a folder. The folder is created, and removed if it is empty
 * afterwards.
 */
export const inFolder = <T>(folder: string, work: () => Promise<T>): Promise<T> =>
  holding(join(folder, ".lock"), folder, work);

/** Runs work with exclusive use of a file. */
export const onFile = <T>(path: string, work: () => Promise<T>): Promise<T> =>
  holding(`${path}.lock`, path, work);
