/** Reads the rows of a table file in batches, so that memory does not grow with the file. */
import { stat } from "node:fs/promises";
import type { Product } from "diffeo/domain";
import { type CellTable, type OpenCell, type RowsOptions, rowsIn } from "diffeo-tables";
import { cellBatches, readCells } from "diffeo-tables/node";
import type { Io } from "../shell/io.ts";
import { progress } from "../shell/progress.ts";

interface RowBatch {
  /** As they are written, and as cells of the model. */
  readonly table: CellTable;
  readonly rows: readonly (readonly OpenCell[])[];
  /** The number of the first. */
  readonly first: number;
}

export interface FileRows {
  readonly columns: readonly string[];
  readonly count: number;
  /** In the order of the file, under a line of progress. */
  readonly batches: (io: Io, what: string) => AsyncGenerator<RowBatch>;
}

/**
 * Checks all rows of a file, so that a wrong row is an error before any work, and returns them in
 * batches.
 */
export async function openRows(
  path: string,
  domain: Product,
  size: number,
  options: RowsOptions = {},
): Promise<FileRows> {
  const isFile = await stat(path).then(
    (there) => there.isFile(),
    () => true,
  );
  // A pipe can be read only once.
  const held = isFile ? undefined : await readCells(path);
  const tables = (): AsyncIterable<CellTable> | Iterable<CellTable> =>
    held ? slices(held, size) : cellBatches(path, size);
  let count = 0;
  let columns: readonly string[] = [];
  for await (const table of tables()) {
    rowsIn(table, domain, options);
    count += table.rows.length;
    columns = table.columns;
  }
  async function* batches({ stderr, signal }: Io, what: string): AsyncGenerator<RowBatch> {
    const bar = progress(stderr, count, what);
    let first = 0;
    try {
      for await (const table of tables()) {
        signal.throwIfAborted();
        yield { table, rows: rowsIn(table, domain, options), first };
        first += table.rows.length;
        bar.update(first);
      }
    } finally {
      bar.end();
    }
  }
  return { columns, count, batches };
}

function* slices(table: CellTable, size: number): Generator<CellTable> {
  for (let from = 0; from < table.rows.length; from += size)
    yield {
      ...table,
      rows: table.rows.slice(from, from + size),
      lines: table.lines.slice(from, from + size),
    };
}
