/** Tables from CSV files. */
import { fail } from "diffeo/graph";
import { readBytes } from "diffeo/node";
import { type CellTable, parseCells } from "../table/cells.ts";
import { parseTable, type Selection, type Table } from "../table/table.ts";

/** The longest text there can be. */
const MOST_BYTES = 2 ** 29 - 25;

async function textOf(path: string): Promise<string> {
  const bytes = await readBytes(path);
  if (bytes.length > MOST_BYTES)
    fail("data", `${path} has ${Math.round(bytes.length / 1e6)} MB, 536 are read at most`, "give a part of its rows");
  return new TextDecoder().decode(bytes);
}

export const readTable = async (path: string, select?: Selection, header?: boolean): Promise<Table> =>
  parseTable(await textOf(path), path, select, header);

/** A file's cells as they are written, below a line of names. */
export const readCells = async (path: string): Promise<CellTable> => parseCells(await textOf(path), path);
