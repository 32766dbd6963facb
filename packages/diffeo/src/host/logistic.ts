/**
 * Logistic regression with a Gaussian prior on its weights:
 *
 *   P(second | f) = 1/(1 + e^{−θ·f})        θ = argmin ½ρ‖θ‖² − log likelihood
 *
 * by Newton's method, (FᵀWF + ρI) δ = Fᵀ(y − p) − ρθ, W = p(1 − p), with steps halved until the
 * loss decreases. The prior keeps θ finite if the two sets can be separated. An intercept is a
 * feature that is always 1.
 */

/**
 * Sparse rows of features, each with the same number of nonzero features. A product costs the
 * square of this number per row.
 */
export interface FeatureRows {
  /** The number of features. */
  readonly size: number;
  /** The number of listed features per row. */
  readonly active: number;
  /** Their indices, `active` per row, ascending in a row. */
  readonly indices: Int32Array;
  /** Their values. Default: all 1. */
  readonly values?: Float64Array;
}

/** θ·f for every row. */
export function linearScores(
  { active, indices, values }: FeatureRows,
  theta: Float64Array,
): Float64Array {
  const out = new Float64Array(indices.length / active);
  for (let i = 0; i < out.length; i++)
    for (let j = i * active; j < (i + 1) * active; j++)
      out[i] += theta[indices[j]] * (values ? values[j] : 1);
  return out;
}

function loss(first: FeatureRows, second: FeatureRows, theta: Float64Array, prior: number): number {
  const softplus = (z: number): number => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
  let sum = 0;
  for (const t of theta) sum += (prior * t * t) / 2;
  for (const z of linearScores(first, theta)) sum += softplus(z);
  for (const z of linearScores(second, theta)) sum += softplus(-z);
  return sum;
}

/**
 * Adds the contributions of rows with one label to the gradient and the upper triangle of the
 * Hessian.
 */
function gather(
  rows: FeatureRows,
  label: 0 | 1,
  theta: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array,
) {
  const { size, active, indices, values } = rows;
  const s = linearScores(rows, theta);
  for (let row = 0; row < s.length; row++) {
    const p = 1 / (1 + Math.exp(-s[row]));
    const w = p * (1 - p);
    const end = (row + 1) * active;
    for (let j = row * active; j < end; j++) {
      const f = indices[j];
      const v = values ? values[j] : 1;
      gradient[f] += (label - p) * v;
      const wv = w * v;
      for (let k = j; k < end; k++) hessian[f * size + indices[k]] += values ? wv * values[k] : wv;
    }
  }
}

/** Fits θ, which separates the second set from the first. */
export function logisticRegression(
  first: FeatureRows,
  second: FeatureRows,
  prior = 1,
): Float64Array {
  const { size } = first;
  let theta = new Float64Array(size);
  let least = loss(first, second, theta, prior);
  for (let step = 0; step < 30; step++) {
    const hessian = new Float64Array(size * size);
    const gradient = theta.map((t) => -prior * t);
    for (let i = 0; i < size; i++) hessian[i * size + i] = prior;
    gather(first, 0, theta, gradient, hessian);
    gather(second, 1, theta, gradient, hessian);
    const change = solveUpper(hessian, gradient, size);
    let length = 1;
    let next = theta.map((t, i) => t + change[i]);
    let found = loss(first, second, next, prior);
    while (found > least && length > 1e-6) {
      length /= 2;
      next = theta.map((t, i) => t + length * change[i]);
      found = loss(first, second, next, prior);
    }
    const fallen = least - found;
    if (!(fallen > 1e-6 * least)) break;
    least = found;
    theta = next;
  }
  return theta;
}

/**
 * Solves A x = b for a positive definite A of which the upper triangle is given, by Cholesky: A =
 * UᵀU. Overwrites A.
 */
function solveUpper(a: Float64Array, b: Float64Array, n: number): Float64Array {
  for (let i = 0; i < n; i++) {
    const pivot = Math.sqrt(a[i * n + i]);
    for (let j = i; j < n; j++) a[i * n + j] /= pivot;
    for (let r = i + 1; r < n; r++) {
      const factor = a[i * n + r];
      if (factor !== 0) for (let c = r; c < n; c++) a[r * n + c] -= factor * a[i * n + c];
    }
  }
  const x = b.slice();
  for (let i = 0; i < n; i++) {
    x[i] /= a[i * n + i];
    for (let j = i + 1; j < n; j++) x[j] -= a[i * n + j] * x[i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return x;
}
