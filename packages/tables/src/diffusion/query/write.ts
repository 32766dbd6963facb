/**
 * Rows as they are written: the cells of a model in the columns of the table that it was fitted to,
 * with what is written for columns without a domain. An identifier is a function of the seed and
 * the number of its row.
 */
import type { Cell, Product, ProductPart } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { fold, key as keyOf, sampleKeys, uniform } from "diffeo/random";
import { formatDate } from "../../table/dates.ts";
import { dateFormatOf, helperCells, isBlank, type OpenCell } from "../encode/index.ts";
import type { Filler } from "../kinds/index.ts";
import type { FittedTable } from "../network/index.ts";
import type { DrawnRows } from "./draw.ts";

const ALPHABETS: Readonly<Record<string, string>> = {
  "0": "0123456789",
  f: "0123456789abcdef",
  F: "0123456789ABCDEF",
  A: "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
  a: "abcdefghijklmnopqrstuvwxyz",
  X: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
  x: "0123456789abcdefghijklmnopqrstuvwxyz",
};

/** A code of a pattern, a character for each uniform number. */
const codeOf = (pattern: readonly string[], u: ArrayLike<number>): string =>
  pattern
    .map((place, i) => {
      const alphabet = ALPHABETS[place];
      return alphabet === undefined ? place.slice(1) : alphabet[Math.floor(u[i] * alphabet.length)];
    })
    .join("");

/** The cells of one filler for rows from number `first` on. */
function filled(filler: Filler, name: string, count: number, first: number, seed: number): Cell[] {
  switch (filler.kind) {
    case "constant":
      return Array<Cell>(count).fill(filler.value);
    case "numbered": {
      const { before, next, width, after } = filler;
      return Array.from(
        { length: count },
        (_, i) => `${before}${String(next + first + i).padStart(width, "0")}${after}`,
      );
    }
    case "coded": {
      const { pattern } = filler;
      const keys = sampleKeys(fold(keyOf(seed), `code ${name}`), count, first);
      const { data } = uniform(keys, pattern.length, { dtype: "float64" });
      return Array.from({ length: count }, (_, i) =>
        codeOf(pattern, data.subarray(i * pattern.length, (i + 1) * pattern.length)),
      );
    }
    case "omitted":
      return Array<Cell>(count).fill("");
  }
}

/** A cell as it is written: dates in the format of their column. */
export function writtenCell({ domain }: ProductPart, cell: Cell): Cell {
  const format = dateFormatOf(domain);
  return format === undefined || typeof cell !== "number" ? cell : formatDate(cell, format);
}

/** Rows of the cells of a model as they are written. */
function writtenCells({ parts }: Product, rows: DrawnRows["rows"]): DrawnRows["rows"] {
  const dates = parts.filter(({ domain }) => dateFormatOf(domain) !== undefined);
  if (dates.length === 0) return rows;
  return rows.map((row) => {
    const out = [...row];
    for (const part of dates) out[part.at.cells] = writtenCell(part, row[part.at.cells]);
    return out;
  });
}

/** The columns that rows of a model are written with. */
export const writtenColumns = ({ domain, related, layout }: FittedTable): readonly string[] =>
  layout?.columns ?? related?.domain.columns ?? domain.columns;

/**
 * Rows with the cells of all columns, those that follow from others after those that are learned.
 */
export const allCells = <C extends OpenCell = Cell>(
  { related }: FittedTable,
  rows: readonly (readonly C[])[],
): readonly (readonly (C | Cell)[])[] =>
  related ? rows.map((row) => [...row, ...helperCells(related, row)]) : rows;

/** The columns of the table that a model knows, without those that were made for a rule. */
export function knownColumns({ domain, related, layout }: FittedTable): readonly string[] {
  const { columns } = related?.domain ?? domain;
  return related && layout ? columns.filter((name) => layout.columns.includes(name)) : columns;
}

/** The domain of those columns, for rows as `allCells` gives them. */
export function knownDomain(model: FittedTable): Product {
  const all = model.related?.domain ?? model.domain;
  const columns = knownColumns(model);
  return {
    ...all,
    columns: [...columns],
    parts: all.parts.filter((part) => part.columns.every((name) => columns.includes(name))),
  };
}

/** Cells of all columns as the table has them: empty where a column has none. */
const withBlanks = ({ related }: FittedTable, rows: DrawnRows["rows"]): DrawnRows["rows"] => {
  if (!related || related.conditions.length === 0) return rows;
  const { parts } = related.domain;
  return rows.map((row) => {
    const out = [...row];
    for (const { part } of related.conditions)
      if (isBlank(related, part, row)) out[parts[part].at.cells] = "";
    return out;
  });
};

/**
 * Rows of a model in the columns of its table. `first` is the number of the first row, which new
 * identifiers follow.
 */
export function writtenRows(
  model: FittedTable,
  rows: DrawnRows["rows"],
  { first = 0, seed = 0 }: { readonly first?: number; readonly seed?: number } = {},
): DrawnRows["rows"] {
  const { layout, related } = model;
  const domain = related?.domain ?? model.domain;
  const cells = writtenCells(domain, withBlanks(model, allCells(model, rows)));
  if (!layout) return cells;
  const columns = layout.columns.map((name): ((i: number) => Cell) => {
    const at = domain.columns.indexOf(name);
    if (at >= 0) return (i) => cells[i][at];
    const filler = Object.hasOwn(layout.fillers, name)
      ? layout.fillers[name]
      : fail("data", `the model says nothing of the column "${name}"`, "fit it again");
    const texts = filled(filler, name, rows.length, first, seed);
    return (i) => texts[i];
  });
  return rows.map((_, i) => columns.map((cell) => cell(i)));
}
