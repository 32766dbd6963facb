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

const isNumber = (cell: string): boolean => Number.isFinite(Number(cell));
/** 1,200 or 2,5: numbers in a notation that `Number` does not read. */
const hasCommas = (cell: string): boolean => /^[-+]?\d[\d.,]*$/.test(cell);

/** A cell that is not a number in a column of numbers; coded as a label, it would go unnoticed. */
function misfit(cells: readonly string[]): number {
  const numbers = cells.filter(isNumber).length;
  const ofNumbers =
    2 * numbers >= cells.length || cells.every((cell) => isNumber(cell) || hasCommas(cell));
  return ofNumbers ? cells.findIndex((cell) => !isNumber(cell)) : -1;
}

/**
 * Converts every column. A column of labels becomes integers from 0, in alphabetical order of the
 * labels.
 *
 * @throws if a cell is missing, or is not a number in a column of numbers
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
      if (cells.every(isNumber)) return [name, { values: cells.map(Number) }];
      const odd = misfit(cells);
      if (odd >= 0)
        fail(
          "data",
          `${source}, line ${lines[odd]}, column ${name}: ${cells[odd]} is not a number, but the ` +
            "column has numbers",
          "write numbers as 1200 or 2.5, drop the row, or use labels that are not numbers",
        );
      const labels = [...new Set(cells)].sort();
      const codes = new Map(labels.map((label, k) => [label, k]));
      return [name, { values: cells.map((cell) => codes.get(cell) as number), labels }];
    }),
  );
}
