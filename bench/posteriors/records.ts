/** What was measured, one small file of JSON a piece: a benchmark that was stopped goes on where it was. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "studies/posteriors";

/** The record of a piece, measured where there is none. */
export async function recorded<T>(name: string, measure: () => Promise<T>): Promise<T> {
  const file = join(FOLDER, `${name}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as T;
  const found = await measure();
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify(found, undefined, 1)}\n`);
  process.stdout.write(`${name}: ${JSON.stringify(found)}\n`);
  return found;
}

/** Rows as a table of Markdown, the first column to the left. */
export const markdown = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
