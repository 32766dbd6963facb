/**
 * Whether two sets of samples come from one distribution, by a classifier that learns to tell them
 * apart: the area under its ROC curve, P(score of a real one > score of a sample) + ½ P(equal), on
 * samples that it was not fitted to. 0.5 is a coin, 1 tells all apart.
 */
import { fail } from "../graph/index.ts";
import { fold, type Key, permutation } from "../random/index.ts";

/** The area under the curve from scores of both sets, by ranks. */
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

/** Numbers of rows of the first and of the second set. */
export type RowPair = readonly [first: Int32Array, second: Int32Array];

/**
 * Fits on one half of both sets and tries on the other, then the other way round; the mean of the
 * two areas.
 * @param counts how many samples there are, and how many real ones
 * @param fit takes the rows to learn from and gives the scores of others
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
