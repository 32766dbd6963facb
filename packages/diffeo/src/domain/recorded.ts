/**
 * Recorded numbers: multiples of a step, within an observed range. Both apply to decoded values;
 * every number of the domain can be encoded and has a density.
 */
import { fail } from "../graph/index.ts";

/** How the numbers of a column are recorded: their step and range. */
export interface RecordedOptions {
  /** Decoded values are multiples of this. Default: numbers with all their digits. */
  readonly step?: number;
  /** Decoded values are within these inclusive bounds. Default: anywhere in the domain. */
  readonly range?: readonly number[];
}

/** The multiple of a step that is closest to a value, without digits added by rounding. */
export function nearestMultiple(value: number, step: number): number {
  const nearest = Math.round(value / step);
  // 3 · 0.1 is 0.30000000000000004, 3/10 is 0.3.
  const inverse = Math.round(1 / step);
  const isInverse = Math.abs(inverse * step - 1) < 1e-12;
  // Replaces −0 by 0.
  return (isInverse ? nearest / inverse : Number((nearest * step).toPrecision(15))) + 0;
}

/** Throws if the step or the range is invalid. */
export function requireRecorded({ step, range }: RecordedOptions, what: string): void {
  if (step !== undefined && !(step > 0 && Number.isFinite(step)))
    fail("usage", `${what}: \`step\` is ${step}`, "give a number above 0");
  if (range && !(range.length === 2 && range.every(Number.isFinite) && range[0] <= range[1]))
    fail(
      "usage",
      `${what}: \`range\` is ${range.join(" to ")}`,
      "give two numbers, the least and the greatest",
    );
}

/**
 * Decodes a number in (low, high): within its range, and as a multiple of its step if one is
 * inside.
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
