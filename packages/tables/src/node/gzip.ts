/** Files compressed by gzip, read and written in pieces. */
import { constants, createGunzip, gunzipSync, gzipSync } from "node:zlib";
import { DiffeoError } from "diffeo/graph";

/** Whether bytes begin like a gzip file. */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

const damaged = (path: string, cause: unknown): never => {
  const isLong = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
  throw new DiffeoError(
    "data",
    isLong
      ? `${path} is too long to be read in one piece after decompression`
      : `${path} is incomplete or damaged: gzip cannot decompress it`,
    isLong ? "give a part of its rows, or CSV" : "write the file again",
    { cause },
  );
};

/**
 * Decompresses the first bytes of a file as far as they go; returns them unchanged if they are not
 * gzip's.
 */
export function unpackedStart(bytes: Uint8Array): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    // Reading the whole file reports what is wrong with it.
    return new Uint8Array();
  }
}

/** The bytes of a file that may be gzip-compressed, up to a limit. */
export function unpacked(bytes: Uint8Array, path: string, most: number): Uint8Array {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: most });
  } catch (error) {
    return damaged(path, error);
  }
}

/** The same in pieces. */
export async function* unpackedPieces(
  pieces: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]();
  try {
    const first = await source.next();
    if (first.done) return;
    if (isGzip(first.value)) {
      yield* gunzipped(first.value, source, path);
      return;
    }
    yield first.value;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}

/** Decompresses the pieces of a file. */
async function* gunzipped(
  first: Uint8Array,
  source: AsyncIterator<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let readFault: unknown;
  const feed = async (): Promise<void> => {
    try {
      let next: IteratorResult<Uint8Array> = { value: first };
      for (; !next.done && !gunzip.destroyed; next = await source.next())
        if (!gunzip.write(next.value) && !gunzip.destroyed)
          await new Promise((done) => {
            gunzip.once("drain", done).once("close", done);
          });
      gunzip.end();
    } catch (error) {
      readFault = error;
      gunzip.destroy(error as Error);
    }
  };
  const fed = feed();
  try {
    for await (const piece of gunzip) yield piece as Uint8Array;
  } catch (error) {
    if (readFault !== undefined) throw readFault;
    damaged(path, error);
  } finally {
    gunzip.destroy();
    await fed;
  }
}

/** Number of bytes that are compressed together. */
const AT_ONCE = 2 ** 20;

/** Compresses the pieces of a file; the same pieces give the same bytes. */
export async function* packed(
  pieces: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  // Concatenated members are one gzip file.
  const member = (): Uint8Array => {
    const bytes = gzipSync(Buffer.concat(held));
    [held, size] = [[], 0];
    return bytes;
  };
  let count = 0;
  for await (const piece of pieces) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    held.push(bytes);
    size += bytes.length;
    if (size < AT_ONCE) continue;
    count++;
    yield member();
  }
  if (size > 0 || count === 0) yield member();
}
