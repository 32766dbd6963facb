/**
 * Inputs that a worker has downloaded, in a folder of limited size. Each is a file named by its
 * SHA-256, which is checked whenever it is read. The least recently used files are deleted first.
 */
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { tidyTemporaries, writeFileAtomic } from "diffeo/node";
import { sha256 } from "./digest.ts";

export interface InputCache {
  /** The bytes with this digest, downloaded if they are missing. */
  get(digest: string, fetch: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

const isDigest = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** Deletes files until the remaining ones have at most this many bytes. */
async function shrink(folder: string, most: number): Promise<void> {
  const names = (await readdir(folder)).filter(isDigest);
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name)).catch(() => ({
        size: 0,
        mtimeMs: 0,
      }));
      return { name, size, mtimeMs };
    }),
  );
  let total = files.reduce((sum, { size }) => sum + size, 0);
  for (const { name, size } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= most) return;
    await rm(join(folder, name), { force: true });
    total -= size;
  }
}

/** @param most limit on the bytes of all files; a larger input is used but not stored */
export function openCache(folder: string, most: number): InputCache {
  const fetching = new Map<string, Promise<Uint8Array>>();
  const find = async (digest: string, fetch: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    const path = join(folder, digest);
    const stored = await readFile(path).catch(() => undefined);
    if (stored && sha256(stored) === digest) {
      await utimes(path, new Date(), new Date()).catch(() => undefined);
      return stored;
    }
    const bytes = await fetch();
    if (bytes.length > most) return bytes;
    await tidyTemporaries(folder);
    await writeFileAtomic(path, bytes);
    await shrink(folder, most);
    return bytes;
  };
  return {
    get: (digest, fetch) => {
      const going =
        fetching.get(digest) ?? find(digest, fetch).finally(() => fetching.delete(digest));
      fetching.set(digest, going);
      return going;
    },
  };
}
