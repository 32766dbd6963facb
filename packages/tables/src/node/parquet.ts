/** Tables as Parquet files, by hyparquet, which is loaded when one is read or written. */
import { DiffeoError, fail } from "diffeo/graph";
import type { CellTable } from "../table/cells.ts";
import { tableOf } from "../table/json.ts";

/** The first four bytes of a Parquet file. */
const MAGIC = "PAR1";

/** Whether bytes are those of a Parquet file. */
export const isParquet = (bytes: Uint8Array): boolean =>
  new TextDecoder("latin1").decode(bytes.subarray(0, 4)) === MAGIC;

/** The cells of a Parquet file as text; the number of a row stands for its line. */
export async function parquetCells(bytes: Uint8Array, source: string): Promise<CellTable> {
  const { parquetReadObjects } = await import("hyparquet");
  const file = bytes.buffer.slice(
    bytes.byteOffset,
    bytes.byteOffset + bytes.byteLength,
  ) as ArrayBuffer;
  let rows: readonly Record<string, unknown>[];
  try {
    rows = await parquetReadObjects({ file });
  } catch (cause) {
    throw new DiffeoError(
      "data",
      `${source} cannot be read as Parquet (${(cause as Error).message})`,
      "write it without compression or with Snappy",
      { cause },
    );
  }
  if (rows.length === 0) fail("data", `${source} has no rows`, "give a file with rows");
  return tableOf(
    source,
    rows.map((row, i) => [row, i + 1]),
  );
}

type Cells = readonly (string | number)[];

/** The bytes of rows as a Parquet file: columns of integers, numbers or texts; empty cells are null. */
export async function parquetBytes(
  columns: readonly string[],
  rows: readonly Cells[],
): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const columnData = columns.map((name, j) => {
    const cells = rows.map((row) => row[j]);
    const there = cells.filter((cell) => cell !== "");
    const isNumbers = there.length > 0 && there.every((cell) => typeof cell === "number");
    const isIntegers = isNumbers && there.every((cell) => Number.isSafeInteger(cell));
    const data = cells.map((cell) => {
      if (cell === "") return null;
      return isIntegers ? BigInt(cell) : isNumbers ? cell : String(cell);
    });
    const type = isIntegers ? "INT64" : isNumbers ? "DOUBLE" : "STRING";
    return { name, data, type, nullable: there.length < cells.length } as const;
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
