/** Tables as Parquet files, by hyparquet and its writer, which are loaded when needed. */
import type { CellTable } from "../table/cells.ts";
import { tableOf } from "../table/json.ts";
import {
  integer64,
  isKeptByFloat64,
  isLiteral,
  isTruth,
  type WrittenCell,
} from "../table/literal.ts";
import { openParquetReader } from "./parquet-reader.ts";

/** The first four bytes of a Parquet file. */
const MAGIC = "PAR1";

/** Whether bytes begin like a Parquet file. */
export const isParquet = (bytes: Uint8Array): boolean =>
  new TextDecoder("latin1").decode(bytes.subarray(0, 4)) === MAGIC;

/** The cells of a Parquet file as text; the row number takes the place of the line. */
export async function parquetCells(bytes: Uint8Array, source: string): Promise<CellTable> {
  const reader = openParquetReader();
  try {
    const { columns, rows } = await reader.read(bytes, source);
    return tableOf(source, columns, rows);
  } finally {
    await reader.close();
  }
}

/** Values of one column, null where there is none, in a type that represents them all exactly. */
function columnValues(cells: readonly WrittenCell[]) {
  const filled = cells.filter((cell) => cell !== "");
  const isOf = (holds: (text: string) => boolean): boolean =>
    filled.length > 0 &&
    filled.every(
      (cell) => typeof cell !== "string" && holds(isLiteral(cell) ? cell.text : `${cell}`),
    );
  const as = <T>(type: T, value: (text: string) => unknown) => ({
    type,
    data: cells.map((cell) =>
      cell === "" ? null : value(isLiteral(cell) ? cell.text : String(cell)),
    ),
    nullable: filled.length < cells.length,
  });
  if (isOf((text) => integer64(text) !== undefined)) return as("INT64" as const, integer64);
  if (isOf(isKeptByFloat64)) return as("DOUBLE" as const, Number);
  if (isOf(isTruth)) return as("BOOLEAN" as const, (text) => text === "true");
  return as("STRING" as const, (text) => text);
}

/**
 * The bytes of rows as a Parquet file: columns of integers, numbers, truth values or texts; empty
 * cells are null. A column with a number that is not exact in float64 is written as texts.
 */
export async function parquetBytes(
  columns: readonly string[],
  rows: readonly (readonly WrittenCell[])[],
): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const columnData = columns.map((name, j) => ({
    name,
    ...columnValues(rows.map((row) => row[j])),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
