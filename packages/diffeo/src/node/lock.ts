/**
 * One process at a time on a file or in a folder: a lock next to it or in it that names its process.
 * A process that is killed leaves its lock behind. The lock is replaced where the process can be
 * looked up: on the same host, in the same boot and the same PID namespace (a container has one of
 * its own). Any other lock is left alone, since its process may live.
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
  /** Where its number means a process. */
  readonly space?: string | undefined;
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The process that a lock names; undefined where the text is not a lock. */
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

/** The end of a name that no other process uses, in whatever container it runs. */
const unique = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

/** Makes the lock with its text in it at once. Returns whether it was made. */
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
 * Takes a stale lock away. Of several that see it as stale, one takes it; another's new lock is put
 * back.
 */
async function takeAway(path: string): Promise<void> {
  const aside = `${path}.${unique()}.stale`;
  await rename(path, aside).catch(() => undefined);
  const content = await readFile(aside, "utf8").catch(() => undefined);
  if (content !== undefined && !isStale(content)) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Where a process is, seen from this one. */
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
 * Does some work with a folder to itself; the folder is made, and removed again where the work
 * leaves it empty.
 */
export const inFolder = <T>(folder: string, work: () => Promise<T>): Promise<T> =>
  holding(join(folder, ".lock"), folder, work);

/** Does the work that makes a file, alone. */
export const onFile = <T>(path: string, work: () => Promise<T>): Promise<T> =>
  holding(`${path}.lock`, path, work);
