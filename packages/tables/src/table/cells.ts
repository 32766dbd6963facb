/**
 * A table with cells as they are written in the file: texts with their line numbers, not yet
 * interpreted.
 */
import { fail } from "diffeo/graph";
import type { CellTable } from "./cell-table.ts";

import { readCsv, recordCutter } from "./csv.ts";
import { beginsWithRow, namesIn, numberedNames } from "./header.ts";
import { isJson, parseJsonCells } from "./json.ts";
import { delimiterOf } from "./table.ts";

export type { CellTable } from "./cell-table.ts";

export interface CellReader {
  /** The rows that end in a piece of text; undefined before the first line has ended. */
  readonly add: (piece: string) => CellTable | undefined;
  /** The remaining rows, after the last line end. */
  readonly end: () => CellTable;
}

const EMPTY = new Set(["", "na", "n/a", "nan", "null"]);

/** Whether a cell is missing: it is empty, or NA, N/A, NaN or null in any case. */
export const isEmpty = (cell: string): boolean => EMPTY.has(cell.toLowerCase());

/** Common markers of a missing number. In a column of texts these are labels. */
const NO_NUMBER = new Set(["?", "-", "--", "–", ".", "..", "none", "missing", "unknown", "#n/a"]);

/** Whether a cell in a column of numbers is a marker of a missing number. */
export const isMissingNumber = (cell: string): boolean =>
  isEmpty(cell) || NO_NUMBER.has(cell.toLowerCase());

/** Maximum length of a record: an unclosed quote would include the rest of the file. */
const MOST_RECORD = 2 ** 28;

/** A record of a file, and the line in which it begins. */
interface Placed {
  readonly cells: readonly string[];
  readonly line: number;
}

/** The first line of some Excel files, which states the delimiter. */
const SEPARATOR = /^\uFEFF?sep=(.)(\r\n?|\n)/;

/** The columns' names, and whether the file has none, so that its first line is a row. */
function headerOf(records: readonly Placed[], source: string) {
  const [first] = records;
  const isUnnamed = beginsWithRow(records.map(({ cells }) => cells));
  const columns = isUnnamed
    ? numberedNames(first.cells.length)
    : namesIn(first.cells, source, first.line);
  return { columns, isUnnamed };
}

/** Every record must have a cell per column. */
function requireCells(records: readonly Placed[], columns: number, source: string): void {
  for (const { cells, line } of records)
    if (cells.length !== columns)
      fail(
        "data",
        `${source}, line ${line} has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, ` +
          `but there are ${columns} columns`,
        "give every row the same number of cells",
      );
}

/** Reads CSV text in pieces. The first line contains names unless it is like the others. */
export function cellReader(source: string): CellReader {
  const cutter = recordCutter();
  let header: ReturnType<typeof headerOf> | undefined;
  let [delimiter, line, count] = ["", 1, 0];
  const read = (piece: string): CellTable | undefined => {
    let text = piece;
    if (!header) {
      const separator = SEPARATOR.exec(text);
      if (separator) [text, line] = [text.slice(separator[0].length), 2];
      delimiter = separator?.[1] ?? delimiterOf(text);
    }
    const records: Placed[] = [];
    const add = (cells: readonly string[], at: number): void =>
      void records.push({ cells: [...cells], line: at });
    line = readCsv(text, delimiter, source, add, line);
    if (!header) {
      if (records.length === 0) return undefined;
      header = headerOf(records, source);
      if (!header.isUnnamed) records.shift();
    }
    const { columns, isUnnamed } = header;
    requireCells(records, columns.length, source);
    count += records.length;
    return {
      source,
      columns,
      rows: records.map(({ cells }) => cells),
      lines: records.map(({ line: at }) => at),
      ...(delimiter !== "," && { commas: true }),
      ...(isUnnamed && { isUnnamed }),
    };
  };
  return {
    add: (piece) => {
      const text = cutter.add(piece);
      if (cutter.rest().length > MOST_RECORD)
        fail(
          "data",
          `${source}, line ${line}: the record does not end`,
          "close the quote that opens in this line",
        );
      return text === "" ? undefined : read(text);
    },
    end: () => {
      const last = read(cutter.rest());
      if (!last)
        return fail("data", `${source} is empty`, "give a line of names and rows below it");
      if (count === 0)
        fail("data", `${source} has names but no rows`, "give rows below the line of names");
      return last;
    },
  };
}

/** Reads CSV, JSON lines, or a list of objects as JSON. */
export function parseCells(text: string, source: string): CellTable {
  if (isJson(text)) return parseJsonCells(text, source);
  const reader = cellReader(source);
  return joinTables([reader.add(text), reader.end()]);
}

/** Concatenates the tables of one file. */
export function joinTables(tables: readonly (CellTable | undefined)[]): CellTable {
  const found = tables.filter((table) => table !== undefined);
  return {
    ...found[0],
    rows: found.flatMap(({ rows }) => rows),
    lines: found.flatMap(({ lines }) => lines),
  };
}

const quoted = (cell: string | number): string => {
  const text = String(cell);
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Rows as lines of CSV. */
export const cellLines = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");

/** CSV text: a line of names, then one line per row. */
export const serializeCells = (
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string => cellLines([columns, ...rows]);
