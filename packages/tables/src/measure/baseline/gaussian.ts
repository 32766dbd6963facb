/**
 * A Gaussian law of vectors, by mean and the Cholesky factor of its covariance:
 *
 *   log N(z) = −½‖L⁻¹(z − μ)‖² − log|L| − (n/2) log 2π        Σ = LLᵀ = D((1 − γ)R + γI)D,   γ = (n + 1)/(N + n + 1)
 *
 * R the correlations of N rows. What γ takes from them is less than they are known to; where rows
 * are few it gives Σ an inverse.
 */
import { fail } from "diffeo/graph";
import { cholesky, lowerSolve, lowerTimes } from "diffeo/host";

export interface Gaussian {
  readonly mean: Float64Array;
  /** L, n×n row-major, lower. */
  readonly factor: Float64Array;
}

export function gaussianOf(rows: Float64Array, n: number, nameOf: (i: number) => string): Gaussian {
  const count = rows.length / n;
  const mean = new Float64Array(n);
  for (let i = 0; i < rows.length; i++) mean[i % n] += rows[i] / count;
  const covariance = new Float64Array(n * n);
  for (let row = 0; row < count; row++)
    for (let i = 0; i < n; i++) {
      const a = (rows[row * n + i] - mean[i]) / count;
      for (let j = 0; j <= i; j++) covariance[i * n + j] += a * (rows[row * n + j] - mean[j]);
    }
  const least = mean.map((m, i) => covariance[i * (n + 1)] - (1e-12 * m) ** 2);
  const flat = least.findIndex((v) => !(v > 0));
  if (flat >= 0) fail("data", `${nameOf(flat)} has one value in all rows`, "leave it out");
  const kept = 1 - (n + 1) / (count + n + 1);
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) covariance[i * n + j] *= kept;
  return { mean, factor: factorOf(covariance, n) };
}

/** L of LLᵀ = A, from the lower triangle of A. */
export const factorOf = (a: Float64Array, n: number): Float64Array =>
  cholesky(a, n) ?? fail("numerical", "columns depend on each other", "leave one of them out");

/** log|L| */
export function logDiagonal(l: Float64Array, n: number): number {
  let total = 0;
  for (let i = 0; i < n; i++) total += Math.log(l[i * (n + 1)]);
  return total;
}

/** Lv for each row v. */
export function timesLower(l: Float64Array, rows: Float64Array, n: number): Float64Array {
  const out = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at += n) out.set(lowerTimes(l, rows.subarray(at, at + n)), at);
  return out;
}

/** log N of each row. */
export function gaussianLogDensity({ mean, factor }: Gaussian, rows: Float64Array): Float64Array {
  const n = mean.length;
  const constant = logDiagonal(factor, n) + (n / 2) * Math.log(2 * Math.PI);
  return Float64Array.from({ length: rows.length / n }, (_, row) => {
    const solved = lowerSolve(
      factor,
      mean.map((m, i) => rows[row * n + i] - m),
    );
    return -solved.reduce((s, v) => s + v * v, 0) / 2 - constant;
  });
}
