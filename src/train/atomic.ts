/** Files written whole or not at all: a temporary file beside the target, flushed to disk, then renamed over it. */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DiffeoError } from "../graph/index.ts";

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
    const { code, message } = error as NodeJS.ErrnoException;
    throw new DiffeoError(
      "data",
      `cannot write ${path} (${code ?? message})`,
      code === "ENOSPC"
        ? "free some space on the disk; what was there before is untouched"
        : "check the path and its permissions",
      { cause: error },
    );
  }
}
