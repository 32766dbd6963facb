/** A table by its columns: their cells, and the numbers that these are. */
import { type CellTable, isEmpty, isMissingNumber } from "../../table/cells.ts";
import { numberOf } from "../../table/table.ts";
import type { Column } from "./kind.ts";

/** The cells of a column. */
export const columnAt = ({ columns, rows }: CellTable, name: string): readonly string[] => {
  const j = columns.indexOf(name);
  return rows.map((row) => row[j]);
};

/**
 * The numbers of a column, NaN for cells that say that one is missing, if all others are numbers.
 */
export function numbersIn(table: CellTable, name: string): number[] | undefined {
  const numbers: number[] = [];
  for (const cell of columnAt(table, name)) {
    const value = isMissingNumber(cell) ? Number.NaN : numberOf(cell, table.commas);
    if (value === undefined) return undefined;
    numbers.push(value);
  }
  return numbers;
}

/** Those that are not missing. */
export const presentNumbers = (numbers: readonly number[]): number[] =>
  numbers.filter((v) => !Number.isNaN(v));

/** A column as kinds look at it. */
export function columnOf(table: CellTable, name: string): Column {
  const all = columnAt(table, name);
  const numbers = numbersIn(table, name);
  const some = numbers && presentNumbers(numbers);
  // A column of nothing but "?" is one of texts.
  const isNumeric = some !== undefined && some.length > 0;
  return {
    name,
    cells: all.filter((cell) => !(isNumeric ? isMissingNumber(cell) : isEmpty(cell))),
    numbers: isNumeric ? some : undefined,
    rows: table.rows.length,
  };
}

/** The least and the greatest. */
export const bounds = (numbers: readonly number[]): [number, number] =>
  numbers.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);

/** The range of numbers, in words. */
export function rangeText(numbers: readonly number[]): string {
  const [from, to] = bounds(numbers).map((v) => Number(v.toPrecision(6)));
  return `from ${from} to ${to}`;
}
