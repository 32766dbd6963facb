/** Tables from CSV files. */
import { readBytes } from "diffeo/node";
import { parseTable, type Selection, type Table } from "../table/table.ts";

export const readTable = async (path: string, select?: Selection, header?: boolean): Promise<Table> =>
  parseTable(new TextDecoder().decode(await readBytes(path)), path, select, header);
