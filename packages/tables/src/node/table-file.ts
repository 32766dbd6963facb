/** Tables from CSV files. */
import { fail } from "diffeo/graph";
import { readBytes } from "diffeo/node";
import { parseTable, type Selection, type Table } from "../table/table.ts";

/** The longest text there can be. */
const MOST_BYTES = 2 ** 29 - 25;

export async function readTable(path: string, select?: Selection, header?: boolean): Promise<Table> {
  const bytes = await readBytes(path);
  if (bytes.length > MOST_BYTES)
    fail("data", `${path} has ${Math.round(bytes.length / 1e6)} MB, 536 are read at most`, "give a part of its rows");
  return parseTable(new TextDecoder().decode(bytes), path, select, header);
}
