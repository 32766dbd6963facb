/** Cells that cannot be read as their column: all of them in one error, with what to do. */

import { fail } from "diffeo/graph";
import { type CellTable, isEmpty } from "../../table/cells.ts";
import { quote } from "../../table/quote.ts";
import { numberOf } from "../../table/table.ts";
import { areLabels, columnAt, columnOf, numbersIn } from "../kinds/index.ts";

/** A cell that cannot be read, and what to do about it. */
interface Complaint {
  readonly name: string;
  readonly where: string;
  readonly problem: string;
  readonly remedy: string;
}

/** A word of a command line, in quotes if a shell needs them. */
const shellWord = (word: string): string => (/^[\w.=-]+$/.test(word) ? word : `'${word}'`);

/** All that is wrong with the cells of a table, in one error. */
export function refuse(table: CellTable, complaints: readonly Complaint[]): void {
  if (complaints.length === 0) return;
  const [{ where, problem, remedy }] = complaints;
  if (complaints.length === 1) fail("data", `${table.source}, ${where}: ${problem}`, remedy);
  fail(
    "data",
    `${table.source}: ${complaints.length} columns cannot be read: ` +
      `${complaints.map((one) => `${one.where}: ${one.problem}`).join("; ")}`,
    "fix these cells, or leave the columns out by " +
      complaints.map(({ name }) => `--column ${shellWord(`${name}=drop`)}`).join(" "),
  );
}

const placeOf = (table: CellTable, name: string, row: number): string =>
  `line ${table.lines[row]}, column ${table.columns.indexOf(name) + 1} (${quote(name)})`;

/** That numbers of columns have commas, in words to add to a reason. */
export const commaNote = (table: CellTable, columns: readonly string[]): string =>
  table.commas &&
  columns.some(
    (name) => numbersIn(table, name) && columnAt(table, name).some((c) => c.includes(",")),
  )
    ? ", with decimal commas"
    : "";

/** A cell such as 1,234, which is another number where commas separate thousands. */
const isGrouped = (cell: string): boolean => /^[+-]?[1-9]\d{0,2},\d{3}$/.test(cell);

/** Commas that may separate thousands, in all cells that have any: the first of them. */
export function groupedComplaints(table: CellTable, names: Iterable<string>): Complaint[] {
  const found = [...names].flatMap((name) =>
    columnAt(table, name).flatMap((cell, row) => (cell.includes(",") ? [{ name, cell, row }] : [])),
  );
  if (found.length === 0 || !found.every(({ cell }) => isGrouped(cell))) return [];
  const [{ name, cell, row }] = found;
  return [
    {
      name,
      where: placeOf(table, name, row),
      problem: `${quote(cell)} may be ${cell.replace(",", "")} or ${cell.replace(",", ".")}`,
      remedy: "write numbers without commas",
    },
  ];
}

/** How many cells of columns say that their value is missing, in words to add to a reason. */
export function missingNote(table: CellTable, columns: readonly string[]): string {
  const missing = columns.reduce(
    (sum, name) => sum + table.rows.length - columnOf(table, name).cells.length,
    0,
  );
  return missing === 0
    ? ""
    : `; ${missing} of ${table.rows.length * columns.length} cells are empty`;
}

/** A cell that is not a number in a column of numbers, too many of them for labels. */
export function strayComplaints(table: CellTable, name: string): Complaint[] {
  const cells = columnAt(table, name).filter((cell) => !isEmpty(cell));
  const strays = cells.filter((cell) => numberOf(cell, table.commas) === undefined);
  const isStray =
    strays.length > 0 &&
    !areLabels(new Set(cells).size, cells.length) &&
    strays.length <= cells.length / 2;
  if (!isStray) return [];
  return [
    {
      name,
      where: placeOf(table, name, columnAt(table, name).indexOf(strays[0])),
      problem: `${quote(strays[0])} is not a number, though most are`,
      remedy: `fix the cell, drop the row, or leave the column out by the rule ${name}=drop`,
    },
  ];
}
