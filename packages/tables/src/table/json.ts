/**
 * Tables as JSON: one object per line, or a list of objects. A name is a column; what an object does
 * not have, or has as null, is missing.
 */
import { fail } from "diffeo/graph";
import type { CellTable } from "./cell-table.ts";
import { quote } from "./quote.ts";

/** Whether a text is JSON lines, or a list of objects. */
export const isJson = (text: string): boolean => /^\s*(\{\s*"|\[\s*\{)/.test(text.slice(0, 4096));

type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string, source: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail("data", `${source}, line ${line}: this is not JSON`, "give one object per line");
  }
}

/** Objects with the lines they stand in; those of a list count from 1. */
function objectsIn(text: string, source: string): readonly (readonly [unknown, number])[] {
  if (text.trimStart().startsWith("["))
    return (parsed(text, source, 1) as unknown[]).map((one, i) => [one, i + 1]);
  return text
    .split(/\r?\n/)
    .flatMap((line, i) => (line.trim() === "" ? [] : [[parsed(line, source, i + 1), i + 1]]));
}

/** A value as a cell's text. */
function cellOf(value: unknown, where: () => string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  if (["string", "boolean", "bigint"].includes(typeof value)) return String(value);
  if (value instanceof Date) return value.toISOString();
  return fail(
    "data",
    `${where()}: a list or an object where a number or a text should be`,
    "leave the column out, or give its values columns of their own",
  );
}

/** The table of objects: its columns in the order in which they first occur. */
export function tableOf(
  source: string,
  objects: readonly (readonly [Fields, line: number])[],
): CellTable {
  const columns = [...new Set(objects.flatMap(([fields]) => Object.keys(fields)))];
  if (columns.length === 0)
    fail("data", `${source} has no columns`, "give objects with a field for each");
  return {
    source,
    columns,
    rows: objects.map(([fields, line]) =>
      columns.map((name) =>
        cellOf(
          Object.hasOwn(fields, name) ? fields[name] : undefined,
          () => `${source}, line ${line}, ${quote(name)}`,
        ),
      ),
    ),
    lines: objects.map(([, line]) => line),
  };
}

/** Reads JSON lines, or a list of objects. */
export function parseJsonCells(text: string, source: string): CellTable {
  const objects = objectsIn(text, source).map(([value, line]): readonly [Fields, number] => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return fail("data", `${source}, line ${line}: this is no object`, "give an object per row");
    return [value as Fields, line];
  });
  if (objects.length === 0) fail("data", `${source} has no rows`, "give one object per line");
  return tableOf(source, objects);
}

/** A number as a file writes it, in the form that JSON has for numbers. */
type WrittenNumber = { readonly text: string };

const valueText = (cell: string | number | WrittenNumber): string => {
  if (cell === "") return "null";
  return typeof cell === "object" ? cell.text : JSON.stringify(cell);
};

/** Rows as JSON lines; an empty cell is null. */
export const jsonLines = (
  columns: readonly string[],
  rows: readonly (readonly (string | number | WrittenNumber)[])[],
): string =>
  rows
    .map((row) => {
      const fields = columns.map((name, j) => `${JSON.stringify(name)}:${valueText(row[j])}`);
      return `{${fields.join(",")}}\n`;
    })
    .join("");
