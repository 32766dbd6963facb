/** The columns of a table as arrays of numbers, as data of posterior models. */
import { fail } from "diffeo/graph";
import type { CellTable } from "./cell-table.ts";

/** A column as numbers. */
export interface NumberColumn {
  readonly values: readonly number[];
  /** For a column of labels: the labels in order; the values are indices into them. */
  readonly labels?: readonly string[];
}

const isMissing = (cell: string): boolean => cell === "" || /^(na|nan|null)$/i.test(cell);

/**
 * Converts every column. A column whose cells are not all numbers is a column of labels and becomes
 * integers from 0, in alphabetical order of the labels.
 *
 * @throws if a cell is missing
 */
export function numberColumns({
  source,
  columns,
  rows,
  lines,
}: CellTable): Readonly<Record<string, NumberColumn>> {
  return Object.fromEntries(
    columns.map((name, j): [string, NumberColumn] => {
      const cells = rows.map((row) => row[j]);
      const missing = cells.findIndex(isMissing);
      if (missing >= 0)
        fail(
          "data",
          `${source}, line ${lines[missing]}, column ${name}: the cell is ` +
            (cells[missing] === "" ? "empty" : cells[missing]),
          "fill it in, drop the row, or omit the column",
        );
      const numbers = cells.map(Number);
      if (numbers.every(Number.isFinite)) return [name, { values: numbers }];
      const labels = [...new Set(cells)].sort();
      const codes = new Map(labels.map((label, k) => [label, k]));
      return [name, { values: cells.map((cell) => codes.get(cell) as number), labels }];
    }),
  );
}
