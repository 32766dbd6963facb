/** A table as its cells are written: text, with the lines they stand in, before it is known what they mean. */
import { fail } from "diffeo/graph";
import { readCsv } from "./csv.ts";
import { shown } from "./shown.ts";
import { delimiterOf } from "./table.ts";

export interface CellTable {
  /** What errors call it: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The line of each row. */
  readonly lines: readonly number[];
}

const EMPTY = new Set(["", "na", "n/a", "nan", "null"]);

/** Whether a cell says that there is nothing: it is empty, or NA, N/A, NaN or null in any case. */
export const isEmpty = (cell: string): boolean => EMPTY.has(cell.toLowerCase());

/** Reads CSV text whose first line is names. */
export function parseCells(text: string, source: string): CellTable {
  let columns: readonly string[] | undefined;
  const rows: string[][] = [];
  const lines: number[] = [];
  readCsv(text, delimiterOf(text), source, (cells, line) => {
    if (!columns) {
      const twice = cells.find((name, i) => cells.indexOf(name) !== i);
      if (twice !== undefined)
        fail(
          "data",
          `${source}, line ${line}: two columns are named ${shown(twice)}`,
          "give every column its own name",
        );
      columns = [...cells];
      return;
    }
    if (cells.length !== columns.length)
      fail(
        "data",
        `${source}, line ${line}: ${cells.length} cells where ${columns.length} columns are`,
        "give every row the same number of cells",
      );
    rows.push([...cells]);
    lines.push(line);
  });
  if (!columns) return fail("data", `${source} is empty`, "give a line of names and rows below it");
  if (rows.length === 0) fail("data", `${source} has names and no rows`, "give rows below the line of names");
  return { source, columns, rows, lines };
}
