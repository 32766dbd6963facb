/**
 * Files written whole or not at all: a temporary file beside the target, flushed to disk, then renamed over it. Links are
 * followed. A pipe or a device cannot be replaced and is written to.
 */
import { mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DiffeoError } from "../graph/index.ts";

/** The disk, the user's share of it, or the largest file allowed is full. */
const full: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** What to raise when a file could not be written. */
export function cannotWrite(path: string, error: unknown): DiffeoError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new DiffeoError(
    "data",
    `cannot write ${path} (${code ?? message})`,
    full.includes(code)
      ? "free some space on the disk; what was there before is untouched"
      : "check the path and its permissions",
    { cause: error },
  );
}

type Content = Uint8Array | string | readonly Uint8Array[];

async function writeAll(path: string, parts: Content): Promise<void> {
  const file = await open(path, "w");
  try {
    for (const part of Array.isArray(parts) ? parts : [parts]) await file.writeFile(part as Uint8Array | string);
    // Neither a pipe nor a device has anything to flush.
    if ((await file.stat()).isFile()) await file.sync();
  } finally {
    await file.close();
  }
}

export async function writeFileAtomic(path: string, parts: Content): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const there = await stat(target).catch(() => undefined);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    if (there && !there.isFile() && !there.isDirectory()) return await writeAll(target, parts);
    await mkdir(dirname(target), { recursive: true });
    await writeAll(temporary, parts);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cannotWrite(path, error);
  }
}

/** A file's bytes, or an error that names it. */
export const readBytes = (path: string): Promise<Uint8Array> =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new DiffeoError("data", `cannot read ${path} (${error.code})`, "check the path", { cause: error });
  });
