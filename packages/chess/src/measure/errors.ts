/**
 * Standard errors of measures of n boards:
 *
 *   a share p     √(p̃(1 − p̃)/n), p̃ = (np + 1)/(n + 2), which is not 0 for none of 200
 *   a mean        sd/√n
 *   an sd         √((m₄ − m₂²)/(4 m₂ n)), from the second and fourth central moments
 *   an AUC A of n positives and m negatives (Hanley and McNeil, 1982)
 *                 √((A(1 − A) + (n − 1)(A/(2 − A) − A²) + (m − 1)(2A²/(1 + A) − A²))/(nm))
 */
export function shareError(p: number, n: number): number {
  const kept = (n * p + 1) / (n + 2);
  return Math.sqrt((kept * (1 - kept)) / n);
}

export const meanError = (sd: number, n: number): number => sd / Math.sqrt(n);

/** The standard error of a standard deviation; 0 if all values are equal. */
export function sdError(values: ArrayLike<number>): number {
  const n = values.length;
  let mean = 0;
  for (let i = 0; i < n; i++) mean += values[i] / n;
  let [m2, m4] = [0, 0];
  for (let i = 0; i < n; i++) {
    const square = (values[i] - mean) ** 2;
    m2 += square / n;
    m4 += square ** 2 / n;
  }
  return m2 === 0 ? 0 : Math.sqrt(Math.max(0, m4 - m2 ** 2) / (4 * m2 * n));
}

export const aucError = (a: number, n: number, m: number): number =>
  Math.sqrt(
    (a * (1 - a) + (n - 1) * (a / (2 - a) - a * a) + (m - 1) * ((2 * a * a) / (1 + a) - a * a)) /
      (n * m),
  );
