/**
 * Whether the first line of a file is names. It is a row where its cells are like those below it:
 * numbers over numbers that do not rise, as years and wavelengths would, a marker of a missing
 * value next to numbers, or labels all of which occur again in their columns.
 */
import { fail } from "diffeo/graph";
import { quote } from "./quote.ts";
import { numberOf } from "./table.ts";

/** Rows below that are looked at, and how many there must be to compare labels with. */
const LOOKED_AT = 500;
const LEAST_BELOW = 20;

/** What stands for a missing value and is not a name. */
const MISSING = new Set(["?", "na", "n/a", "nan", "null", "#n/a"]);

const isNumber = (cell: string): boolean => numberOf(cell, true) !== undefined;

/** Whether integers, or more than two numbers, rise: years and wavelengths may be names. */
function areNames(numbers: readonly number[]): boolean {
  const rise = numbers.every((v, i) => i === 0 || v > numbers[i - 1]);
  return rise && (numbers.length > 2 || numbers.every(Number.isInteger));
}

/** Whether the first of some records is a row like the others. */
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
  // A name may be a number over labels, and one number over nothing says little.
  return first.every((cell, j) => !isNumber(cell) || below.every((row) => isLikeNumber(row[j])));
}

const isLikeNumber = (cell: string | undefined): boolean =>
  cell === undefined || cell === "" || MISSING.has(cell.toLowerCase()) || isNumber(cell);

/** The names of columns in a line: those without one are numbered. */
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

/** Names of columns where the file has none. */
export const numberedNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, j) => `column${j + 1}`);
