/**
 * Decides whether the first line of a file contains names. It is a row if its cells are like those
 * below: numbers above numbers that do not increase (years and wavelengths would), a marker of a
 * missing value next to numbers, or labels that all occur again in their columns.
 */
import { fail } from "diffeo/graph";
import { quote } from "./quote.ts";
import { numberOf } from "./table.ts";

/** Number of rows to compare with, and the minimum for labels. */
const LOOKED_AT = 500;
const LEAST_BELOW = 20;

/** Markers of a missing value, which are not names. */
const MISSING = new Set(["?", "na", "n/a", "nan", "null", "#n/a"]);

const isNumber = (cell: string): boolean => numberOf(cell, true) !== undefined;

/** Whether integers, or more than two numbers, increase: years and wavelengths may be names. */
function areNames(numbers: readonly number[]): boolean {
  const rise = numbers.every((v, i) => i === 0 || v > numbers[i - 1]);
  return rise && (numbers.length > 2 || numbers.every(Number.isInteger));
}

/** Whether the first record is a row like the others. */
export function beginsWithRow(records: readonly (readonly string[])[]): boolean {
  const [first, ...below] = records.slice(0, LOOKED_AT);
  const numbers = first.flatMap((cell) => numberOf(cell, true) ?? []);
  if (numbers.length === 0)
    return (
      below.length >= LEAST_BELOW &&
      first.every((cell, j) => below.some((row) => row[j] === cell)) &&
      first.some((cell) => cell !== "")
    );
  if (first.some((cell) => MISSING.has(cell.toLowerCase()))) return true;
  const isAll = numbers.length === first.length;
  if (areNames(numbers) && (!isAll || numbers.length > 1)) return false;
  // A name may be a number above labels, and one number above empty cells is weak evidence.
  return first.every((cell, j) => !isNumber(cell) || below.every((row) => isLikeNumber(row[j])));
}

const isLikeNumber = (cell: string | undefined): boolean =>
  cell === undefined || cell === "" || MISSING.has(cell.toLowerCase()) || isNumber(cell);

/** The names of columns in a line. Columns without a name are numbered. */
export function namesIn(cells: readonly string[], source: string, line: number): readonly string[] {
  const names = cells.map((cell, j) => (cell === "" ? `column${j + 1}` : cell));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    fail(
      "data",
      `${source}, line ${line}: two columns are named ${quote(twice)}`,
      "give every column its own name",
    );
  return names;
}

/** Names of columns for a file without names. */
export const numberedNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, j) => `column${j + 1}`);
