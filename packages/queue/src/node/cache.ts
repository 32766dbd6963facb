/**
 * Inputs that a worker has fetched, in a folder of a stated size: a file each, named by its SHA-256
 * and held to it whenever it is read. What was not used for longest goes first.
 */
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { tidyTemporaries, writeFileAtomic } from "diffeo/node";
import { sha256 } from "./digest.ts";

export interface InputCache {
  /** The bytes of a digest, fetched where they are not there. */
  get(digest: string, fetch: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

const isDigest = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** Removes files until all that is left has at most so many bytes. */
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

/** @param most bytes of all files together; one that is larger is used and not kept */
export function openCache(folder: string, most: number): InputCache {
  const fetching = new Map<string, Promise<Uint8Array>>();
  const find = async (digest: string, fetch: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    const path = join(folder, digest);
    const there = await readFile(path).catch(() => undefined);
    if (there && sha256(there) === digest) {
      await utimes(path, new Date(), new Date()).catch(() => undefined);
      return there;
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
