/**
 * Columns that are parts of a whole: neighbours that sum to one number, those that were said to,
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
 * Half of the smallest share above 0, where there are parts of 0; undefined where that is no small
 * share.
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
 * Neighbouring columns of numbers of at least 0, three or more, that are evidently parts of one sum:
 * the longest such runs.
 */
export function wholes(
  table: CellTable,
  open: readonly string[],
  numbers: ReadonlyMap<string, readonly number[]>,
): Whole[] {
  const found: Whole[] = [];
  const valuesOf = (name: string): readonly number[] => numbers.get(name) ?? [];
  const isShare = (name: string): boolean => {
    const values = presentNumbers(valuesOf(name));
    return values.length > 0 && values.every((v) => v >= 0) && values.some((v) => v > 0);
  };
  for (let from = 0; from < open.length; from++) {
    let to = from;
    while (to < open.length && isShare(open[to])) to++;
    for (; to - from >= 3; to--) {
      const names = open.slice(from, to);
      const columns = names.map(valuesOf);
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
 * A whole that was said to be one, with its zeros where the table has some and nothing was said of
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
  for (let from = 0; from < open.length; from++) {
    const end = shares.indexOf(undefined, from);
    for (let to = end < 0 ? open.length : end; to - from >= 3; to--) {
      const sums = sumsOf(shares.slice(from, to) as (readonly number[])[], 2 * MOST_ROUNDING);
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
        note: `; with ${names.slice(1).join(", ")} it sums to ${low} to ${high}: if they are parts of a whole, say ${names.join("+")}=${total}`,
      };
    }
  }
  return undefined;
}
