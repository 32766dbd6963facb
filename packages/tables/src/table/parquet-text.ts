/**
 * Reads Parquet files in a page, by hyparquet, which is loaded when needed. Pages of a file may be
 * uncompressed or compressed by Snappy, the default of most writers. The caller runs this in a
 * worker that it can terminate, because a damaged file may keep the decoder busy.
 */
import { fail } from "diffeo/graph";
import { serializeCells } from "./cells.ts";
import { tableOf } from "./json.ts";

/** Maximum number of cells that a file may declare, because a page cannot limit its memory. */
const MOST_CELLS = 20_000_000;

const REMEDY =
  "check that the file is complete, write it uncompressed or with Snappy, or convert it to CSV";

/**
 * The table of a Parquet file as CSV.
 *
 * @param file - the bytes of the file
 * @param source - the name of the file in errors
 * @param most - how many cells the file may declare
 * @throws DiffeoError of kind `data` if the file is damaged, too large, or compressed otherwise
 */
export async function parquetText(
  file: ArrayBuffer,
  source: string,
  most = MOST_CELLS,
): Promise<string> {
  const { parquetMetadata, parquetRead, parquetSchema } = await import("hyparquet");
  let columns: readonly string[] = [];
  let rows: readonly (readonly unknown[])[] = [];
  try {
    const metadata = parquetMetadata(file);
    columns = parquetSchema(metadata).children.map(({ element }) => element.name);
    const cells = Number(metadata.num_rows) * columns.length;
    if (cells > most)
      throw new Error(`it declares ${cells.toLocaleString("en")} cells; use the command for it`);
    await parquetRead({
      ...{ file, metadata, columns: [...columns], rowFormat: "array" },
      onComplete: (found) => {
        rows = found as unknown[][];
      },
    });
    const torn = rows.findIndex((row) => columns.some((_, j) => row[j] === undefined));
    if (torn >= 0) throw new Error(`row ${torn + 1} has no value in some column`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail("data", `${source} cannot be read as Parquet (${why})`, REMEDY);
  }
  return serializeCells(columns, tableOf(source, columns, rows).rows);
}
