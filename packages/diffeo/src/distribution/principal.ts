/**
 * The principal axes of a symmetric positive-definite matrix, S = QΛQᵀ. They give the inverse, root
 * and determinant of m²S + σ²I = Q(m²Λ + σ²)Qᵀ for every m and σ without another decomposition.
 */
import { fail } from "../graph/index.ts";

export interface Principal {
  /** Λ, the variances along the axes. */
  readonly variances: readonly number[];
  /** Q, the axes as columns; absent if S is diagonal. */
  readonly axes?: readonly (readonly number[])[];
}

/** A covariance: one variance for all coordinates, one variance per coordinate, or a matrix. */
export type Covariance = number | readonly number[] | readonly (readonly number[])[];

export function principalAxes(covariance: Covariance, n: number, name: string): Principal {
  const bad = (problem: string): never =>
    fail(
      "usage",
      `${name}: the covariance ${problem}`,
      "give a positive number, n positive numbers, or a symmetric n×n matrix",
    );
  const rows = typeof covariance === "number" ? Array<number>(n).fill(covariance) : covariance;
  if (rows.length !== n) bad(`has ${rows.length} rows for a mean of ${n} numbers`);
  if (isVector(rows)) {
    if (rows.some((v) => !(v > 0 && Number.isFinite(v))))
      bad(`[${rows.join(", ")}] is not positive`);
    return { variances: rows };
  }
  const matrix = rows as readonly (readonly number[])[];
  if (matrix.some((row) => row.length !== n)) bad("is not square");
  const scale = Math.max(...matrix.flat().map(Math.abs));
  if (!Number.isFinite(scale)) bad("is not finite");
  if (matrix.some((row, i) => row.some((v, j) => Math.abs(v - matrix[j][i]) > 1e-9 * scale)))
    bad("is not symmetric");
  const { values, vectors } = jacobi(matrix);
  if (values.some((v) => !(v > 1e-14 * scale)))
    bad(`has the eigenvalue ${Number(Math.min(...values).toPrecision(6))}: not positive definite`);
  return { variances: values, axes: vectors };
}

const isVector = (rows: readonly unknown[]): rows is readonly number[] =>
  rows.every((r) => typeof r === "number");

/**
 * Eigenvalues and eigenvectors (columns) of a symmetric matrix by cyclic Jacobi rotations until the
 * matrix is diagonal.
 */
export function jacobi(symmetric: readonly (readonly number[])[]): {
  values: number[];
  vectors: number[][];
} {
  const n = symmetric.length;
  const a = symmetric.map((row) => [...row]);
  const q = a.map((_, i) => a.map((_, j): number => (i === j ? 1 : 0)));
  const size = Math.hypot(...a.flat());
  const off = (): number => Math.hypot(...a.flatMap((row, i) => row.filter((_, j) => j !== i)));
  for (let sweep = 0; sweep < 60 && off() > 1e-15 * size; sweep++)
    for (let p = 0; p < n; p++)
      for (let r = p + 1; r < n; r++) {
        if (a[p][r] === 0) continue;
        // The tangent of the angle that makes a_pr zero, the smaller root of t² + 2θt − 1 = 0.
        const theta = (a[r][r] - a[p][p]) / (2 * a[p][r]);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let k = 0; k < n; k++)
          [a[k][p], a[k][r]] = [c * a[k][p] - s * a[k][r], s * a[k][p] + c * a[k][r]];
        for (let k = 0; k < n; k++)
          [a[p][k], a[r][k]] = [c * a[p][k] - s * a[r][k], s * a[p][k] + c * a[r][k]];
        for (let k = 0; k < n; k++)
          [q[k][p], q[k][r]] = [c * q[k][p] - s * q[k][r], s * q[k][p] + c * q[k][r]];
      }
  return { values: a.map((row, i) => row[i]), vectors: q };
}
