/**
 * Columns that are parts of a whole: neighbours that sum to one number, those that a rule declares,
 * and those that nearly do, since their cells are rounded.
 */
import type { Domain, DomainSpec } from "diffeo/domain";
import type { CellTable } from "../../table/cells.ts";
import { columnAt, numbersIn, presentNumbers } from "../kinds/index.ts";
import { SUM_TOLERANCE, wholeOf } from "./columns.ts";

/** How far sums may be from each other, relative to them: cells are rounded. */
const SAME_SUM = 1e-6;
/** Sums that rounding takes farther from a total, relative to it, are taken for other sums. */
const MOST_ROUNDING = 0.05;

/**
 * The first, the least and the greatest sum of columns, over rows that have them all; undefined
 * where one is farther from the first than a share of it, which most columns show in their first
 * rows.
 */
function sumsOf(columns: readonly (readonly number[])[], apart: number) {
  let found: { readonly first: number; readonly low: number; readonly high: number } | undefined;
  for (let i = 0; i < columns[0].length; i++) {
    let sum = 0;
    for (const column of columns) sum += column[i];
    if (Number.isNaN(sum)) continue;
    const { first, low, high } = found ?? { first: sum, low: sum, high: sum };
    if (Math.abs(sum - first) > apart * Math.abs(first)) return undefined;
    found = { first, low: Math.min(low, sum), high: Math.max(high, sum) };
  }
  return found;
}

/** Rows whose sums are looked at before those of all rows. */
const SCREEN_ROWS = 4;

/**
 * The ends of runs of columns whose sums may be the same, from the last on: a function of where the
 * runs begin and of their last possible end. Most runs are refused by the sums of a few rows, those
 * that have the most columns before their next gap; a run without a row that has all its columns
 * has no sum.
 */
function runEnds(columns: readonly (readonly number[])[], apart: number) {
  const rows = columns.reduce((most, column) => Math.max(most, column.length), 0);
  /** The next column in which a row has a gap. */
  const reach = new Int32Array(rows).fill(-1);
  return function* endsOf(from: number, end: number): Generator<number> {
    for (let i = 0; i < rows; i++)
      if (reach[i] < from) {
        reach[i] = from;
        while (reach[i] < end && !Number.isNaN(columns[reach[i]][i])) reach[i]++;
      }
    let longest: number[] = [];
    for (let i = 0; i < rows; i++)
      if (longest.length < SCREEN_ROWS || reach[i] > reach[longest[SCREEN_ROWS - 1]])
        longest = [...longest, i].sort((a, b) => reach[b] - reach[a]).slice(0, SCREEN_ROWS);
    const last = Math.min(end, reach[longest[0]] ?? from);
    // Sums of the columns before each end, row by row.
    const sums = longest.map((i) => {
      const own = [0];
      for (let to = from; to < last; to++) own.push(own[to - from] + columns[to][i]);
      return own;
    });
    for (let to = last; to - from >= 3; to--) {
      const [first, ...others] = sums.map((own) => own[to - from]);
      // Twice as far apart from each other as from the first row, which is another one.
      if (!others.some((sum) => Math.abs(sum - first) > 3 * apart * Math.abs(first))) yield to;
    }
  };
}

/** Parts vary by at least this share of the whole, two of them at least: else they show nothing. */
const LEAST_SPREAD = 0.01;

const deviationOf = (values: readonly number[]): number => {
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  return Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length);
};

/**
 * The sum of columns where it is evident that they are parts of it: it is the same in all rows that
 * have them all, to the digits that cells are written with, while the parts vary.
 */
function evidentSum(
  table: CellTable,
  names: readonly string[],
  columns: readonly (readonly number[])[],
): number | undefined {
  const sums = sumsOf(columns, SAME_SUM);
  if (!sums) return undefined;
  const total = Number(sums.first.toPrecision(6));
  const lastDigit = 10 ** -Math.max(...names.map((name) => digitsOf(table, name)));
  // Parts written with many digits are rounded one by one, those with few add up.
  const allowed = Math.max(lastDigit / 2, Math.min(names.length * lastDigit, SAME_SUM * total));
  if (Math.max(sums.high - total, total - sums.low) > allowed) return undefined;
  const spreads = columns.map((column) => deviationOf(presentNumbers(column)));
  const varying = spreads.filter((spread) => spread >= LEAST_SPREAD * total).length;
  return varying >= 2 && spreads.every((spread) => spread > 0) ? total : undefined;
}

/**
 * Half of the smallest share above 0, where there are parts of 0; undefined where that is not a
 * small share.
 */
function zeroShare(columns: readonly (readonly number[])[], total: number): number | undefined {
  const least = columns.reduce(
    (low, column) => column.reduce((l, v) => (v > 0 && v < l ? v : l), low),
    total,
  );
  return columns.length * (least / total / 2) < 0.5 ? least / total / 2 : undefined;
}

interface Whole {
  readonly names: readonly string[];
  readonly total: number;
  /** Of the total, below which a part is called 0. */
  readonly zeros?: number;
}

/**
 * Neighbouring columns of numbers of at least 0, three or more, that are evidently parts of one
 * sum: the longest such runs.
 */
export function wholes(
  table: CellTable,
  open: readonly string[],
  numbers: ReadonlyMap<string, readonly number[]>,
): Whole[] {
  const found: Whole[] = [];
  const all = open.map((name) => numbers.get(name) ?? []);
  const areShares = all.map((column) => {
    const values = presentNumbers(column);
    return values.length > 0 && values.every((v) => v >= 0) && values.some((v) => v > 0);
  });
  const endsOf = runEnds(all, SAME_SUM);
  for (let from = 0; from < open.length; from++) {
    if (!areShares[from]) continue;
    const end = areShares.indexOf(false, from);
    for (const to of endsOf(from, end < 0 ? open.length : end)) {
      const names = open.slice(from, to);
      const columns = all.slice(from, to);
      const total = evidentSum(table, names, columns);
      if (total === undefined || !(total > 0)) continue;
      const withZeros = columns.some((column) => column.includes(0));
      const zeros = withZeros ? zeroShare(columns, total) : undefined;
      if (withZeros && zeros === undefined) continue;
      found.push({ names, total, zeros });
      from = to - 1;
      break;
    }
  }
  return found;
}

/** What zeros stand for, in words to add to a reason. */
export const zeroNote = (zeros: number | undefined): string =>
  zeros === undefined
    ? ""
    : `; a part of 0 stands for one below ${Number(zeros.toPrecision(3))} of the whole`;

/** Digits after the point that cells of a column are written with. */
function digitsOf(table: CellTable, name: string): number {
  const digits = (cell: string): number =>
    /e/i.test(cell) ? 15 : (/[.,](\d+)$/.exec(cell)?.[1].length ?? 0);
  return columnAt(table, name).reduce((most, cell) => Math.max(most, digits(cell)), 0);
}

/**
 * How far rounding takes a sum of columns from a total, relative to it: half of the last digit that
 * is written, a column.
 */
function roundingOf(table: CellTable, columns: readonly string[], total: number): number {
  const most = Math.max(...columns.map((name) => digitsOf(table, name)));
  return ((columns.length / 2) * 10 ** -most * (1 + 1e-9)) / total;
}

/**
 * A whole that a rule declares, with its zeros where the table has some and the rule does not set
 * them; sums of parts that are written with few digits may be as far off as rounding takes them.
 */
export function saidWhole(
  table: CellTable,
  columns: readonly string[],
  spec: Extract<DomainSpec, { kind: "simplex" }>,
): { readonly domain: Domain; readonly reason: string } {
  const values = columns.map((name) => numbersIn(table, name) ?? []);
  const total = spec.total ?? 1;
  const hasZeros = spec.zeros === undefined && values.some((column) => column.includes(0));
  const zeros = hasZeros ? zeroShare(values, total) : undefined;
  const rounding = Math.min(MOST_ROUNDING, roundingOf(table, columns, total));
  return {
    domain: wholeOf(columns, total, zeros ?? spec.zeros, Math.max(SUM_TOLERANCE, rounding)),
    reason: `as specified${zeroNote(zeros)}`,
  };
}

/**
 * Said of columns that would be parts of a whole if their sums were not off by as much as rounding
 * may take them.
 */
export function nearlyWhole(
  table: CellTable,
  open: readonly string[],
  numbers: ReadonlyMap<string, readonly number[]>,
): { readonly first: string; readonly note: string } | undefined {
  const shares = open.map((name) => {
    const values = numbers.get(name);
    return values?.every((v) => !(v < 0)) ? values : undefined;
  });
  const all = shares.map((values) => values ?? []);
  const endsOf = runEnds(all, 2 * MOST_ROUNDING);
  for (let from = 0; from < open.length; from++) {
    if (!shares[from]) continue;
    const end = shares.indexOf(undefined, from);
    for (const to of endsOf(from, end < 0 ? open.length : end)) {
      const sums = sumsOf(all.slice(from, to), 2 * MOST_ROUNDING);
      if (!sums || !(sums.low > 0)) continue;
      const [names, total] = [
        open.slice(from, to),
        Number(((sums.low + sums.high) / 2).toPrecision(2)),
      ];
      const rounding = roundingOf(table, names, total);
      if (
        rounding > MOST_ROUNDING ||
        Math.max(sums.high / total - 1, 1 - sums.low / total) > rounding
      )
        continue;
      const [low, high] = [sums.low, sums.high].map((sum) => Number(sum.toPrecision(6)));
      return {
        first: names[0],
        note:
          `; with ${names.slice(1).join(", ")} it sums to ${low} to ${high}: if they are parts ` +
          `of a whole, say ${names.join("+")}=${total}`,
      };
    }
  }
  return undefined;
}
