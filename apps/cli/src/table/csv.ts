/**
 * Writes rows of cells as they arrive: to standard output as CSV or JSON, or to a file in the
 * format of its extension: CSV, JSON lines (.jsonl, .ndjson) or Parquet (.parquet), compressed if
 * .gz follows.
 */
import type { Cell } from "diffeo/domain";
import { writeFileAtomic } from "diffeo/node";
import { cellLines, isLiteral, jsonLines, jsonLiteral, type WrittenCell } from "diffeo-tables";
import { packed, parquetBytes } from "diffeo-tables/node";
import type { Io } from "../shell/io.ts";
import type { GuardOptions, NumbersOptions } from "./options.ts";

type Rows = readonly (readonly WrittenCell[])[];

/** A row as JSON. */
const jsonOf = (row: Rows[number]): string =>
  `[${row.map((cell) => (isLiteral(cell) ? jsonLiteral(cell) : JSON.stringify(cell))).join(",")}]`;

/** Characters that begin a formula in a spreadsheet, also in their full-width forms. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;

/** A text that a spreadsheet does not run: an apostrophe at the beginning makes the cell a text. */
const guarded = (cell: Cell): Cell =>
  typeof cell === "string" && FORMULA.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;

const textOf = (row: Rows[number], guard: boolean): Cell[] =>
  row.map((cell) => {
    if (isLiteral(cell)) return cell.text;
    return guard ? guarded(cell) : cell;
  });

export interface Columns {
  readonly columns: readonly string[];
  /** Further fields of the JSON. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

const isLines = (out: string): boolean => /\.(jsonl|ndjson)(\.gz)?$/i.test(out);
const isParquet = (out: string): boolean => /\.parquet(\.gz)?$/i.test(out);
const isPacked = (out: string): boolean => /\.gz$/i.test(out);

/** Writes the file in the format of its name, from rows as they arrive. */
async function* written(
  out: string | undefined,
  columns: readonly string[],
  batches: AsyncIterable<Rows>,
  guardFormulas: boolean,
): AsyncGenerator<string | Uint8Array> {
  if (out !== undefined && isParquet(out)) {
    // A Parquet file ends with the positions of its columns, so all rows are kept until then.
    const all: Rows[number][] = [];
    for await (const rows of batches) for (const row of rows) all.push(row);
    yield await parquetBytes(columns, all);
  } else if (out !== undefined && isLines(out))
    for await (const rows of batches) yield jsonLines(columns, rows);
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
  // Columns and further fields, then rows as they arrive.
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
    await writeFileAtomic(out, isPacked(out) ? packed(pieces) : pieces);
    (json ? io.stderr : io.stdout).write(`${count} rows: ${out}\n`);
    return;
  }
  for await (const piece of pieces) if (!json) io.stdout.write(piece);
}
