/** Which domain each column of a table has: as it was said to have, or as its cells suggest, with the reason. */
import {
  between,
  type Cell,
  category,
  type Domain,
  integer,
  type Product,
  positive,
  real,
  simplex,
} from "diffeo/domain";
import { fail } from "diffeo/graph";
import type { CellTable } from "../table/cells.ts";
import { shown } from "../table/shown.ts";
import { numberOf } from "../table/table.ts";
import { type ColumnRule, parseRule } from "./columns.ts";

export interface Inferred {
  readonly columns: readonly string[];
  readonly domain: Domain;
  /** Why. */
  readonly reason: string;
}

/** More labels than these are names, not categories. */
const MOST_LABELS = 50;
/** How far sums may be from each other, relative to them: cells are rounded. */
const SUM_TOLERANCE = 1e-6;

const columnAt = ({ columns, rows }: CellTable, name: string): readonly string[] => {
  const j = columns.indexOf(name);
  return rows.map((row) => row[j]);
};

/** The numbers of a column, if all its cells are numbers. */
function numbersIn(cells: readonly string[]): number[] | undefined {
  const numbers: number[] = [];
  for (const cell of cells) {
    const value = numberOf(cell);
    if (value === undefined) return undefined;
    numbers.push(value);
  }
  return numbers;
}

function refuseEmpty({ source, columns, rows, lines }: CellTable, dropped: ReadonlySet<string>): void {
  rows.forEach((row, i) => {
    const j = row.findIndex((cell, at) => cell === "" && !dropped.has(columns[at]));
    if (j >= 0)
      fail(
        "data",
        `${source}, line ${lines[i]}, column ${j + 1} (${shown(columns[j])}): the cell is empty`,
        "fill it, or leave out the row or the column",
      );
  });
}

function categoryOf(table: CellTable, name: string): Domain {
  const labels = [...new Set(columnAt(table, name))].sort();
  if (labels.length < 2)
    fail("data", `${table.source}: ${shown(name)} has one value in all rows`, `leave it out: ${name}=drop`);
  if (labels.length > MOST_LABELS)
    fail(
      "data",
      `${table.source}: ${shown(name)} has ${labels.length} different texts, too many for categories`,
      `leave it out: ${name}=drop`,
    );
  return category(labels);
}

const bounds = (numbers: readonly number[]): [number, number] =>
  numbers.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);

/** What the numbers of a column suggest. */
function numberDomain(numbers: readonly number[]): Omit<Inferred, "columns"> {
  const [low, high] = bounds(numbers);
  const range = `from ${low} to ${high}`;
  if (numbers.every(Number.isSafeInteger))
    return low >= 0
      ? { domain: integer({ least: 0 }), reason: `whole numbers ${range}` }
      : { domain: integer(), reason: `whole numbers ${range}, some below 0` };
  if (low > 0 && high < 1) return { domain: between(0, 1), reason: `all between 0 and 1, ${range}` };
  if (low > 0) return { domain: positive(), reason: `all above 0, ${range}` };
  return {
    domain: real(),
    reason: low === 0 ? `numbers ${range}; exact zeros are on the bound of positive` : `numbers ${range}`,
  };
}

/** The sum of columns where it is the same in all rows. */
function commonSum(columns: readonly (readonly number[])[]): number | undefined {
  const sumAt = (i: number): number => columns.reduce((s, column) => s + column[i], 0);
  const total = sumAt(0);
  const same = columns[0].every((_, i) => Math.abs(sumAt(i) - total) <= SUM_TOLERANCE * Math.abs(total));
  return same ? Number(total.toPrecision(6)) : undefined;
}

/** Neighbouring columns of numbers above 0, three or more, that sum to one number in all rows: the longest such runs. */
function wholes(
  open: readonly string[],
  numbers: ReadonlyMap<string, readonly number[]>,
): { names: string[]; total: number }[] {
  const found: { names: string[]; total: number }[] = [];
  const positiveAt = (name: string): boolean => numbers.get(name)?.every((v) => v > 0) ?? false;
  for (let from = 0; from < open.length; from++) {
    let to = from;
    while (to < open.length && positiveAt(open[to])) to++;
    for (; to - from >= 3; to--) {
      const names = open.slice(from, to);
      const total = commonSum(names.map((name) => numbers.get(name) as readonly number[]));
      if (total === undefined) continue;
      found.push({ names, total });
      from = to - 1;
      break;
    }
  }
  return found;
}

/** Domains of all columns that are not left out, in the order of the table. */
export function inferColumns(table: CellTable, rules: readonly string[] = []): readonly Inferred[] {
  const said: ColumnRule[] = rules.map((rule) => parseRule(rule, table.columns));
  const spoken = said.flatMap((rule) => rule.columns);
  const twice = spoken.find((name, i) => spoken.indexOf(name) !== i);
  if (twice !== undefined) fail("usage", `two rules are about ${shown(twice)}`, "give one for each column");
  refuseEmpty(table, new Set(said.filter((rule) => rule.domain === "drop").flatMap((rule) => rule.columns)));
  const open = table.columns.filter((name) => !spoken.includes(name));
  const numbers = new Map<string, readonly number[]>();
  for (const name of open) {
    const found = numbersIn(columnAt(table, name));
    if (found) numbers.set(name, found);
  }
  const groups = wholes(open, numbers);
  const grouped = new Set(groups.flatMap(({ names }) => names));
  const found: Inferred[] = [
    ...said.flatMap(({ columns, domain }) =>
      domain === "drop"
        ? []
        : [{ columns, domain: domain === "category" ? categoryOf(table, columns[0]) : domain, reason: "as was said" }],
    ),
    ...groups.map(({ names, total }) => ({
      columns: names,
      domain: simplex(names, { total, map: "isometricLogRatio", tolerance: 1e-3 }),
      reason: `above 0, and they sum to ${total} in every row`,
    })),
    ...open.flatMap((name) => {
      if (grouped.has(name)) return [];
      const values = numbers.get(name);
      if (values) return [{ columns: [name], ...numberDomain(values) }];
      return [{ columns: [name], domain: categoryOf(table, name), reason: "text" }];
    }),
  ];
  if (found.length === 0) fail("usage", `${table.source}: all columns are left out`, "keep at least one");
  return found.sort((a, b) => table.columns.indexOf(a.columns[0]) - table.columns.indexOf(b.columns[0]));
}

/** The domains by name, as `fitTable` takes them. */
export const namedDomains = (inferred: readonly Inferred[]): Readonly<Record<string, Domain>> =>
  Object.fromEntries(inferred.map(({ columns, domain }) => [columns.join("+"), domain]));

/** The rows of a table as cells of a product of domains; one that is outside is an error that says where. */
export function rowsIn(table: CellTable, domain: Product): Cell[][] {
  const { source, columns, lines } = table;
  const places = domain.parts.map((part) =>
    part.columns.map((name) => {
      const at = columns.indexOf(name);
      if (at < 0) fail("data", `${source} has no column ${shown(name)}`, "give the columns that the model has");
      return at;
    }),
  );
  return table.rows.map((row, i) =>
    domain.parts.flatMap((part, k) => {
      const where = (j: number): string => `${source}, line ${lines[i]}, column ${j + 1} (${shown(columns[j])})`;
      const text = part.domain.kind === "category";
      const cells = places[k].map((j): Cell => {
        const cell = row[j];
        if (text) return cell;
        const what = cell === "" ? "the cell is empty" : `${shown(cell)} is not a number`;
        return numberOf(cell) ?? fail("data", `${where(j)}: ${what}`, "mend the cell, or drop the row");
      });
      const fault = part.domain.fault(cells);
      if (fault !== undefined)
        fail("data", `${where(places[k][0])}: ${fault}`, "mend or drop the row, or say another domain for the column");
      return cells;
    }),
  );
}
