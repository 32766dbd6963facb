/** A table by its columns: their cells, and the numbers that these are. */
import { type CellTable, isEmpty } from "../../table/cells.ts";
import { numberOf } from "../../table/table.ts";

/** The cells of a column. */
export const columnAt = ({ columns, rows }: CellTable, name: string): readonly string[] => {
  const j = columns.indexOf(name);
  return rows.map((row) => row[j]);
};

/** The numbers of a column, NaN for empty cells, if all others are numbers. */
export function numbersIn(table: CellTable, name: string): number[] | undefined {
  const numbers: number[] = [];
  for (const cell of columnAt(table, name)) {
    const value = isEmpty(cell) ? Number.NaN : numberOf(cell, table.commas);
    if (value === undefined) return undefined;
    numbers.push(value);
  }
  return numbers;
}

/** Those that are there. */
export const presentNumbers = (numbers: readonly number[]): number[] =>
  numbers.filter((v) => !Number.isNaN(v));

/** The least and the greatest. */
export const bounds = (numbers: readonly number[]): [number, number] =>
  numbers.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
