/** Tables of numbers: rows × columns with names, read from CSV with errors that say where. */
import { parse } from "csv-parse/sync";
import { DiffeoError, fail } from "diffeo/graph";

export interface Table {
  /** What errors call it: a path or a name. */
  readonly source: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** Row-major. */
  readonly values: Float64Array;
}

/** What a table says before its rows. */
export type Heading = Pick<Table, "source" | "columns">;

/** Which columns to read, by position; cells of the others may hold anything. */
export type Selection = (heading: Heading) => readonly number[];

export const allColumns: Selection = ({ columns }) => [...columns.keys()];

const DELIMITERS = [",", ";", "\t"] as const;

/** The delimiter that cuts the first line into most cells; names may hold spaces, so a space only where no other does. */
function delimiterOf(first: string): string {
  const line = first.replace(/"[^"]*"/g, "");
  const best = DELIMITERS.reduce((a, b) => (line.split(b).length > line.split(a).length ? b : a));
  return !line.includes(best) && line.includes(" ") ? " " : best;
}

/** A number as CSV files write it, or undefined. */
function numberOf(cell: string): number | undefined {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const notNumber = (cell: string): string => (cell === "" ? "the cell is empty" : `"${cell}" is not a number`);

/** The names in a line that holds no number, or is said to hold names; undefined for a line of numbers. */
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
      `${source}, line ${line}, column ${wrong + 1}: ${notNumber(cells[wrong])}, though others in this line are`,
      "mend the cell, put a line of names first, or say with --header or --no-header whether this is one",
    );
  if (!(header ?? wrong >= 0)) return undefined;
  const twice = cells.find((name, j) => cells.indexOf(name) !== j);
  if (twice !== undefined)
    fail("data", `${source}, line ${line}: two columns are named "${twice}"`, "give every column a name of its own");
  return cells;
}

/**
 * Reads CSV text. Unless `header` says whether the first line is one, it is if none of its cells is a number; blank lines
 * are passed over.
 */
export function parseTable(text: string, source: string, select: Selection = allColumns, header?: boolean): Table {
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
  const names = namesIn(first.record, source, first.info.lines, header);
  const columns = names ?? first.record.map((_, i) => `column ${i + 1}`);
  const body = names ? records.slice(1) : records;
  if (body.length === 0) fail("data", `${source} has a header and no rows`, "give a table of numbers");
  const chosen = select({ source, columns });
  const values = new Float64Array(body.length * chosen.length);
  body.forEach(({ record, info }, i) => {
    if (record.length !== columns.length)
      fail(
        "data",
        `${source}, line ${info.lines}: ${record.length} cells where ${columns.length} columns are`,
        "give every row the same number of cells",
      );
    chosen.forEach((j, k) => {
      values[i * chosen.length + k] =
        numberOf(record[j]) ??
        fail(
          "data",
          `${source}, line ${info.lines}, column ${j + 1} ("${columns[j]}"): ${notNumber(record[j])}`,
          "mend the cell, drop the row, or leave the column out with --drop",
        );
    });
  });
  return { source, columns: chosen.map((j) => columns[j]), rows: body.length, values };
}

/** One column's numbers. */
export const columnOf = ({ columns, rows, values }: Table, j: number): Float64Array =>
  Float64Array.from({ length: rows }, (_, i) => values[i * columns.length + j]);

/** The selected columns, in the order of the selection. */
export function selected(table: Table, select: Selection): Table {
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

/** All columns but those given by name or by number from 1. */
export const without =
  (names: readonly string[]): Selection =>
  ({ source, columns }) => {
    const dropped = names.map((name) => {
      const byName = columns.indexOf(name);
      const position = byName >= 0 ? byName : Number(name) - 1;
      if (!Number.isInteger(position) || position < 0 || position >= columns.length)
        fail(
          "usage",
          `${source} has no column "${name}"`,
          `use a number from 1 to ${columns.length} or one of ${columns.map((c) => `"${c}"`).join(", ")}`,
        );
      return position;
    });
    const kept = [...columns.keys()].filter((j) => !dropped.includes(j));
    if (kept.length === 0) fail("usage", `${source}: all ${columns.length} columns are dropped`, "keep at least one");
    return kept;
  };
