/**
 * A V = U Σ by one-sided Jacobi rotations (M. Hestenes, 1958): columns are rotated in pairs until
 * all are orthogonal; their lengths are then the singular values.
 *
 * AᵀA would square the condition number, and columns of a table differ by a factor of 10⁷ in scale.
 * Rotations of the columns find small singular values with as many digits as large ones.
 */
import { fail } from "../graph/index.ts";
import { finish, type Steps } from "./steps.ts";

/** Singular values and right singular vectors of a matrix. */
export interface Svd {
  /** σ, descending. */
  readonly values: Float64Array;
  /** V, n×n row-major: column j belongs to σ_j. */
  readonly vectors: Float64Array;
}

const SWEEPS = 60;

/** p·q. */
function dot(p: Float64Array, q: Float64Array): number {
  let total = 0;
  for (let i = 0; i < p.length; i++) total += p[i] * q[i];
  return total;
}

/** Rotates p and q by the angle of cosine c and sine s. */
function rotate(p: Float64Array, q: Float64Array, c: number, s: number): void {
  for (let i = 0; i < p.length; i++) {
    const [x, y] = [p[i], q[i]];
    p[i] = c * x - s * y;
    q[i] = s * x + c * y;
  }
}

/**
 * One sweep over all pairs of the columns a, and of v with them. Returns whether any was rotated.
 */
function* sweepSteps(a: readonly Float64Array[], v: readonly Float64Array[]): Steps<boolean> {
  const n = a.length;
  let rotated = false;
  const squares = a.map((column) => dot(column, column));
  const largest = Math.max(...squares);
  for (let j = 0; j < n; j++) {
    for (let k = j + 1; k < n; k++) {
      const [pp, qq, pq] = [squares[j], squares[k], dot(a[j], a[k])];
      // Orthogonal to rounding, or one of them is negligible compared with the largest.
      if (Math.abs(pq) <= 1e-15 * Math.sqrt(pp * qq) || Math.min(pp, qq) <= 1e-30 * largest)
        continue;
      rotated = true;
      // tan θ of the rotation that makes them orthogonal, the smaller root of t² + 2ζt − 1 = 0.
      const zeta = (qq - pp) / (2 * pq);
      const t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
      const c = 1 / Math.hypot(1, t);
      rotate(a[j], a[k], c, c * t);
      rotate(v[j], v[k], c, c * t);
      squares[j] = pp - t * pq;
      squares[k] = qq + t * pq;
    }
    yield;
  }
  return rotated;
}

/** {@link rightSvd} in steps: about 10 sweeps of n steps, each of O(n · rows) operations. */
export function* rightSvdSteps(matrix: Float64Array, n: number): Steps<Svd> {
  const rows = matrix.length / n;
  // Columns lie together: every rotation then runs through memory in order.
  const a = Array.from({ length: n }, (_, j) =>
    Float64Array.from({ length: rows }, (_, i) => matrix[i * n + j]),
  );
  const v = Array.from({ length: n }, (_, j) =>
    Float64Array.from({ length: n }, (_, i) => (i === j ? 1 : 0)),
  );
  for (let sweep = 0; yield* sweepSteps(a, v); sweep++)
    if (sweep === SWEEPS - 1)
      fail(
        "numerical",
        `the singular values did not converge in ${SWEEPS} sweeps`,
        "check the table for infinities",
      );
  const lengths = a.map((column) => Math.sqrt(dot(column, column)));
  const order = [...lengths.keys()].sort((i, j) => lengths[j] - lengths[i]);
  const vectors = new Float64Array(n * n);
  order.forEach((from, j) => {
    for (let i = 0; i < n; i++) vectors[i * n + j] = v[from][i];
  });
  return { values: Float64Array.from(order, (i) => lengths[i]), vectors };
}

/**
 * Singular values and right singular vectors of a rows×n matrix, row-major. Of a symmetric matrix ≥
 * 0: its eigenvectors.
 */
export const rightSvd = (matrix: Float64Array, n: number): Svd => finish(rightSvdSteps(matrix, n));
