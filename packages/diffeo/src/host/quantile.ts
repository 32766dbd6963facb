/**
 * Quantiles of a sample: at share p, the order statistic p(N − 1) counted from 0, linear between
 * neighbours.
 */

/** Quantiles of numbers for several shares; the numbers are sorted once. */
export function quantiles(values: ArrayLike<number>, shares: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  return shares.map((share) => {
    const at = share * (sorted.length - 1);
    const below = Math.floor(at);
    const above = Math.min(below + 1, sorted.length - 1);
    // Equal neighbours, which may be infinite, are returned directly.
    return sorted[below] === sorted[above]
      ? sorted[below]
      : sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  });
}

/**
 * A quantile of numbers, linear between order statistics.
 *
 * @param share from 0 to 1: 0.5 is the median
 */
export const quantile = (values: ArrayLike<number>, share: number): number =>
  quantiles(values, [share])[0];
