/** Tables as CSV, to a file or to standard output. */
import { writeFileAtomic } from "diffeo/node";
import type { Table } from "diffeo-tables";
import type { Io } from "../shell/io.ts";

const quoted = (name: string): string => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

function csvOf({ columns, rows, values }: Table): string {
  const n = columns.length;
  const lines = Array.from({ length: rows }, (_, i) => values.subarray(i * n, (i + 1) * n).join(","));
  return `${[columns.map(quoted).join(","), ...lines].join("\n")}\n`;
}

export async function writeCsv(io: Io, table: Table, path: string | undefined): Promise<void> {
  if (path === undefined) return void io.stdout.write(csvOf(table));
  await writeFileAtomic(path, csvOf(table));
  io.stdout.write(`${table.rows} rows: ${path}\n`);
}
