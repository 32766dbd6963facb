/**
 * One process at a time on a file or in a folder: a lock beside it or in it that names who is at
 * work. A process that ended without a word leaves its lock behind; on the same machine that is
 * recognised and the lock replaced.
 */
import { link, mkdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fail } from "../graph/index.ts";
import { cannotWrite } from "./atomic.ts";
import { beganAt, isAlive, type ProcessName } from "./process.ts";

interface Holder extends ProcessName {
  readonly host: string;
}

/** Who a lock names; nobody where its text is none of ours. */
function holderOf(text: string): Holder | undefined {
  try {
    const { pid, host, began } = JSON.parse(text) as Holder;
    const known = Number.isSafeInteger(pid) && pid > 0 && typeof host === "string";
    return known ? { pid, host, began: typeof began === "string" ? began : undefined } : undefined;
  } catch {
    return undefined;
  }
}

const isStale = (text: string): boolean => {
  const holder = holderOf(text);
  return holder !== undefined && holder.host === hostname() && !isAlive(holder);
};

const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Makes the lock with its text in it at once. Returns whether it was made. */
async function make(path: string, text: string): Promise<boolean> {
  const own = `${path}.${process.pid}`;
  await writeFile(own, text);
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
  const aside = `${path}.${process.pid}.stale`;
  await rename(path, aside).catch(() => undefined);
  const text = await readFile(aside, "utf8").catch(() => undefined);
  if (text !== undefined && !isStale(text)) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function take(path: string, what: string): Promise<void> {
  const text = `${JSON.stringify({ pid: process.pid, host: hostname(), began: beganAt(process.pid) })}\n`;
  while (!(await make(path, text))) {
    const found = await readFile(path, "utf8").catch(() => undefined);
    if (found === undefined) continue;
    if (!isStale(found)) {
      const holder = holderOf(found);
      const host = holder && holder.host !== hostname() ? ` on ${holder.host}` : "";
      const who = holder ? `process ${holder.pid}${host}` : "another";
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
