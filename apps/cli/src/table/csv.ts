/**
 * Rows of cells as they come: to standard output as CSV or JSON, or to a file in the form that its
 * name ends with: CSV, JSON lines (.jsonl, .ndjson) or Parquet (.parquet).
 */
import type { Cell } from "diffeo/domain";
import { writeFileAtomic } from "diffeo/node";
import { cellLines, jsonLines } from "diffeo-tables";
import { parquetBytes } from "diffeo-tables/node";
import type { Io } from "../shell/io.ts";
import type { GuardOptions, NumbersOptions } from "./options.ts";

/** A number as a file writes it: its digits pass unchanged. */
export interface WrittenNumber {
  readonly text: string;
}

type Rows = readonly (readonly (Cell | WrittenNumber)[])[];

const isWritten = (cell: Cell | WrittenNumber): cell is WrittenNumber => typeof cell === "object";

/** Numbers that JSON writes as CSV does; it has no +5, .5, 5. and 007. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/** A row as JSON: the digits of a written number, or its value where JSON has no such number. */
const jsonOf = (row: Rows[number]): string =>
  `[${row
    .map((cell) => {
      if (!isWritten(cell)) return JSON.stringify(cell);
      return JSON_NUMBER.test(cell.text) ? cell.text : JSON.stringify(Number(cell.text));
    })
    .join(",")}]`;

/** What a spreadsheet takes for the beginning of a formula, also in its wide forms. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;

/** A text that a spreadsheet does not run: an apostrophe before it makes it a text there too. */
const guarded = (cell: Cell): Cell =>
  typeof cell === "string" && FORMULA.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;

const textOf = (row: Rows[number], guard: boolean): Cell[] =>
  row.map((cell) => {
    if (isWritten(cell)) return cell.text;
    return guard ? guarded(cell) : cell;
  });

export interface Columns {
  readonly columns: readonly string[];
  /** What JSON says beside them. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

const isLines = (out: string): boolean => /\.(jsonl|ndjson)$/i.test(out);
const isParquet = (out: string): boolean => /\.parquet$/i.test(out);

/** A row of a file that tells numbers from texts. */
const valuesOf = (row: Rows[number]): Cell[] =>
  row.map((cell) => (isWritten(cell) ? Number(cell.text) : cell));

/** A row of JSON: digits pass where JSON has such a number. */
const jsonValuesOf = (row: Rows[number]): Rows[number] =>
  row.map((cell) => (isWritten(cell) && !JSON_NUMBER.test(cell.text) ? Number(cell.text) : cell));

/** The file in the form of its name, from rows as they come. */
async function* written(
  out: string | undefined,
  columns: readonly string[],
  batches: AsyncIterable<Rows>,
  guardFormulas: boolean,
): AsyncGenerator<string | Uint8Array> {
  if (out !== undefined && isParquet(out)) {
    // The file says at its end where columns are: its rows are held until then.
    const all: Cell[][] = [];
    for await (const rows of batches) for (const row of rows) all.push(valuesOf(row));
    yield await parquetBytes(columns, all);
  } else if (out !== undefined && isLines(out))
    for await (const rows of batches) yield jsonLines(columns, rows.map(jsonValuesOf));
  else {
    yield cellLines([textOf(columns, guardFormulas)]);
    for await (const rows of batches)
      yield cellLines(rows.map((row) => textOf(row, guardFormulas)));
  }
}

/** Writes rows under the names of their columns. */
export async function writeCells(
  io: Io,
  { columns, beside }: Columns,
  batches: AsyncIterable<Rows>,
  { out, json, guardFormulas = false }: NumbersOptions & GuardOptions,
): Promise<void> {
  let count = 0;
  // Columns and what is beside them, then rows as they come.
  const head = `${JSON.stringify({ columns, ...beside, rows: [] }).slice(0, -2)}`;
  async function* counted(): AsyncGenerator<Rows> {
    if (json) io.stdout.write(head);
    for await (const rows of batches) {
      if (json && rows.length > 0)
        io.stdout.write(`${count > 0 ? "," : ""}${rows.map(jsonOf).join(",")}`);
      count += rows.length;
      yield rows;
    }
    if (json) io.stdout.write("]}\n");
  }
  const pieces = written(out, columns, counted(), guardFormulas);
  if (out !== undefined) {
    await writeFileAtomic(out, pieces);
    (json ? io.stderr : io.stdout).write(`${count} rows: ${out}\n`);
    return;
  }
  for await (const piece of pieces) if (!json) io.stdout.write(piece);
}
