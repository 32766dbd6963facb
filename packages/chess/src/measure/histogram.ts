/**
 * Histograms of counts, as shares, and the distances between two of them:
 *
 *   TV(p, q) = ½ Σ |pᵢ − qᵢ|
 *   W₁(p, q) = Σᵢ |P(i) − Q(i)|,  P and Q the cumulative sums (Vallender 1974)
 */
import { mean, sumOfSquares } from "diffeo/host";

export { quantiles } from "diffeo/host";

/**
 * The shares of values, for every `stride`-th number from `offset` on; the last bin counts values
 * of `size` − 1 and more.
 */
export function histogram(
  values: ArrayLike<number>,
  size: number,
  offset = 0,
  stride = 1,
): Float64Array {
  const bins = new Float64Array(size);
  let count = 0;
  for (let i = offset; i < values.length; i += stride, count++)
    bins[Math.min(values[i], size - 1)]++;
  return bins.map((n) => n / count);
}

/** The total variation distance of two distributions on the same bins, ½ Σ │pᵢ − qᵢ│. */
export function totalVariation(p: ArrayLike<number>, q: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < p.length; i++) sum += Math.abs(p[i] - q[i]);
  return sum / 2;
}

/**
 * The 1-Wasserstein distance of two distributions on the integers 0, 1, …: the sum of differences
 * of their distribution functions.
 */
export function wasserstein(p: ArrayLike<number>, q: ArrayLike<number>): number {
  let sum = 0;
  let gap = 0;
  for (let i = 0; i < p.length; i++) {
    gap += p[i] - q[i];
    sum += Math.abs(gap);
  }
  return sum;
}

/** The mean and the standard deviation of numbers, with divisor n. */
export function meanAndSd(values: ArrayLike<number>): {
  readonly mean: number;
  readonly sd: number;
} {
  const centre = mean(values);
  return { mean: centre, sd: Math.sqrt(sumOfSquares(values, centre) / values.length) };
}
