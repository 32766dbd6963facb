/**
 * A two-sample test by a classifier that is trained to distinguish the sets: the area under its ROC
 * curve, P(score of a real one > score of a sample) + ½ P(equal), on samples it was not fitted to.
 * 0.5 is chance, 1 is perfect separation.
 */
import { fail } from "../graph/index.ts";
import { fold, type Key, permutation } from "../random/index.ts";

/** The area under the ROC curve, from the scores of both sets by ranks. */
export function areaUnderCurve(first: ArrayLike<number>, second: ArrayLike<number>): number {
  const a = Float64Array.from(first).sort();
  const b = Float64Array.from(second).sort();
  let area = 0;
  let below = 0;
  let upTo = 0;
  for (const score of b) {
    while (below < a.length && a[below] < score) below++;
    while (upTo < a.length && a[upTo] <= score) upTo++;
    area += (below + upTo) / 2;
  }
  return area / (a.length * b.length);
}

/** Indices of rows of the first and of the second set. */
export type RowPair = readonly [first: Int32Array, second: Int32Array];

/**
 * Two-fold cross-fitting: fits on one half of both sets and evaluates on the other, and vice versa.
 * Returns the mean of the two areas under the ROC curve.
 * @param counts the numbers of samples and of real ones
 * @param fit fits to rows and returns the scores of other rows
 */
export function crossFittedAuc(
  counts: readonly [number, number],
  key: Key,
  fit: (rows: RowPair) => (others: RowPair) => readonly [ArrayLike<number>, ArrayLike<number>],
): number {
  if (Math.min(...counts) < 4)
    fail(
      "usage",
      `two-sample test: ${counts[0]} and ${counts[1]} samples are too few`,
      "give at least 4 of each",
    );
  const halves = counts.map((count, set) => {
    const order = permutation(fold(key, ["samples", "real"][set]), count).data;
    return [order.subarray(0, count >> 1), order.subarray(count >> 1)];
  });
  const half = (which: 0 | 1): RowPair => [halves[0][which], halves[1][which]];
  const area = (which: 0 | 1): number =>
    areaUnderCurve(...fit(half(which))(half(which === 0 ? 1 : 0)));
  return (area(0) + area(1)) / 2;
}
