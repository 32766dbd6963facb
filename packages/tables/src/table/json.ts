/**
 * Tables as JSON: one object per line, or a list of objects. A name is a column. A field that an
 * object does not have, or has as null, is a missing value.
 */
import { fail } from "diffeo/graph";
import type { CellTable } from "./cell-table.ts";
import { isLiteral, jsonLiteral, type WrittenCell } from "./literal.ts";
import { quote } from "./quote.ts";

/** Whether a text is JSON lines or a list of objects. */
export const isJson = (text: string): boolean => /^\s*(\{\s*"|\[\s*\{)/.test(text.slice(0, 4096));

type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string, source: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail("data", `${source}, line ${line} is not JSON`, "give one object per line");
  }
}

/** The end of the string that begins at a position in JSON text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text[first - 1] === "\\") first--;
    if ((at - first) % 2 === 0) return at + 1;
  }
}

const NUMBER = /-?\d[\d.eE+-]*/y;
const STRING_OR_NUMBER = /["\d-]/g;

/**
 * The strings and numbers in JSON text, found one by one: a regular expression for whole strings
 * needs a stack as long as the string.
 */
function* tokensOf(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let at = 0; ; ) {
    STRING_OR_NUMBER.lastIndex = at;
    const start = STRING_OR_NUMBER.exec(text)?.index;
    if (start === undefined) return;
    if (text[start] === '"') at = endOfString(text, start);
    else {
      NUMBER.lastIndex = start;
      at = start + (NUMBER.exec(text)?.[0].length ?? 1);
    }
    yield { start, end: at };
  }
}

/** The same JSON with its numbers as strings, which keep all digits. */
function withTexts(text: string): unknown {
  const pieces: string[] = [];
  let done = 0;
  for (const { start, end } of tokensOf(text)) {
    if (text[start] === '"') continue;
    pieces.push(text.slice(done, start), `"${text.slice(start, end)}"`);
    done = end;
  }
  return JSON.parse(pieces.join("") + text.slice(done));
}

/** A parsed value, the same with its numbers as strings, and its line. */
interface Placed {
  readonly value: unknown;
  readonly texts: unknown;
  readonly line: number;
}

/** Objects with their lines; in a list, objects are counted from 1. */
function objectsIn(text: string, source: string): readonly Placed[] {
  if (text.trimStart().startsWith("[")) {
    const values = parsed(text, source, 1) as unknown[];
    const texts = withTexts(text) as unknown[];
    return values.map((value, i) => ({ value, texts: texts[i], line: i + 1 }));
  }
  return text.split(/\r?\n/).flatMap((line, i) => {
    if (line.trim() === "") return [];
    return [{ value: parsed(line, source, i + 1), texts: withTexts(line), line: i + 1 }];
  });
}

/** A JavaScript number as text: NaN is missing, and zero keeps its sign. */
const numberText = (value: number): string =>
  Number.isNaN(value) ? "" : Object.is(value, -0) ? "-0" : String(value);

/** A value as a cell's text. */
function cellOf(value: unknown, where: () => string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return numberText(value);
  if (["string", "boolean", "bigint"].includes(typeof value)) return String(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return fail(
    "data",
    `${where()}: ${value instanceof Date ? "a date out of range" : "a list or an object"} ` +
      "instead of a number or a text",
    "omit the column, or split it into columns with single values",
  );
}

const LITERALS = new Set(["number", "bigint", "boolean"]);

/** Rows of values as a table. `texts` are the texts of numbers, if the source is a text. */
export function tableOf(
  source: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  { texts = rows, lines = rows.map((_, i) => i + 1) }: Partial<RowTexts> = {},
): CellTable {
  if (columns.length === 0)
    fail("data", `${source} has no columns`, "give objects with one field per column");
  if (rows.length === 0) fail("data", `${source} has no rows`, "give a file with rows");
  const isAbsent = (value: unknown): boolean => value === null || value === undefined;
  const literals = columns.map((_, j) =>
    rows.every((row) => isAbsent(row[j]) || LITERALS.has(typeof row[j])),
  );
  return {
    source,
    columns,
    rows: texts.map((row, i) =>
      columns.map((name, j) => cellOf(row[j], () => `${source}, line ${lines[i]}, ${quote(name)}`)),
    ),
    lines,
    literals,
  };
}

interface RowTexts {
  readonly texts: readonly (readonly unknown[])[];
  readonly lines: readonly number[];
}

/** Names in the order of the text, because JavaScript objects list integer keys first. */
function namesOf(text: string): readonly string[] {
  const names = new Set<string>();
  const colon = /\s*:/y;
  for (const { start, end } of tokensOf(text)) {
    colon.lastIndex = end;
    if (text[start] === '"' && colon.test(text)) names.add(JSON.parse(text.slice(start, end)));
  }
  return [...names];
}

/** Reads JSON lines or a list of objects. Columns are in the order of their first occurrence. */
export function parseJsonCells(text: string, source: string): CellTable {
  const objects = objectsIn(text, source);
  for (const { value, line } of objects)
    if (typeof value !== "object" || value === null || Array.isArray(value))
      fail("data", `${source}, line ${line} is not an object`, "give one object per row");
  const names = [...new Set(objects.flatMap(({ value }) => Object.keys(value as Fields)))];
  const columns = names.some((name) => /^\d+$/.test(name)) ? namesOf(text) : names;
  const fieldsOf = (value: unknown): unknown[] =>
    columns.map((name) =>
      Object.hasOwn(value as Fields, name) ? (value as Fields)[name] : undefined,
    );
  return tableOf(
    source,
    columns,
    objects.map(({ value }) => fieldsOf(value)),
    {
      texts: objects.map(({ texts }) => fieldsOf(texts)),
      lines: objects.map(({ line }) => line),
    },
  );
}

const valueText = (cell: WrittenCell): string => {
  if (cell === "") return "null";
  return isLiteral(cell) ? jsonLiteral(cell) : JSON.stringify(cell);
};

/** Rows as JSON lines; an empty cell is null. */
export const jsonLines = (
  columns: readonly string[],
  rows: readonly (readonly WrittenCell[])[],
): string =>
  rows
    .map((row) => {
      const fields = columns.map((name, j) => `${JSON.stringify(name)}:${valueText(row[j])}`);
      return `{${fields.join(",")}}\n`;
    })
    .join("");
