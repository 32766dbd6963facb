/**
 * Which domain each column of a table has: as it was said to have, or as its cells suggest, with
 * the reason.
 */
import { between, category, type Domain, integer, positive, real } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { type CellTable, isEmpty } from "../../table/cells.ts";
import { quote } from "../../table/quote.ts";
import { numberOf } from "../../table/table.ts";
import { bounds, columnAt, numbersIn, presentNumbers } from "./column-cells.ts";
import { type ColumnRule, parseRule, wholeOf } from "./columns.ts";
import { placedAngle, placedSphere } from "./poles.ts";
import { nearlyWhole, saidWhole, wholes, zeroNote } from "./wholes.ts";

export interface Inferred {
  readonly columns: readonly string[];
  readonly domain: Domain;
  /** Why. */
  readonly reason: string;
}

/** More labels than these are names, not categories. */
const MOST_LABELS = 50;
/** So many may be categories even where few rows share one. */
const FEW_LABELS = 10;
/** Fewer numbers may be each other's neighbours by chance. */
const FEWEST_NUMBERED = 20;

function requireCells(table: CellTable, name: string): void {
  if (columnAt(table, name).every(isEmpty))
    fail(
      "data",
      `${table.source}: all cells of ${quote(name)} are empty`,
      `leave it out by the rule ${name}=drop`,
    );
}

/** That numbers of columns have commas, in words to add to a reason. */
const commaNote = (table: CellTable, columns: readonly string[]): string =>
  table.commas &&
  columns.some(
    (name) => numbersIn(table, name) && columnAt(table, name).some((c) => c.includes(",")),
  )
    ? ", with decimal commas"
    : "";

/** A cell such as 1,234, which is another number where commas part thousands. */
const isGrouped = (cell: string): boolean => /^[+-]?[1-9]\d{0,2},\d{3}$/.test(cell);

/**
 * Commas that may part thousands, in all cells that have any, are an error that says where the
 * first is.
 */
function refuseGrouped(table: CellTable, names: Iterable<string>): void {
  const found = [...names].flatMap((name) =>
    columnAt(table, name).flatMap((cell, row) => (cell.includes(",") ? [{ name, cell, row }] : [])),
  );
  if (found.length === 0 || !found.every(({ cell }) => isGrouped(cell))) return;
  const [{ name, cell, row }] = found;
  fail(
    "data",
    `${table.source}, line ${table.lines[row]}, column ${table.columns.indexOf(name) + 1} (${quote(name)}): ${quote(cell)} may be ${cell.replace(",", "")} or ${cell.replace(",", ".")}`,
    "write numbers without commas",
  );
}

/** How many cells of columns are empty, in words to add to a reason. */
function emptyNote(table: CellTable, columns: readonly string[]): string {
  const empty = columns.reduce((s, name) => s + columnAt(table, name).filter(isEmpty).length, 0);
  return empty === 0 ? "" : `; ${empty} of ${table.rows.length * columns.length} cells are empty`;
}

/**
 * Whether so many different texts are too many for categories: no two rows would share one as a
 * rule.
 */
const areNames = (labels: number, cells: number): boolean =>
  labels > MOST_LABELS || (labels > FEW_LABELS && labels > cells / 2);

/**
 * A cell that is no number in a column of numbers, too many of them for labels, is an error that
 * says where it is.
 */
function refuseStray(table: CellTable, name: string): void {
  const cells = columnAt(table, name).filter((cell) => !isEmpty(cell));
  const strays = cells.filter((cell) => numberOf(cell, table.commas) === undefined);
  if (!areNames(new Set(cells).size, cells.length) || strays.length > cells.length / 2) return;
  const [column, row] = [table.columns.indexOf(name), columnAt(table, name).indexOf(strays[0])];
  fail(
    "data",
    `${table.source}, line ${table.lines[row]}, column ${column + 1} (${quote(name)}): ${quote(strays[0])} is not a number, though most are`,
    `mend the cell, drop the row, or leave the column out by the rule ${name}=drop`,
  );
}

/** Columns of one value have no law to learn. */
function refuseConstant(table: CellTable, names: readonly string[]): void {
  const found = names.filter(
    (name) => new Set(columnAt(table, name).filter((cell) => !isEmpty(cell))).size === 1,
  );
  if (found.length === 0) return;
  if (table.rows.length === 1)
    fail("data", `${table.source} has one row, which shows no law`, "give more rows");
  const say = found.length === 1 ? ["has", "it", "rule"] : ["have", "them", "rules"];
  fail(
    "data",
    `${table.source}: ${found.map(quote).join(", ")} ${say[0]} one value in all rows`,
    `leave ${say[1]} out by the ${say[2]} ${found.map((name) => `${name}=drop`).join(", ")}`,
  );
}

const isDate = (cell: string): boolean =>
  /^\d{4}-\d{1,2}-\d{1,2}(\D|$)|^\d{1,2}[./]\d{1,2}[./]\d{2,4}(\D|$)/.test(cell);
/** A number with thousands parted, of a currency or in percent. */
const isDressed = (cell: string): boolean => /^[$€£]? ?[+-]?\d[\d.,']* ?[%$€£]?$/.test(cell);

/**
 * What most of a column's texts seem to be, in words that say what to do about it; undefined where
 * they are plain texts.
 */
function disguise(cells: readonly string[]): string | undefined {
  const are = (test: (cell: string) => boolean): boolean =>
    cells.filter(test).length > cells.length / 2;
  if (are(isDate)) return "write dates as numbers, such as days since the first";
  return are(isDressed) ? "write numbers plainly, as 1234.5" : undefined;
}

/** A category of a column's texts, which are not taken for one unasked where they are too many. */
function categoryOf(table: CellTable, name: string, isSaid: boolean): Omit<Inferred, "columns"> {
  const cells = columnAt(table, name).filter((cell) => !isEmpty(cell));
  const labels = [...new Set(cells)].sort();
  const other = disguise(cells);
  if (labels.length > MOST_LABELS || (!isSaid && areNames(labels.length, cells.length)))
    fail(
      "data",
      `${table.source}: ${quote(name)} has ${labels.length} different texts, too many for categories`,
      `${other ?? "merge rare ones"}, or leave it out by the rule ${name}=drop`,
    );
  const reason = isSaid
    ? "as was said"
    : `text${other === undefined ? "" : `, such as ${quote(labels[0])}: if it is not, ${other}`}`;
  return { domain: category(labels), reason };
}

/** Said of whole numbers that are all of a range, each once, as those that number rows are. */
const numberingNote = (
  name: string,
  numbers: readonly number[],
  [low, high]: readonly [number, number],
): string =>
  numbers.length >= FEWEST_NUMBERED &&
  high - low + 1 === numbers.length &&
  new Set(numbers).size === numbers.length
    ? `, each once: if they only number the rows, leave them out by the rule ${name}=drop`
    : "";

/** What the numbers of a column suggest. */
function numberDomain(name: string, cells: readonly number[]): Omit<Inferred, "columns"> {
  const numbers = presentNumbers(cells);
  const [low, high] = bounds(numbers);
  if (numbers.every(Number.isSafeInteger)) {
    const reason = `whole numbers from ${low} to ${high}${low < 0 ? ", some below 0" : ""}${numberingNote(name, numbers, [low, high])}`;
    return { domain: low >= 0 ? integer({ least: 0 }) : integer(), reason };
  }
  const [from, to] = [low, high].map((v) => Number(v.toPrecision(6)));
  const range = `from ${from} to ${to}`;
  if (low > 0 && high < 1)
    return { domain: between(0, 1), reason: `all between 0 and 1, ${range}` };
  if (low > 0) return { domain: positive(), reason: `all above 0, ${range}` };
  return {
    domain: real(),
    reason:
      low === 0 ? `numbers ${range}; exact zeros are on the bound of positive` : `numbers ${range}`,
  };
}

/**
 * What columns were said to be, with what only their cells can say: zeros and rounding of parts,
 * and where there are no rows on a circle.
 */
function asSaid(
  table: CellTable,
  columns: readonly string[],
  domain: Domain,
): Omit<Inferred, "columns"> {
  const { spec } = domain;
  if (spec?.kind === "angle") return placedAngle(table, columns[0], spec.period);
  if (spec?.kind === "sphere") return placedSphere(table, columns);
  return spec?.kind === "simplex"
    ? saidWhole(table, columns, spec)
    : { domain, reason: "as was said" };
}

/** Domains of all columns that are not left out, in the order of the table. */
export function inferColumns(table: CellTable, rules: readonly string[] = []): readonly Inferred[] {
  const said: ColumnRule[] = rules.map((rule) => parseRule(rule, table.columns));
  const spoken = said.flatMap((rule) => rule.columns);
  const twice = spoken.find((name, i) => spoken.indexOf(name) !== i);
  if (twice !== undefined)
    fail("usage", `two rules are about ${quote(twice)}`, "give one for each column");
  const dropped = said.filter((rule) => rule.domain === "drop").flatMap((rule) => rule.columns);
  for (const name of table.columns) if (!dropped.includes(name)) requireCells(table, name);
  const open = table.columns.filter((name) => !spoken.includes(name));
  const labelled = said
    .filter((rule) => rule.domain === "category")
    .flatMap((rule) => rule.columns);
  refuseConstant(table, [...open, ...labelled]);
  const numbers = new Map<string, readonly number[]>();
  for (const name of open) {
    const found = numbersIn(table, name);
    if (found) numbers.set(name, found);
  }
  if (table.commas) refuseGrouped(table, numbers.keys());
  const groups = wholes(open, numbers);
  const grouped = new Set(groups.flatMap(({ names }) => names));
  const nearly = nearlyWhole(
    table,
    open.filter((name) => !grouped.has(name)),
    numbers,
  );
  const found: Inferred[] = [
    ...said.flatMap(({ columns, domain }) => {
      if (domain === "drop") return [];
      if (domain === "category") return [{ columns, ...categoryOf(table, columns[0], true) }];
      return [{ columns, ...asSaid(table, columns, domain) }];
    }),
    ...groups.map(({ names, total, zeros }) => ({
      columns: names,
      domain: wholeOf(names, total, zeros),
      reason: `${zeros === undefined ? "above 0" : "at least 0"}, and they sum to ${total} in every row${zeroNote(zeros)}`,
    })),
    ...open.flatMap((name) => {
      if (grouped.has(name)) return [];
      const values = numbers.get(name);
      if (values) {
        const { domain, reason } = numberDomain(name, values);
        return [
          { columns: [name], domain, reason: reason + (nearly?.first === name ? nearly.note : "") },
        ];
      }
      refuseStray(table, name);
      return [{ columns: [name], ...categoryOf(table, name, false) }];
    }),
  ].map((one) => ({
    ...one,
    reason: one.reason + commaNote(table, one.columns) + emptyNote(table, one.columns),
  }));
  if (found.length === 0)
    fail("usage", `${table.source}: all columns are left out`, "keep at least one");
  return found.sort(
    (a, b) => table.columns.indexOf(a.columns[0]) - table.columns.indexOf(b.columns[0]),
  );
}

/** The domains by name, as `fitTable` takes them. */
export const namedDomains = (inferred: readonly Inferred[]): Readonly<Record<string, Domain>> =>
  Object.fromEntries(inferred.map(({ columns, domain }) => [columns.join("+"), domain]));
