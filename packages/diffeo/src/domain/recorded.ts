/**
 * Numbers as they are recorded: in multiples of a step, within the range that was seen. Both
 * concern what comes out; every number of the domain may go in, and has a density.
 */
import { fail } from "../graph/index.ts";

/** How numbers of a column are recorded. */
export interface RecordedOptions {
  /** What comes out is a multiple of this. Default: a number with all its digits. */
  readonly step?: number;
  /** What comes out is within these bounds, which belong to them. Default: anywhere inside. */
  readonly range?: readonly number[];
}

/** The multiple of a step that is nearest to a value, without the digits that rounding adds. */
export function nearestMultiple(value: number, step: number): number {
  const nearest = Math.round(value / step);
  // 3 · 0.1 is 0.30000000000000004, 3/10 is 0.3.
  const inverse = Math.round(1 / step);
  const isInverse = Math.abs(inverse * step - 1) < 1e-12;
  // −0 is 0.
  return (isInverse ? nearest / inverse : Number((nearest * step).toPrecision(15))) + 0;
}

/** Raises an error where a step or a range is none. */
export function requireRecorded({ step, range }: RecordedOptions, what: string): void {
  if (step !== undefined && !(step > 0 && Number.isFinite(step)))
    fail("usage", `${what}: the step is ${step}`, "give a number above 0");
  if (range && !(range.length === 2 && range.every(Number.isFinite) && range[0] <= range[1]))
    fail(
      "usage",
      `${what}: the range is ${range.join(" to ")}`,
      "give two numbers, least and most",
    );
}

/**
 * How a number is written that may be anywhere in (low, high): within its range, and as a multiple
 * of its step where one is inside.
 */
export function recordedNumber(
  { step, range }: RecordedOptions,
  low = Number.NEGATIVE_INFINITY,
  high = Number.POSITIVE_INFINITY,
): (value: number) => number {
  const held = (v: number): number => (range ? Math.min(Math.max(v, range[0]), range[1]) : v);
  if (step === undefined) return held;
  return (value) => {
    const v = held(value);
    const near = nearestMultiple(v, step);
    return [near, near + step, near - step].find((k) => k > low && k < high) ?? v;
  };
}
