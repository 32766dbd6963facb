/** Files written whole or not at all: a temporary file beside the target, flushed to disk, then renamed over it. */
import { mkdir, open, rename, rm } from "node:fs/promises";
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

export async function writeFileAtomic(path: string, parts: Uint8Array | string | readonly Uint8Array[]): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(temporary, "w");
    try {
      for (const part of Array.isArray(parts) ? parts : [parts]) await file.writeFile(part as Uint8Array | string);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw cannotWrite(path, error);
  }
}
