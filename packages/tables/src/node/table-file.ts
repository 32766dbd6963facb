/** Tables from files: CSV, JSON lines or Parquet, each optionally compressed by gzip. */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { getHeapStatistics } from "node:v8";
import { DiffeoError, fail } from "diffeo/graph";
import { readBytes } from "diffeo/node";
import { type CellTable, cellReader, joinTables } from "../table/cells.ts";
import { isJson, parseJsonCells } from "../table/json.ts";
import { parseTable, type Selection, type Table } from "../table/table.ts";
import { unpacked, unpackedPieces, unpackedStart } from "./gzip.ts";
import { isParquet, parquetCells } from "./parquet.ts";

/** The maximum length of a string. */
const MOST_BYTES = 2 ** 29 - 25;

/**
 * Other encodings are refused, because names and labels would be read wrongly, with missing values
 * in them.
 */
const utf8 = (): TextDecoder => new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes text by its first bytes: UTF-16 with a byte-order mark, as Excel writes it, otherwise
 * UTF-8.
 */
const decoderOf = (first: Uint8Array | undefined): TextDecoder =>
  first?.[0] === 0xff && first[1] === 0xfe ? new TextDecoder("utf-16le", { fatal: true }) : utf8();

const notText = (path: string, cause: unknown): never => {
  throw new DiffeoError("data", `${path} is not text in UTF-8`, "save it as CSV in UTF-8", {
    cause,
  });
};

/** The bytes of a file, decompressed if it is gzip's. */
const bytesOf = async (path: string): Promise<Uint8Array> =>
  unpacked(await readBytes(path), path, MOST_BYTES);

async function textOf(path: string): Promise<string> {
  const bytes = await bytesOf(path);
  if (bytes.length > MOST_BYTES)
    fail(
      "data",
      `${path} has ${Math.round(bytes.length / 1e6)} MB, more than the maximum of 536 MB`,
      "give a part of its rows",
    );
  try {
    return utf8().decode(bytes);
  } catch (error) {
    return notText(path, error);
  }
}

/**
 * Reads a table of numbers from a CSV file.
 *
 * @throws DiffeoError of kind `data` that names the line and the column of a cell that is not a
 * number
 */
export const readTable = async (
  path: string,
  select?: Selection,
  header?: boolean,
): Promise<Table> => parseTable(await textOf(path), path, select, header);

/** The text of a file, in pieces. */
async function* piecesOf(path: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  const decoded = (bytes?: Uint8Array): string => {
    decoder ??= decoderOf(bytes);
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      return notText(path, error);
    }
  };
  try {
    const stream = createReadStream(path, { highWaterMark: 2 ** 20 });
    for await (const bytes of unpackedPieces(stream, path)) yield decoded(bytes);
  } catch (error) {
    if (error instanceof DiffeoError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new DiffeoError("data", `cannot read ${path} (${code})`, "check the path", {
      cause: error,
    });
  }
  yield decoded();
}

/** Number of bytes that determine the format of a file. */
const FORM = 4096;

/** The first bytes of a file; empty for a pipe, which can be read only once. */
async function firstBytes(path: string): Promise<Uint8Array> {
  try {
    if (!(await stat(path)).isFile()) return new Uint8Array();
    const file = await open(path);
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(FORM), 0, FORM, 0);
      return unpackedStart(buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    // Reading the whole file reports why it cannot be read.
    return new Uint8Array();
  }
}

/** A file's cells as text, in pieces as they are read; JSON and Parquet in one piece. */
async function* cellPieces(path: string): AsyncGenerator<CellTable> {
  const first = await firstBytes(path);
  if (isParquet(first)) {
    yield await parquetCells(await bytesOf(path), path);
    return;
  }
  if (isJson(new TextDecoder().decode(first))) {
    yield parseJsonCells(await textOf(path), path);
    return;
  }
  const reader = cellReader(path);
  for await (const piece of piecesOf(path)) {
    const found = reader.add(piece);
    if (found) yield found;
  }
  yield reader.end();
}

/**
 * Bytes of memory for a row and for a cell as text, and the share of the heap that all may take.
 */
const [ROW_BYTES, CELL_BYTES, MOST_SHARE] = [64, 48, 0.5];

/** Number of rows with this many columns that fit into half of a heap. */
const mostRows = (columns: number, heap: number): number =>
  Math.floor((MOST_SHARE * heap) / (ROW_BYTES + CELL_BYTES * columns));

/**
 * Reads a file's cells as text: CSV, JSON lines, a JSON list of objects, or Parquet, each
 * optionally compressed by gzip.
 *
 * @param heap bytes of memory, half of which the table may take
 * @throws DiffeoError of kind `data` if the table is larger
 */
export async function readCells(
  path: string,
  heap = getHeapStatistics().heap_size_limit,
): Promise<CellTable> {
  const pieces: CellTable[] = [];
  let rows = 0;
  for await (const piece of cellPieces(path)) {
    rows += piece.rows.length;
    const most = mostRows(piece.columns.length, heap);
    if (rows > most)
      fail(
        "data",
        `${path} has more than ${most.toLocaleString("en")} rows of ${piece.columns.length} ` +
          "columns, more than fit into memory",
        "give a sample of its rows, or more memory: NODE_OPTIONS=--max-old-space-size=16000",
      );
    pieces.push(piece);
  }
  return joinTables(pieces);
}

/** The same in batches of this many rows, so that memory does not grow with the file. */
export async function* cellBatches(path: string, size: number): AsyncGenerator<CellTable> {
  let held: CellTable | undefined;
  const part = (table: CellTable, from: number, to?: number): CellTable => ({
    ...table,
    rows: table.rows.slice(from, to),
    lines: table.lines.slice(from, to),
  });
  for await (const piece of cellPieces(path)) {
    const all: CellTable = held ? joinTables([held, piece]) : piece;
    let from = 0;
    for (; all.rows.length - from >= size; from += size) yield part(all, from, from + size);
    held = part(all, from);
  }
  if (held && held.rows.length > 0) yield held;
}
