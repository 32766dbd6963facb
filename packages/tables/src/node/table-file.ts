/** Tables from CSV files. */
import { createReadStream } from "node:fs";
import { DiffeoError, fail } from "diffeo/graph";
import { readBytes } from "diffeo/node";
import { type CellTable, cellReader, joinTables } from "../table/cells.ts";
import { parseTable, type Selection, type Table } from "../table/table.ts";

/** The longest text there can be. */
const MOST_BYTES = 2 ** 29 - 25;

/** What has other bytes would be read as something else: names and labels with holes in them. */
const utf8 = (): TextDecoder => new TextDecoder("utf-8", { fatal: true });

const notText = (path: string, cause: unknown): never => {
  throw new DiffeoError("data", `${path} is no text in UTF-8`, "save it as CSV in UTF-8", {
    cause,
  });
};

async function textOf(path: string): Promise<string> {
  const bytes = await readBytes(path);
  if (bytes.length > MOST_BYTES)
    fail(
      "data",
      `${path} has ${Math.round(bytes.length / 1e6)} MB, 536 are read at most`,
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
 * @throws DiffeoError of kind `data` that names the line and the column of what is not a number
 */
export const readTable = async (
  path: string,
  select?: Selection,
  header?: boolean,
): Promise<Table> => parseTable(await textOf(path), path, select, header);

/** The text of a file, in pieces. */
async function* piecesOf(path: string): AsyncGenerator<string> {
  const decoder = utf8();
  const decoded = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (error) {
      return notText(path, error);
    }
  };
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: 2 ** 20 }))
      yield decoded(bytes as Uint8Array);
  } catch (error) {
    if (error instanceof DiffeoError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new DiffeoError("data", `cannot read ${path} (${code})`, "check the path", {
      cause: error,
    });
  }
  yield decoded();
}

/** A file's cells as they are written, below a line of names, in pieces as they are read. */
async function* cellPieces(path: string): AsyncGenerator<CellTable> {
  const reader = cellReader(path);
  for await (const piece of piecesOf(path)) {
    const found = reader.add(piece);
    if (found) yield found;
  }
  yield reader.end();
}

/** A file's cells as they are written, below a line of names. */
export async function readCells(path: string): Promise<CellTable> {
  const pieces: CellTable[] = [];
  for await (const piece of cellPieces(path)) pieces.push(piece);
  return joinTables(pieces);
}

/** The same in batches of so many rows: memory does not grow with the file. */
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
