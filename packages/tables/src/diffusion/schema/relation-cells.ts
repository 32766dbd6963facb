/** The cells that rules between columns are about: numbers, labels, and where cells are there. */

import { type CellTable, isEmpty } from "../../table/cells.ts";
import { parseDate } from "../../table/dates.ts";
import { columnAt, numbersIn } from "../kinds/index.ts";
import type { Inferred } from "./inferred.ts";

/** Rows that a forbidden pair of labels would have if columns were independent, and all of them. */
export const FORBIDDEN = 10;

export const rounded = (value: number): number => Number(value.toPrecision(12));

export const isSame = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** The numbers of a column, of dates their days; NaN where one is missing. */
export function placesOf(table: CellTable, { columns: [name], domain }: Inferred) {
  const { spec } = domain ?? {};
  if (spec?.kind === "date")
    return Float64Array.from(
      columnAt(table, name),
      (cell) => parseDate(cell, spec.format) ?? Number.NaN,
    );
  if (spec?.kind === "category") return undefined;
  const numbers = numbersIn(table, name);
  return numbers && Float64Array.from(numbers);
}

export const isThere = (v: number): boolean => !Number.isNaN(v);

/** What goes with each label, in all rows; undefined where two values go with one. */
export function valuesByLabel(labels: readonly string[], cells: readonly string[]) {
  const found = new Map<string, string>();
  for (let i = 0; i < labels.length; i++) {
    if (isEmpty(labels[i]) || isEmpty(cells[i])) continue;
    const before = found.get(labels[i]);
    if (before === undefined) found.set(labels[i], cells[i]);
    else if (before !== cells[i]) return undefined;
  }
  return found;
}

export const countsOf = (cells: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const cell of cells) if (!isEmpty(cell)) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  return counts;
};

/** The combinations of two labels that occur, and those that are forbidden. */
export function combinationsOf(table: CellTable, [a, b]: readonly [string, string]) {
  const [x, y] = [columnAt(table, a), columnAt(table, b)];
  const pairs = new Map<string, number>();
  let rows = 0;
  x.forEach((label, i) => {
    if (isEmpty(label) || isEmpty(y[i])) return;
    rows++;
    const key = JSON.stringify([label, y[i]]);
    pairs.set(key, (pairs.get(key) ?? 0) + 1);
  });
  const [left, right] = [[...countsOf(x)], [...countsOf(y)]];
  const all = left.flatMap(([p, m]) =>
    right.map(([q, n]) => ({
      pair: [p, q] as const,
      isSeen: pairs.has(JSON.stringify([p, q])),
      expected: (m * n) / Math.max(1, rows),
    })),
  );
  return { all, rows };
}

/** Combinations that are not forbidden: those that occur, or that so many rows need not show. */
export const allowedPairs = (table: CellTable, columns: readonly [string, string]) =>
  combinationsOf(table, columns)
    .all.filter(({ isSeen, expected }) => isSeen || expected < FORBIDDEN)
    .map(({ pair }) => pair);

/** How many rows with each label have a cell, and how many have none. */
export function presenceByLabel(labels: readonly string[], places: readonly boolean[]) {
  const found = new Map<string, { there: number; missing: number }>();
  labels.forEach((label, i) => {
    const own = found.get(label) ?? { there: 0, missing: 0 };
    found.set(label, own);
    own[places[i] ? "there" : "missing"]++;
  });
  return found;
}

/** Whether each cell of a column is there. */
export const presence = (table: CellTable, name: string): readonly boolean[] => {
  const numbers = numbersIn(table, name);
  return numbers ? numbers.map(isThere) : columnAt(table, name).map((cell) => !isEmpty(cell));
};
