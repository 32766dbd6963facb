/** Tables as CSV, to a file or to standard output. */
import { writeFileAtomic } from "diffeo/node";
import type { Io } from "../shell/io.ts";
import { type NumberRows, numberLines } from "../shell/numbers.ts";

export async function writeCsv(io: Io, table: NumberRows, path: string | undefined): Promise<void> {
  if (path === undefined) {
    for (const lines of numberLines(table)) io.stdout.write(lines);
    return;
  }
  await writeFileAtomic(path, numberLines(table));
  io.stdout.write(`${table.rows} rows: ${path}\n`);
}
