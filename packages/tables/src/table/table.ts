/**
 * Tables of numbers: rows × columns with names, read from CSV, with errors that name the line and
 * column.
 */
import { fail } from "diffeo/graph";
import { readCsv } from "./csv.ts";
import { quote, quoteList } from "./quote.ts";

/** A table of numbers. */
export interface Table {
  /** Its name in errors: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** Row-major. */
  readonly values: Float64Array;
}

/** The facts about a table before its rows. */
export type Heading = Pick<Table, "source" | "columns">;

/** Which columns to read, by position; cells of other columns may contain anything. */
export type Selection = (heading: Heading) => readonly number[];

export const allColumns: Selection = ({ columns }) => [...columns.keys()];

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * The delimiter that divides the first line into most cells. A space is the delimiter only if no
 * other one occurs, because names may contain spaces.
 */
export function delimiterOf(text: string): string {
  const line = /^[^\r\n]{0,100000}/.exec(text.trimStart())?.[0].replace(/"[^"]*"/g, "") ?? "";
  const count = (d: string): number => line.split(d).length;
  const best = DELIMITERS.reduce((a, b) => (count(b) > count(a) ? b : a));
  return !line.includes(best) && line.includes(" ") ? " " : best;
}

/**
 * A number as CSV files write it, optionally with a decimal comma, or undefined. No two adjacent
 * parts of the pattern match the same characters, so it takes linear time.
 */
export function numberOf(written: string, commas = false): number | undefined {
  const cell = commas ? written.replace(",", ".") : written;
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const notNumber = (cell: string): string =>
  cell === "" ? "the cell is empty" : `${quote(cell)} is not a number`;

/**
 * The names in a line without numbers, or in one that is set to contain names; undefined for a line
 * of numbers.
 */
function namesIn(
  cells: readonly string[],
  source: string,
  line: number,
  header?: boolean,
): readonly string[] | undefined {
  const wrong = cells.findIndex((cell) => numberOf(cell) === undefined);
  if (header === undefined && wrong >= 0 && cells.some((cell) => numberOf(cell) !== undefined))
    fail(
      "data",
      `${source}, line ${line}, column ${wrong + 1}: ${notNumber(cells[wrong])}, but others ` +
        "in this line are",
      "fix the cell, put a line of names first, or set the option header",
    );
  if (!(header ?? wrong >= 0)) return undefined;
  const seen = new Set<string>();
  for (const name of cells) {
    if (seen.has(name))
      fail(
        "data",
        `${source}, line ${line}: two columns are named ${quote(name)}`,
        "give every column its own name",
      );
    seen.add(name);
  }
  return cells;
}

/** Collects numbers in an array that doubles when it is full. */
function growing(): {
  readonly push: (value: number) => void;
  readonly values: () => Float64Array;
} {
  let held = new Float64Array(1024);
  let count = 0;
  return {
    push: (value) => {
      if (count === held.length) {
        const larger = new Float64Array(2 * count);
        larger.set(held);
        held = larger;
      }
      held[count++] = value;
    },
    values: () => held.slice(0, count),
  };
}

/**
 * Reads CSV text. If `header` is not set, the first line is a header if none of its cells is a
 * number. Blank lines are ignored.
 */
export function parseTable(
  text: string,
  source: string,
  select: Selection = allColumns,
  header?: boolean,
): Table {
  let columns: readonly string[] | undefined;
  let chosen: readonly number[] = [];
  let rows = 0;
  const numbers = growing();
  const row = (cells: readonly string[], line: number, names: readonly string[]): void => {
    if (cells.length !== names.length)
      fail(
        "data",
        `${source}, line ${line} has ${cells.length} ` +
          `${cells.length === 1 ? "cell" : "cells"}, but there are ${names.length} columns`,
        "give every row the same number of cells",
      );
    rows++;
    for (const j of chosen)
      numbers.push(
        numberOf(cells[j]) ??
          fail(
            "data",
            `${source}, line ${line}, column ${j + 1} (${quote(names[j])}): ${notNumber(cells[j])}`,
            "fix the cell, drop the row, or omit the column",
          ),
      );
  };
  readCsv(text, delimiterOf(text), source, (cells, line) => {
    if (columns) return row(cells, line, columns);
    const names = namesIn(cells, source, line, header);
    columns = names ?? cells.map((_, i) => `column ${i + 1}`);
    chosen = select({ source, columns });
    if (!names) row(cells, line, columns);
  });
  if (!columns) return fail("data", `${source} is empty`, "give a table of numbers");
  if (rows === 0) fail("data", `${source} has a header but no rows`, "give a table of numbers");
  const names: readonly string[] = columns;
  return { source, columns: chosen.map((j) => names[j]), rows, values: numbers.values() };
}

/** The numbers of one column. */
export const columnOf = ({ columns, rows, values }: Table, j: number): Float64Array =>
  Float64Array.from({ length: rows }, (_, i) => values[i * columns.length + j]);

/** The selected columns, in the order of the selection. */
export function selectColumns(table: Table, select: Selection): Table {
  const chosen = select(table);
  const width = table.columns.length;
  return {
    ...table,
    columns: chosen.map((j) => table.columns[j]),
    values: Float64Array.from(
      { length: table.rows * chosen.length },
      (_, i) => table.values[Math.floor(i / chosen.length) * width + chosen[i % chosen.length]],
    ),
  };
}

/** All columns except those given by name or by number from 1. */
export const without =
  (names: readonly string[]): Selection =>
  ({ source, columns }) => {
    const dropped = names.map((name) => {
      const byName = columns.indexOf(name);
      const position = byName >= 0 ? byName : Number(name) - 1;
      if (!Number.isInteger(position) || position < 0 || position >= columns.length)
        fail(
          "usage",
          `${source} has no column ${quote(name)}`,
          `use a number from 1 to ${columns.length} or one of ${quoteList(columns)}`,
        );
      return position;
    });
    const gone = new Set(dropped);
    const kept = [...columns.keys()].filter((j) => !gone.has(j));
    if (kept.length === 0)
      fail("usage", `${source}: all ${columns.length} columns are dropped`, "keep at least one");
    return kept;
  };
