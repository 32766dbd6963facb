/**
 * The distribution function of a column of numbers, as `empirical` (diffeo/domain) takes it: the
 * step that numbers are recorded in, values that more rows have than their neighbours explain, and
 * between them bins of about √N rows.
 */
import { type EmpiricalOptions, nearestMultiple } from "diffeo/domain";
import { fail } from "diffeo/graph";
import { quote } from "../../table/quote.ts";
import { bounds } from "./column-cells.ts";

/**
 * Rows from which a column's own distribution function says more than a smooth map of its domain
 * leaves to learn. Of fewer rows, values repeat by chance.
 */
export const MANY_ROWS = 1000;

/** Digits after the point that a step may have. */
const MOST_DIGITS = 9;
/** So many different values share a factor by chance once in 4,096 times at most. */
const ENOUGH_FOR_FACTOR = 12;

/** Digits after the point of a number. */
function digitsOf(value: number): number {
  const text = String(value);
  if (text.includes("e-")) return MOST_DIGITS + 1;
  const point = text.indexOf(".");
  return point < 0 ? 0 : text.length - point - 1;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/**
 * What numbers are multiples of: a power of ten, or a multiple of one. Undefined where they have
 * more digits than are recorded on purpose.
 */
export function stepOf(numbers: readonly number[]): number | undefined {
  let digits = 0;
  for (const v of numbers) {
    digits = Math.max(digits, digitsOf(v));
    if (digits > MOST_DIGITS) return undefined;
  }
  const scale = 10 ** digits;
  const units = new Set<number>();
  for (const v of numbers) {
    const unit = Math.round(Math.abs(v) * scale);
    // Halves of a step have to be numbers too.
    if (unit > 2 ** 50) return undefined;
    units.add(unit);
  }
  let factor = 0;
  for (const unit of units) factor = divisor(factor, unit);
  return nearestMultiple(units.size >= ENOUGH_FOR_FACTOR ? factor : 1, 1) / scale;
}

/** Rows below which neither a step nor a range shows. */
const LEAST_RECORDED = 20;

/** How numbers are recorded: their step, and the range that was seen. */
export function recordedOf(numbers: readonly number[]): { step?: number; range?: number[] } {
  if (numbers.length < LEAST_RECORDED) return {};
  const step = stepOf(numbers);
  return { ...(step !== undefined && { step }), range: bounds(numbers) };
}

/** A value and how many rows have it. */
export interface Counted {
  readonly value: number;
  readonly count: number;
}

/** The different values in order, and how many rows have each. */
export function countsOf(numbers: readonly number[]): Counted[] {
  const counts = new Map<number, number>();
  for (const v of numbers) counts.set(v === 0 ? 0 : v, (counts.get(v === 0 ? 0 : v) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => a.value - b.value);
}

/** Neighbours on each side that say how many rows a value may have. */
const NEIGHBOURS = 4;
/** Of these the heaviest do not count: they may be heaps themselves. */
const TRIMMED = 2;
/** A heap has so many rows at least. */
const LEAST_HEAP = 3;
/** Heaps of a column: a model file has two numbers for each. */
const MOST_HEAPS = 1500;

/**
 * Whether more rows have a value than its neighbours explain: more than a Poisson count with their
 * mean per step has once in some 10⁴ times.
 */
function isHeap(counts: readonly Counted[], i: number, step: number): boolean {
  const { count } = counts[i];
  if (count < LEAST_HEAP) return false;
  const [from, to] = [Math.max(0, i - NEIGHBOURS), Math.min(counts.length - 1, i + NEIGHBOURS)];
  const others = counts
    .slice(from, to + 1)
    .filter((_, j) => from + j !== i)
    .map((one) => one.count)
    .sort((a, b) => a - b)
    .slice(0, -TRIMMED);
  const cells = (counts[to].value - counts[from].value) / step - TRIMMED;
  const mean = others.reduce((s, v) => s + v, 0) / Math.max(1, cells);
  return count > mean + 4 * Math.sqrt(mean) + 2;
}

/**
 * The values that more rows have than their neighbours explain, the heaviest where they are many.
 */
export function heapsOf(counts: readonly Counted[], step: number | undefined): ReadonlySet<number> {
  if (step === undefined) return new Set();
  const found = counts.filter((_, i) => isHeap(counts, i, step));
  return new Set(
    found
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST_HEAPS)
      .map(({ value }) => value),
  );
}

/** Rows of a bin, of so many. */
const binSize = (rows: number): number => Math.max(5, Math.sqrt(rows), rows / 200);

interface Bin {
  readonly to: number;
  readonly rows: number;
}

/** Bins from the first edge on: heaps and heavy values alone, others together. */
function binsOf(counts: readonly Counted[], step: number | undefined): Bin[] {
  const rows = counts.reduce((s, { count }) => s + count, 0);
  const heaps = heapsOf(counts, step);
  const most = binSize(rows);
  const half = (step ?? 0) / 2;
  const bins: Bin[] = [];
  let open = 0;
  counts.forEach(({ value, count }, i) => {
    const alone = step !== undefined && (heaps.has(value) || count >= most);
    const last = i === counts.length - 1;
    if (alone) {
      if (i > 0) bins.push({ to: value - half, rows: open });
      bins.push({ to: value + half, rows: count });
      open = 0;
      return;
    }
    open += count;
    if (open < most && !last) return;
    const end = step === undefined && !last ? (value + counts[i + 1].value) / 2 : value + half;
    bins.push({ to: end, rows: open });
    open = 0;
  });
  return bins;
}

/**
 * F of numbers that are not all the same. What no row has shares the weight of two rows: one is
 * for the gaps between values, one for what is beyond them.
 */
export function distributionOf(
  numbers: readonly number[],
  step = stepOf(numbers),
): EmpiricalOptions {
  const counts = countsOf(numbers);
  const half = (step ?? 0) / 2;
  const first = counts[0].value - half;
  // Neighbours of one step have no gap between them.
  const bins = binsOf(counts, step).filter(
    ({ to, rows }, i, all) => rows > 0 || to - (i === 0 ? first : all[i - 1].to) > half / 2,
  );
  const gaps = bins.filter(({ rows }) => rows === 0).length;
  const total = numbers.length + 1 + (gaps > 0 ? 1 : 0);
  const knots = [first];
  const shares = [0.5 / total];
  for (const { to, rows } of bins) {
    knots.push(to);
    shares.push((shares.at(-1) as number) + (rows > 0 ? rows : 1 / gaps) / total);
  }
  const low = first >= -half && counts[0].value >= 0 ? lowBound(counts[0].value, step) : undefined;
  return { knots, shares, ...(step !== undefined && { step }), ...(low !== undefined && { low }) };
}

/**
 * Whether knots are apart. Those around numbers that are next to each other as float64 are not,
 * such as 2⁵³ and 2⁵³ + 2 with knots at odd numbers.
 */
export const areApart = ({ knots }: EmpiricalOptions): boolean =>
  knots.every((v, i) => i === 0 || v > knots[i - 1]);

/** Says so where a rule asks for a distribution of such numbers. */
export const tooClose = (name: string, kind: string): never =>
  fail(
    "data",
    `${quote(name)} has numbers that are too close to each other for 16 digits`,
    `subtract a constant from them, or leave out the rule ${name}=${kind}`,
  );

/** Numbers of at least 0 stay so: a bound just below it, or below the cell of 0. */
const lowBound = (least: number, step: number | undefined): number =>
  step === undefined ? (least > 0 ? 0 : -Number.MIN_VALUE) : -step;
