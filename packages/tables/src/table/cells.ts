/**
 * A table as its cells are written: text, with the lines they stand in, before it is known what
 * they mean.
 */
import { fail } from "diffeo/graph";
import { readCsv, recordCutter } from "./csv.ts";
import { quote } from "./quote.ts";
import { delimiterOf, numberOf } from "./table.ts";

/** A table of cells as they are written. */
export interface CellTable {
  /** What errors call it: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The line of each row. */
  readonly lines: readonly number[];
  /** Numbers may have a comma before their fraction: no cell ends with one. Default no. */
  readonly commas?: boolean;
}

export interface CellReader {
  /**
   * The rows that end in a piece, after those before it; undefined before the first line has ended.
   */
  readonly add: (piece: string) => CellTable | undefined;
  /** The rest, which no line end closes. */
  readonly end: () => CellTable;
}

const EMPTY = new Set(["", "na", "n/a", "nan", "null"]);

/** Whether a cell says that there is nothing: it is empty, or NA, N/A, NaN or null in any case. */
export const isEmpty = (cell: string): boolean => EMPTY.has(cell.toLowerCase());

/** What people write where a number is missing. In a column of texts these are labels. */
const NO_NUMBER = new Set(["?", "-", "--", "–", ".", "..", "none", "missing", "unknown", "#n/a"]);

/** Whether a cell of a column of numbers says that its number is missing. */
export const isMissingNumber = (cell: string): boolean =>
  isEmpty(cell) || NO_NUMBER.has(cell.toLowerCase());

/** No record is longer: a quote that does not close has swallowed the rest of the file. */
const MOST_RECORD = 2 ** 28;

/** Names in the first record. */
function namesIn(cells: readonly string[], source: string, line: number): readonly string[] {
  const twice = cells.find((name, i) => cells.indexOf(name) !== i);
  if (twice !== undefined)
    fail(
      "data",
      `${source}, line ${line}: two columns are named ${quote(twice)}`,
      "give every column its own name",
    );
  requireNames(cells, source, line);
  return [...cells];
}

/**
 * A line of numbers is a row, unless they rise, as years and wavelengths do: then they may be
 * names.
 */
function requireNames(cells: readonly string[], source: string, line: number): void {
  const numbers = cells.map((cell) => numberOf(cell) ?? Number.NaN);
  if (numbers.some(Number.isNaN)) return;
  const rise = numbers.length > 1 && numbers.every((v, i) => i === 0 || v > numbers[i - 1]);
  if (!(rise && (numbers.length > 2 || numbers.every(Number.isInteger))))
    fail(
      "data",
      `${source}, line ${line}: there are numbers where names should be`,
      "put a line of names first",
    );
}

/** Reads CSV text that comes in pieces and whose first line is names. */
export function cellReader(source: string): CellReader {
  const cutter = recordCutter();
  let columns: readonly string[] | undefined;
  let [delimiter, line, count] = ["", 1, 0];
  const read = (text: string): CellTable | undefined => {
    const rows: string[][] = [];
    const lines: number[] = [];
    if (!columns) delimiter = delimiterOf(text);
    line = readCsv(
      text,
      delimiter,
      source,
      (cells, at) => {
        if (!columns) columns = namesIn(cells, source, at);
        else if (cells.length !== columns.length)
          fail(
            "data",
            `${source}, line ${at}: ${cells.length} ${cells.length === 1 ? "cell" : "cells"} where ${columns.length} columns are`,
            "give every row the same number of cells",
          );
        else {
          rows.push([...cells]);
          lines.push(at);
        }
      },
      line,
    );
    count += rows.length;
    return columns && { source, columns, rows, lines, ...(delimiter !== "," && { commas: true }) };
  };
  return {
    add: (piece) => {
      const text = cutter.add(piece);
      if (cutter.rest().length > MOST_RECORD)
        fail(
          "data",
          `${source}, line ${line}: a record without end`,
          "close the quote that opens in it",
        );
      return text === "" ? undefined : read(text);
    },
    end: () => {
      const last = read(cutter.rest());
      if (!last)
        return fail("data", `${source} is empty`, "give a line of names and rows below it");
      if (count === 0)
        fail("data", `${source} has names and no rows`, "give rows below the line of names");
      return last;
    },
  };
}

/** Reads CSV text whose first line is names. */
export function parseCells(text: string, source: string): CellTable {
  const reader = cellReader(source);
  return joinTables([reader.add(text), reader.end()]);
}

/** Tables of one file as one. */
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

/** CSV text: a line of names, then one a row. */
export const serializeCells = (
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string => cellLines([columns, ...rows]);
