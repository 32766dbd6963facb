/**
 * Atomic file writes: a temporary file next to the target is flushed to disk, then renamed to it.
 * The new file has the mode, the owner and the group of the file it replaces. Links are followed. A
 * pipe or a device is written directly, because it cannot be replaced.
 */
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { DiffeoError, fail } from "../graph/index.ts";
import { isAlive } from "./process.ts";

/** The disk, the user's share of it, or the largest file allowed is full. */
const full: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** The error for a file that could not be written. */
export function cannotWrite(path: string, error: unknown): DiffeoError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new DiffeoError(
    "data",
    `cannot write ${path} (${code ?? message})`,
    full.includes(code)
      ? "free some space on the disk; the previous file is unchanged"
      : "check the path and its permissions",
    { cause: error },
  );
}

/**
 * The name of a temporary file next to a target, which is different for every writer. It does not
 * contain the target's name, which may already have the greatest length.
 */
const temporaryOf = (target: string): string =>
  join(dirname(target), `.${process.pid}-${randomBytes(4).toString("hex")}.diffeo.tmp`);
const temporaryName = /\.(\d+)-[0-9a-f]{8}\.diffeo\.tmp$/;
/**
 * A temporary file on a shared disk may belong to a live process on another machine, which modifies
 * it more often than this.
 */
const ABANDONED_MS = 60_000;

/** Removes temporary files of processes that have ended from a folder. Never throws. */
export async function tidyTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, pid] = temporaryName.exec(name) ?? [];
    if (pid === undefined || isAlive({ pid: Number(pid) })) continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile() && Date.now() - info.mtimeMs > ABANDONED_MS)
      await rm(path).catch(() => undefined);
  }
}

/** The content of a file: complete, in parts, or as a stream. */
type Content =
  | Uint8Array
  | string
  | Iterable<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>;

const isStream = (parts: Content): boolean => Symbol.asyncIterator in Object(parts);

/** Characters per write; a system call per line would be slow. */
const GATHERED = 2 ** 16;

/** Joins consecutive texts into fewer parts. */
async function* joinTexts(
  parts: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array | string> {
  let text = "";
  for await (const part of parts) {
    if (typeof part === "string") text += part;
    if (text.length > GATHERED || (text !== "" && typeof part !== "string")) {
      yield text;
      text = "";
    }
    if (typeof part !== "string") yield part;
  }
  yield text;
}

/**
 * The target of a path after following all links, also if the last one points to a file that does
 * not exist.
 */
export async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // A pipe, such as /dev/stdout may be, has no path.
    if (await stat(path).catch(() => undefined)) return path;
    const folder = await realpath(dirname(resolve(path))).catch(() => undefined);
    if (folder === undefined) return path;
    const link = await readlink(path).catch(() => undefined);
    return link === undefined
      ? join(folder, basename(resolve(path)))
      : followLinks(resolve(folder, link));
  }
}

/**
 * Gives a new file the owner, the group and the mode of the one it replaces. Only root can change
 * the owner, and users can choose among their own groups. If the group cannot be set, the group
 * permissions are set to those of all others, so that nobody gains access. File systems without
 * owners or modes reject both changes.
 */
async function keepAccess(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const ignore = (): undefined => undefined;
  const own = await file.stat();
  if (own.uid !== uid || own.gid !== gid)
    await file.chown(uid, gid).catch(() => file.chown(own.uid, gid).catch(ignore));
  const { uid: newUid, gid: newGid } = await file.stat();
  const bits = newUid === uid && newGid === gid ? mode & 0o7777 : mode & 0o777;
  await file.chmod(newGid === gid ? bits : (bits & 0o707) | ((bits & 0o007) << 3)).catch(ignore);
}

/** @param replaced the file whose owner, group and mode the new file gets */
async function writeAll(path: string, parts: Content, replaced?: Stats): Promise<void> {
  const file = await open(path, "w", replaced ? 0o600 : undefined);
  try {
    if (replaced) await keepAccess(file, replaced);
    const all = typeof parts === "string" || parts instanceof Uint8Array ? [parts] : parts;
    for await (const part of joinTexts(all)) await file.writeFile(part);
    // Pipes and devices need no flush.
    if ((await file.stat()).isFile()) await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Writes a file atomically: under a temporary name, which is then renamed.
 *
 * @param parts text or bytes, or a stream of them
 */
export async function writeFileAtomic(path: string, parts: Content): Promise<void> {
  const target = await followLinks(path).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
  const info = await stat(target).catch(() => undefined);
  const temporary = temporaryOf(target);
  try {
    if (info && !info.isFile() && !info.isDirectory()) return await writeAll(target, parts);
    await mkdir(dirname(target), { recursive: true });
    await writeAll(temporary, parts, info);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    // The stream itself may fail or be aborted.
    if (isStream(parts) && !("syscall" in Object(error))) throw error;
    throw cannotWrite(path, error);
  }
}

/**
 * Reads the bytes of a file or a pipe; errors name the path. Devices are rejected, because they may
 * not end.
 */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const about = await stat(path);
    if (about.isCharacterDevice() || about.isBlockDevice())
      fail("data", `${path} is a device`, "give a file or a pipe");
    return await readFile(path);
  } catch (error) {
    if (error instanceof DiffeoError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new DiffeoError("data", `cannot read ${path} (${code})`, "check the path", {
      cause: error,
    });
  }
}
