/**
 * Streams a text file in batches of lines: plain or gzip, by its first two bytes, from a path or,
 * for "-", from standard input. Lines may end in \n, \r\n or \r. A byte order mark is dropped.
 */
import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { DiffeoError, fail } from "diffeo/graph";
import type { LineBatch } from "../board/formats.ts";

/** The first bytes of a file, and the whole file in chunks, decompressed if it is gzip. */
export interface OpenFile {
  readonly name: string;
  readonly head: Uint8Array;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Opens a file and reads enough of it to recognise its format. */
export async function openFile(path: string, stdin: Readable = process.stdin): Promise<OpenFile> {
  const name = path === "-" ? "standard input" : path;
  const raw: Readable = path === "-" ? stdin : createReadStream(path, { highWaterMark: 1 << 18 });
  const packed = await peek(raw, name);
  if (startsWith(packed.head, [0x28, 0xb5, 0x2f, 0xfd]))
    fail(
      "data",
      `${name} is compressed with Zstandard, which diffeo does not read`,
      "decompress it first with zstd -d",
    );
  const file = startsWith(packed.head, [0x1f, 0x8b])
    ? await peek(unzip(packed.chunks), name)
    : packed;
  if (inUtf16(file.head))
    fail(
      "data",
      `${name} is text in UTF-16, which diffeo does not read`,
      "save it as UTF-8: iconv -f UTF-16 -t UTF-8",
    );
  return { name, ...file };
}

/** Longer lines do not occur in these formats: such a file is not text. */
const LONGEST_LINE = 1 << 22;

/** The lines of an open file. An error of the stream names the last complete line. */
export async function* readLines(file: OpenFile): AsyncGenerator<LineBatch> {
  const decoder = new TextDecoder("utf-8");
  // The pieces of the current line, which has not ended. Each is scanned once.
  let pieces: string[] = [];
  let length = 0;
  // A \r at the end of a chunk may be half of \r\n.
  let half = false;
  let first = 1;
  try {
    for await (const chunk of file.chunks) {
      const text: string = `${half ? "\r" : ""}${decoder.decode(chunk, { stream: true })}`;
      half = text.endsWith("\r");
      const lines = text.slice(0, half ? -1 : undefined).split(/\r\n|\n|\r/);
      const last = lines.pop() as string;
      if (lines.length > 0) {
        lines[0] = pieces.join("") + lines[0];
        yield { first, lines };
        first += lines.length;
        pieces = [];
        length = 0;
      }
      pieces.push(last);
      length += last.length;
      if (length > LONGEST_LINE)
        fail(
          "data",
          `${file.name}: line ${first} is longer than ${LONGEST_LINE} characters`,
          "check the format of the file",
        );
    }
  } catch (error) {
    throw atLine(error, file.name, first - 1);
  }
  const end = pieces.join("");
  if (end !== "" || half) yield { first, lines: [end] };
}

/** A byte order mark of two bytes, or a first character with a zero byte. */
const inUtf16 = (head: Uint8Array): boolean =>
  startsWith(head, [0xff, 0xfe]) ||
  startsWith(head, [0xfe, 0xff]) ||
  head.subarray(0, 2).includes(0);

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((b, i) => bytes[i] === b);

/** Reads enough bytes to recognise the format, and puts them back in front. */
async function peek(
  source: AsyncIterable<Uint8Array>,
  name: string,
): Promise<{ readonly head: Uint8Array; readonly chunks: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < 4096) {
      const { done, value } = await iterator.next();
      if (done) break;
      seen.push(value);
      size += value.length;
    }
  } catch (error) {
    throw atLine(error, name, 0);
  }
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* seen;
      for (let next = await iterator.next(); !next.done; next = await iterator.next())
        yield next.value;
    } finally {
      await iterator.return?.();
    }
  };
  return { head: Buffer.concat(seen), chunks: chunks() };
}

/** Decompresses chunks by gunzip; an error on either side ends both. */
const unzip = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  pipeline(Readable.from(chunks), createGunzip(), () => {});

/** Explains an error of a stream: which file, how far it was read, what to do. */
function atLine(error: unknown, name: string, line: number): Error {
  if (error instanceof DiffeoError) return error;
  const { code = "", message = String(error) } = error as NodeJS.ErrnoException;
  const read = line > 0 ? `; ${line.toLocaleString("en")} complete lines were read` : "";
  const say = (cause: string, remedy: string): DiffeoError =>
    new DiffeoError("data", cause, remedy, { cause: error });
  switch (code) {
    case "ENOENT":
      return say(`${name} does not exist`, "check the path");
    case "EISDIR":
      return say(`${name} is a folder`, "give a file in it");
    case "EACCES":
      return say(`${name} cannot be read`, "check its permissions");
    case "Z_BUF_ERROR":
      return say(
        `${name}: the gzip data end too early${read}`,
        "download or copy the file again; gzip -t checks it",
      );
    case "Z_DATA_ERROR":
      return say(
        `${name}: the gzip data are damaged (${message})${read}`,
        "download or copy the file again; gzip -t checks it",
      );
    default:
      return say(`${name}: ${message}${read}`, "check the file and the disk it is on");
  }
}
