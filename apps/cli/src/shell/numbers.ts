/**
 * Rows of numbers as text, in pieces, because all rows together may exceed the maximum length of a
 * string.
 */
import type { TypedArray } from "diffeo/graph";

export interface NumberRows {
  readonly columns: readonly string[];
  readonly rows: number;
  /** Row after row, one number per column. */
  readonly values: TypedArray;
}

/** Approximate number of values per piece. */
const PIECE = 4096;

const quoted = (name: string): string =>
  /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;

/** The rows of each piece. */
function* pieces({ columns, rows, values }: NumberRows): Generator<readonly TypedArray[]> {
  const n = columns.length;
  const together = Math.max(1, Math.floor(PIECE / n));
  for (let from = 0; from < rows; from += together)
    yield Array.from({ length: Math.min(together, rows - from) }, (_, i) =>
      values.subarray((from + i) * n, (from + i + 1) * n),
    );
}

/** CSV: a line of names, then one line per row. */
export function* numberLines(table: NumberRows): Generator<string> {
  yield `${table.columns.map(quoted).join(",")}\n`;
  for (const rows of pieces(table)) yield rows.map((row) => `${row.join(",")}\n`).join("");
}

/** JSON: columns and rows, and further fields. */
export function* numbersJson(
  table: NumberRows,
  beside: Readonly<Record<string, unknown>>,
): Generator<string> {
  yield `{"columns":${JSON.stringify(table.columns)},"rows":[`;
  let comma = "";
  for (const rows of pieces(table)) {
    yield `${comma}${rows.map((row) => JSON.stringify(Array.from(row as Float64Array))).join(",")}`;
    comma = ",";
  }
  yield `],${JSON.stringify(beside).slice(1)}\n`;
}
