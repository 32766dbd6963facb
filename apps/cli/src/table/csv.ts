/** Rows of cells as CSV, to a file or to standard output. */
import type { Cell } from "diffeo/domain";
import { writeFileAtomic } from "diffeo/node";
import type { Io } from "../shell/io.ts";

const quoted = (cell: Cell): string => {
  const text = String(cell);
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A line of names, then one a row. */
export async function writeCells(
  io: Io,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  path: string | undefined,
): Promise<void> {
  const text = `${[columns, ...rows].map((row) => row.map(quoted).join(",")).join("\n")}\n`;
  if (path === undefined) return void io.stdout.write(text);
  await writeFileAtomic(path, text);
  io.stdout.write(`${rows.length} rows: ${path}\n`);
}
