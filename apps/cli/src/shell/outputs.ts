/**
 * Checks the files that a command will write, before its work starts: none is one of its inputs, no
 * two are the same file, each can be written, and no file of the user's is replaced without
 * --force. The checks leave nothing behind.
 */
import { access, constants, open, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fail } from "diffeo/graph";
import { cannotWrite, followLinks, tidyTemporaries } from "diffeo/node";

export interface Planned {
  readonly path: string;
  /** Pattern of the first bytes of an earlier result. Such a file is replaced without --force. */
  readonly like?: RegExp;
}

export interface Around {
  /** Files that the command reads; `-` is standard input. */
  readonly inputs?: readonly (string | undefined)[];
  /** Replace existing files. */
  readonly force?: boolean | undefined;
}

export const SVG = /^<svg/;
export const PNG = /^\x89PNG/;

const errno = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * The identity of a file, the same for all names of it: its device and inode, or the path where it
 * would be created.
 */
async function placeOf(path: string): Promise<string> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  if (info) return `${info.dev}:${info.ino}`;
  // The check that the path can be written reports what is wrong with it.
  return resolve(await followLinks(path).catch(() => path));
}

/** Throws the error that creating a file there would throw. */
async function requireRoom(path: string): Promise<void> {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const info = await stat(folder).catch((error: unknown) => {
      if (errno(error) !== "ENOENT") throw error;
    });
    if (!info) continue;
    if (!info.isDirectory()) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    return access(folder, constants.W_OK | constants.X_OK);
  }
}

async function requireWritable(path: string): Promise<boolean> {
  const info = await stat(path).catch((error: unknown) => {
    if (errno(error) !== "ENOENT") throw error;
  });
  if (info?.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
  // Pipes and devices are opened for writing; a file is replaced by one written next to it.
  if (info && !info.isFile()) await access(path, constants.W_OK);
  else await requireRoom(await followLinks(path));
  return info?.isFile() === true && info.size > 0;
}

async function beginsLike(path: string, like: RegExp): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return like.test(buffer.toString("latin1", 0, bytesRead));
  } finally {
    await file.close();
  }
}

export async function outputs(
  files: readonly Planned[],
  { inputs = [], force = false }: Around = {},
): Promise<void> {
  const read = new Map<string, string>();
  for (const path of inputs)
    if (path !== undefined && path !== "-") read.set(await placeOf(path), path);
  const written = new Set<string>();
  for (const { path, like } of files) {
    if (path === "-")
      fail(
        "usage",
        "- cannot be an output file",
        "omit the option if the command prints by default, or write to /dev/stdout",
      );
    const place = await placeOf(path);
    const source = read.get(place);
    if (source !== undefined)
      fail(
        "usage",
        `${path} is ${source === path ? "" : `the same file as ${source}, `}an input of the ` +
          "command",
        "choose another file for the result",
      );
    if (written.has(place))
      fail("usage", `two results would be written to ${path}`, "choose a file for each");
    written.add(place);
    const info = await requireWritable(path).catch((error: unknown) => {
      throw cannotWrite(path, error);
    });
    if (info && !force && !(like && (await beginsLike(path, like))))
      fail("usage", `${path} already exists`, "choose another file, or use --force to replace it");
  }
  for (const folder of new Set(files.map(({ path }) => dirname(path))))
    await tidyTemporaries(folder);
}
