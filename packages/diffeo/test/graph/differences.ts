/**
 * Derivatives by differences, as accurate as float64 allows.
 *   D(h) = (f(x + hv) − f(x − hv)) / 2h = f′v + c₂h² + c₄h⁴ + …
 * Richardson's extrapolation over h, h/2, h/4, h/8 removes c₂, c₄ and c₆: the remaining error is
 * O(h⁸) plus rounding of about 1e-13·|f|/h. A wrong derivative rule differs by far more.
 */
const LEVELS = 4;

export interface Difference {
  readonly derivative: Float64Array;
  /** Largest |f| seen in each entry: rounding of the differences is relative to it. */
  readonly size: Float64Array;
}

/** Combines central differences at h, h/2, h/4, … into their limit at 0. */
export function extrapolate(differences: readonly number[]): number {
  let row = [...differences];
  for (let k = 1; row.length > 1; k++)
    row = row.slice(1).map((d, i) => d + (d - row[i]) / (4 ** k - 1));
  return row[0];
}

export const steps = (first: number): number[] =>
  Array.from({ length: LEVELS }, (_, k) => first / 2 ** k);

/** d/dt f(t) at 0 of a function to several arrays. */
export function differentiate(
  f: (t: number) => readonly Float64Array[],
  step = 0.02,
): Difference[] {
  const pairs = steps(step).map((h) => ({ h, above: f(h), below: f(-h) }));
  return pairs[0].above.map((first, k) => ({
    derivative: first.map((_, j) =>
      extrapolate(pairs.map((p) => (p.above[k][j] - p.below[k][j]) / (2 * p.h))),
    ),
    size: first.map((_, j) =>
      Math.max(...pairs.map((p) => Math.max(Math.abs(p.above[k][j]), Math.abs(p.below[k][j])))),
    ),
  }));
}

export const largest = (x: ArrayLike<number>): number =>
  Array.from(x).reduce((m, v) => (Number.isNaN(v) ? v : Math.max(m, Math.abs(v))), 0);

export const inner = (a: Float64Array, b: Float64Array): number =>
  a.reduce((s, v, i) => s + v * b[i], 0);
