/**
 * Points of about mean 0 and covariance I, from those of any table of numbers z:
 *
 *   z = mean + x M,   M = R^½ D        D the columns' standard deviations, R their correlations
 *
 * The symmetric root turns points as little as can be (A. Kessy, A. Lewin and K. Strimmer, 2018:
 * ZCA-cor), so that what lay along an axis still does. Correlations r of few rows are drawn towards
 * 0 by what they owe to chance,
 *
 *   R = (1 − γ) r + γ I,   γ = Σ_{i≠j} Var(r_ij) / Σ_{i≠j} r_ij²        at most 1
 *
 * (J. Schäfer and K. Strimmer, 2005), since of as many columns as rows some combination seems to
 * have no spread at all, and rows that were not counted would lie far out along it. Eigenvalues of
 * R count for no less than 10⁻⁴: columns that nearly depend on each other are not blown up to
 * noise, and M has an inverse.
 */
import { affineMatrix, type Bijector } from "diffeo/bijector";
import { fail } from "diffeo/graph";
import { finish, rightSvdSteps, type Steps } from "diffeo/host";

export interface Standard {
  readonly mean: readonly number[];
  /** M, n×n row-major. */
  readonly matrix: readonly number[];
}

const LEAST = 1e-4;

/**
 * Mean and covariance of rows of n numbers, the latter row-major. NaN is a missing value; a pair
 * counts where both of its values are there.
 */
function* moments(
  z: Float64Array,
  n: number,
): Steps<{ readonly mean: Float64Array; readonly covariance: Float64Array }> {
  const rows = z.length / n;
  const seen = new Float64Array(n);
  for (let i = 0; i < z.length; i++) if (!Number.isNaN(z[i])) seen[i % n]++;
  const mean = new Float64Array(n);
  for (let i = 0; i < z.length; i++) if (!Number.isNaN(z[i])) mean[i % n] += z[i] / seen[i % n];
  const covariance = new Float64Array(n * n);
  const pairs = new Float64Array(n * n);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < n; i++) {
      const a = z[row * n + i] - mean[i];
      if (Number.isNaN(a)) continue;
      for (let j = i; j < n; j++) {
        const b = z[row * n + j] - mean[j];
        if (Number.isNaN(b)) continue;
        covariance[i * n + j] += a * b;
        pairs[i * n + j]++;
      }
    }
    yield;
  }
  for (let i = 0; i < n; i++)
    for (let j = i; j < n; j++)
      covariance[j * n + i] = covariance[i * n + j] /= Math.max(1, pairs[i * n + j]);
  return { mean, covariance };
}

/**
 * γ of rows z of n numbers, NaN for those that are missing, of whose correlations only some are
 * requested.
 */
function* chanceOf(
  z: Float64Array,
  mean: Float64Array,
  deviation: readonly number[],
  correlation: Float64Array,
  asked: readonly (readonly [i: number, j: number])[],
): Steps<number> {
  const n = mean.length;
  const [counts, squares] = [new Float64Array(asked.length), new Float64Array(asked.length)];
  const u = new Float64Array(n);
  for (let at = 0; at < z.length; at += n) {
    for (let i = 0; i < n; i++) u[i] = (z[at + i] - mean[i]) / deviation[i];
    for (let k = 0; k < asked.length; k++) {
      const [i, j] = asked[k];
      const product = u[i] * u[j];
      if (Number.isNaN(product)) continue;
      counts[k]++;
      squares[k] += (product - correlation[i * n + j]) ** 2;
    }
    yield;
  }
  let [variance, size] = [0, 0];
  for (const [k, [i, j]] of asked.entries()) {
    if (counts[k] > 1) variance += (counts[k] * squares[k]) / (counts[k] - 1) ** 3;
    size += correlation[i * n + j] ** 2;
  }
  return size > 0 ? Math.min(1, variance / size) : 0;
}

/** Whether all values of a column that are there are one number. */
function isOneValue(z: Float64Array, n: number, i: number): boolean {
  const column = z.filter((v, at) => at % n === i && !Number.isNaN(v));
  return column.every((v) => v === column[0]);
}

/**
 * Says why a column has no standard deviation. Numbers have 16 digits, and their squares a range.
 */
function failFlat(name: string, deviation: number, isOne: boolean): never {
  if (!Number.isFinite(deviation))
    fail("data", `${name} has values too large to square`, "give it another unit");
  if (isOne)
    fail(
      "data",
      `${name} has one value in all rows, to 16 digits`,
      "leave it out, or subtract a constant from numbers with more digits",
    );
  return fail(
    "data",
    `${name} varies by less than numbers of 16 digits can show`,
    "subtract a constant, give it another unit, or leave it out",
  );
}

/** M = R^½ D of the eigenvalues and eigenvectors of R, row-major. */
function* rootOf(
  { values, vectors }: { readonly values: Float64Array; readonly vectors: Float64Array },
  deviation: readonly number[],
): Steps<number[]> {
  const n = deviation.length;
  const roots = Array.from(values, (l) => Math.sqrt(Math.max(l, LEAST)));
  const matrix: number[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++)
      matrix.push(
        deviation[j] *
          roots.reduce((s, r, k) => s + vectors[i * n + k] * r * vectors[j * n + k], 0),
      );
    yield;
  }
  return matrix;
}

/** {@link standardOf} in steps, for tables whose columns are so many that a person may not wait. */
export function* standardSteps(
  z: Float64Array,
  n: number,
  nameOf: (i: number) => string,
  apart: readonly (readonly [from: number, to: number])[] = [],
): Steps<Standard> {
  const { mean, covariance } = yield* moments(z, n);
  const groupOf = (i: number): number => apart.findIndex(([from, to]) => i >= from && i < to);
  const together = (i: number, j: number): boolean => groupOf(i) === groupOf(j);
  const deviation = Array.from(mean, (m, i) => {
    const found = Math.sqrt(covariance[i * (n + 1)]);
    // What rounding leaves of a column of one number is not a spread.
    if (!(found > 1e-12 * Math.abs(m) && Number.isFinite(found)))
      failFlat(nameOf(i), found, isOneValue(z, n, i));
    return found;
  });
  const correlation = covariance.map((v, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    return together(i, j) ? v / (deviation[i] * deviation[j]) : 0;
  });
  const below = deviation.flatMap((_, i) => Array.from({ length: i }, (_, j) => [i, j] as const));
  const asked = below.filter(([i, j]) => together(i, j));
  const gamma = yield* chanceOf(z, mean, deviation, correlation, asked);
  const eigen = yield* rightSvdSteps(
    correlation.map((r, at) => (at % (n + 1) === 0 ? r : (1 - gamma) * r)),
    n,
  );
  return { mean: Array.from(mean), matrix: yield* rootOf(eigen, deviation) };
}

/**
 * The standard of rows of n numbers, NaN where a value is missing.
 *
 * @param nameOf what errors call a coordinate
 * @param apart ranges of coordinates that are whitened among themselves alone
 */
export const standardOf = (
  z: Float64Array,
  n: number,
  nameOf: (i: number) => string,
  apart: readonly (readonly [from: number, to: number])[] = [],
): Standard => finish(standardSteps(z, n, nameOf, apart));

/** x ↦ z. */
export function standardMap({ mean, matrix }: Standard): Bijector {
  const n = mean.length;
  return affineMatrix(
    mean.map((_, j) => mean.map((_, i) => matrix[i * n + j])),
    [...mean],
  );
}
