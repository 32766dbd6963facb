/** sup |F − G| of two samples on the line (A. Kolmogorov and N. Smirnov). */

/**
 * The Kolmogorov–Smirnov statistic of two samples: the largest difference of their empirical
 * distribution functions. Values that occur in both samples count once for both.
 *
 * @example
 * kolmogorovSmirnov([1, 2], [3, 4]); // 1
 */
export function kolmogorovSmirnov(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const [x, y] = [Float64Array.from(a).sort(), Float64Array.from(b).sort()];
  let [i, j, most] = [0, 0, 0];
  while (i < x.length && j < y.length) {
    const at = Math.min(x[i], y[j]);
    while (i < x.length && x[i] <= at) i++;
    while (j < y.length && y[j] <= at) j++;
    most = Math.max(most, Math.abs(i / x.length - j / y.length));
  }
  return most;
}
