/** Tables of numbers: rows × columns with names, read from CSV with errors that say where. */
import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { DiffeoError, fail } from "../graph/index.ts";

export interface Table {
  /** What errors call it: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** Row-major. */
  readonly values: Float64Array;
}

const DELIMITERS = [",", ";", "\t"] as const;

/** The delimiter that cuts the first line into most cells; names may hold spaces, so a space only where no other does. */
function delimiterOf(line: string): string {
  const best = DELIMITERS.reduce((a, b) => (line.split(b).length > line.split(a).length ? b : a));
  return !line.includes(best) && line.includes(" ") ? " " : best;
}

/** A number as CSV files write it, or undefined. */
function numberOf(cell: string): number | undefined {
  const value = cell.trim() === "" ? Number.NaN : Number(cell);
  return Number.isFinite(value) ? value : undefined;
}

/** Reads CSV text. The first line is a header if any of its cells is not a number; blank lines are passed over. */
export function parseTable(text: string, source: string): Table {
  const delimiter = delimiterOf(text.slice(0, Math.max(0, text.search(/[\r\n]/)) || undefined));
  let records: { record: string[]; info: { lines: number } }[];
  try {
    records = parse(text, {
      delimiter,
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    throw new DiffeoError("data", `${source}: ${(error as Error).message}`, "mend the quotes of that line", {
      cause: error,
    });
  }
  if (records.length === 0) fail("data", `${source} is empty`, "give a table of numbers");
  const [first] = records;
  const header = first.record.some((cell) => numberOf(cell) === undefined);
  const columns = header ? first.record : first.record.map((_, i) => `column ${i + 1}`);
  const body = header ? records.slice(1) : records;
  if (body.length === 0) fail("data", `${source} has a header and no rows`, "give a table of numbers");
  const values = new Float64Array(body.length * columns.length);
  body.forEach(({ record, info }, i) => {
    if (record.length !== columns.length)
      fail(
        "data",
        `${source}, line ${info.lines}: ${record.length} cells where ${columns.length} columns are`,
        "give every row the same number of cells",
      );
    record.forEach((cell, j) => {
      values[i * columns.length + j] =
        numberOf(cell) ??
        fail(
          "data",
          `${source}, line ${info.lines}, column ${j + 1} ("${columns[j]}"): ${cell === "" ? "the cell is empty" : `"${cell}" is not a number`}`,
          "mend the cell, drop the row, or leave the column out with --drop",
        );
    });
  });
  return { source, columns, rows: body.length, values };
}

export async function readTable(path: string): Promise<Table> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new DiffeoError("data", `cannot read ${path} (${error.code})`, "check the path", { cause: error });
  });
  return parseTable(text, path);
}

/** One column's numbers. */
export const columnOf = ({ columns, rows, values }: Table, j: number): Float64Array =>
  Float64Array.from({ length: rows }, (_, i) => values[i * columns.length + j]);

/** The table without the columns at these positions. */
export function withoutColumns(table: Table, drop: readonly number[]): Table {
  const kept = table.columns.map((_, j) => j).filter((j) => !drop.includes(j));
  if (kept.length === 0)
    fail("usage", `${table.source}: all ${table.columns.length} columns are dropped`, "keep at least one");
  const width = table.columns.length;
  return {
    ...table,
    columns: kept.map((j) => table.columns[j]),
    values: Float64Array.from(
      { length: table.rows * kept.length },
      (_, i) => table.values[Math.floor(i / kept.length) * width + kept[i % kept.length]],
    ),
  };
}

/** Positions of columns given by name or by number from 1. */
export const columnPositions = (table: Table, names: readonly string[]): number[] =>
  names.map((name) => {
    const byName = table.columns.indexOf(name);
    const position = byName >= 0 ? byName : Number(name) - 1;
    if (!Number.isInteger(position) || position < 0 || position >= table.columns.length)
      fail(
        "usage",
        `${table.source} has no column "${name}"`,
        `use a number from 1 to ${table.columns.length} or one of ${table.columns.map((c) => `"${c}"`).join(", ")}`,
      );
    return position;
  });
