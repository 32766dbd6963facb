/**
 * A Gaussian distribution of vectors, by its mean and the Cholesky factor of its covariance:
 *
 *   log N(z) = −½‖L⁻¹(z − μ)‖² − log|L| − (n/2) log 2π        Σ = LLᵀ = D((1 − γ)R + γI)D,   γ = (n + 1)/(N + n + 1)
 *
 * R the correlations of N rows. The shrinkage γ is smaller than the error of the correlations; if
 * there are few rows, it makes Σ invertible. NaN is a missing number: means and covariances use the
 * rows and pairs that are present, and a row has the density of its present coordinates.
 */
import { fail } from "diffeo/graph";
import { cholesky, lowerSolve, lowerTimes } from "diffeo/host";

export interface Gaussian {
  readonly mean: Float64Array;
  /** L, n×n row-major, lower. */
  readonly factor: Float64Array;
}

/** Mean and covariance of present numbers, as the lower triangle. */
function momentsOf(rows: Float64Array, n: number) {
  const count = rows.length / n;
  const [mean, seen] = [new Float64Array(n), new Float64Array(n)];
  for (let i = 0; i < rows.length; i++)
    if (!Number.isNaN(rows[i])) {
      mean[i % n] += rows[i];
      seen[i % n]++;
    }
  for (let i = 0; i < n; i++) mean[i] /= Math.max(1, seen[i]);
  const [covariance, pairs] = [new Float64Array(n * n), new Float64Array(n * n)];
  for (let row = 0; row < count; row++)
    for (let i = 0; i < n; i++) {
      const a = rows[row * n + i] - mean[i];
      if (Number.isNaN(a)) continue;
      for (let j = 0; j <= i; j++) {
        const product = a * (rows[row * n + j] - mean[j]);
        if (Number.isNaN(product)) continue;
        covariance[i * n + j] += product;
        pairs[i * n + j]++;
      }
    }
  return { mean, covariance: covariance.map((v, at) => v / Math.max(1, pairs[at])) };
}

export function gaussianOf(rows: Float64Array, n: number, nameOf: (i: number) => string): Gaussian {
  const count = rows.length / n;
  const { mean, covariance } = momentsOf(rows, n);
  const least = mean.map((m, i) => covariance[i * (n + 1)] - (1e-12 * m) ** 2);
  const flat = least.findIndex((v) => !(v > 0));
  if (flat >= 0)
    fail("data", `${nameOf(flat)} varies by no more than rounding errors`, "leave it out");
  const kept = 1 - (n + 1) / (count + n + 1);
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) covariance[i * n + j] *= kept;
  return {
    mean,
    factor: rows.some(Number.isNaN) ? nearFactor(covariance, n) : factorOf(covariance, n),
  };
}

/**
 * L of a covariance from pairs, which need not be positive: correlations are shrunk until it is.
 */
function nearFactor(covariance: Float64Array, n: number): Float64Array {
  const own = covariance.slice();
  for (let round = 0; round < 200; round++) {
    const l = cholesky(own, n);
    if (l) return l;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) own[i * n + j] *= 0.95;
  }
  return factorOf(own, n);
}

/** L of LLᵀ = A, from the lower triangle of A. */
export const factorOf = (a: Float64Array, n: number): Float64Array =>
  cholesky(a, n) ?? fail("numerical", "columns are linearly dependent", "leave one of them out");

/** The factor for the present coordinates of each row. */
export function factorsOf(factor: Float64Array, n: number) {
  const known = new Map<
    string,
    { readonly places: readonly number[]; readonly factor: Float64Array }
  >();
  let covariance: Float64Array | undefined;
  const whole = { places: Array.from({ length: n }, (_, i) => i), factor };
  return (row: Float64Array) => {
    if (!row.some(Number.isNaN)) return whole;
    const places = whole.places.filter((i) => !Number.isNaN(row[i]));
    const name = places.join();
    const before = known.get(name);
    if (before) return before;
    covariance ??= productOf(factor, n);
    const all = covariance;
    const own = Float64Array.from(
      places.flatMap((i) => places.map((j) => all[Math.max(i, j) * n + Math.min(i, j)])),
    );
    const found = { places, factor: factorOf(own, places.length) };
    known.set(name, found);
    return found;
  };
}

/** LLᵀ, the lower triangle. */
function productOf(l: Float64Array, n: number): Float64Array {
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++)
      for (let k = 0; k <= j; k++) out[i * n + j] += l[i * n + k] * l[j * n + k];
  return out;
}

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

/** log N of the present coordinates of each row. */
export function gaussianLogDensity({ mean, factor }: Gaussian, rows: Float64Array): Float64Array {
  const n = mean.length;
  const factors = factorsOf(factor, n);
  return Float64Array.from({ length: rows.length / n }, (_, at) => {
    const row = rows.subarray(at * n, (at + 1) * n);
    const { places, factor: own } = factors(row);
    const o = places.length;
    const solved = lowerSolve(
      own,
      Float64Array.from(places, (i) => row[i] - mean[i]),
    );
    const constant = logDiagonal(own, o) + (o / 2) * Math.log(2 * Math.PI);
    return -solved.reduce((s, v) => s + v * v, 0) / 2 - constant;
  });
}
