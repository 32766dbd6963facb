/**
 * Steps that move a Gaussian q = N(m, Σ), Σ = LLᵀ, closer to a density p, given the gradients g_b =
 * ∇log p(x_b) at points x_b = m + L z_b of q:
 *
 * matching scores one by one (C. Modi et al., "Gaussian score matching", 2023): the Gaussian
 * nearest to q among those whose score at x
 *   is g, Σ̃g = m̃ − x; averaged over the points;
 *
 * batch and match (D. Cai et al., 2024): the least of the score's mean square, in the metric Σ, and
 * a divergence from q,
 *   Σ̃UΣ̃ + Σ̃ = V,   U = λΓ + λ/(1+λ) ḡḡᵀ,   V = Σ + λC + λ/(1+λ)(m − x̄)(m − x̄)ᵀ,   m̃ = (m + λ(Σ̃ḡ + x̄))/(1 + λ),
 *   C and Γ the covariances of points and slopes. As λ → ∞ one step is exact for a Gaussian p and more than n points;
 *
 * the evidence bound E_q log p − E_q log q along its natural gradient (M. Khan and W. Lin, 2017),
 * with E∇²log p = E[g zᵀ]L⁻¹
 *   by Stein's identity, and the step that stays positive (W. Lin, M. Schmidt, M. Khan, 2020),
 *   Σ̃⁻¹ = Σ⁻¹ + ρG + ½ρ²GΣG,   G = −E∇²log p − Σ⁻¹,   m̃ = m + ρΣ̃ḡ.
 *   With ρ = 1 and a Gaussian p it is Newton's way to a square root.
 */
import { cholesky, lowerSolve, lowerTimes, rightSvd } from "../host/index.ts";
import { type Key, normal } from "../random/index.ts";

export interface Gaussian {
  readonly mean: Float64Array;
  /** L, lower triangle, row by row. */
  readonly factor: Float64Array;
}

/** Points of q and the gradients of log p there, one array per point. */
export interface Slopes {
  readonly z: readonly Float64Array[];
  readonly x: readonly Float64Array[];
  readonly slope: readonly Float64Array[];
}

const averageRows = (rows: readonly Float64Array[]): Float64Array => {
  const total = new Float64Array(rows[0].length);
  for (const row of rows) for (let i = 0; i < total.length; i++) total[i] += row[i] / rows.length;
  return total;
};

const dot = (a: Float64Array, b: Float64Array): number =>
  a.reduce((total, v, i) => total + v * b[i], 0);
const minus = (a: Float64Array, b: Float64Array): Float64Array => a.map((v, i) => v - b[i]);

/** A += c u vᵀ */
function addOuter(into: Float64Array, c: number, u: Float64Array, v: Float64Array): void {
  const n = u.length;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) into[i * n + j] += c * u[i] * v[j];
}

/** A v */
export const timesVector = (a: Float64Array, v: Float64Array): Float64Array =>
  v.map((_, i) => dot(a.subarray(i * v.length, (i + 1) * v.length), v));

/** A Aᵀ, n × n, of a square A. */
function timesOwnTranspose(a: Float64Array, n: number): Float64Array {
  const row = (i: number): Float64Array => a.subarray(i * n, (i + 1) * n);
  return Float64Array.from({ length: n * n }, (_, at) => dot(row(Math.floor(at / n)), row(at % n)));
}

/** Lᵀ v */
const transposeTimes = (l: Float64Array, v: Float64Array): Float64Array => {
  const n = v.length;
  return v.map((_, j) => {
    let total = 0;
    for (let i = j; i < n; i++) total += l[i * n + j] * v[i];
    return total;
  });
};

export const covarianceOf = ({ mean, factor }: Gaussian): Float64Array =>
  timesOwnTranspose(factor, mean.length);

/** N(m, Σ); undefined if Σ is not numerically positive definite. */
function gaussianOf(mean: Float64Array, covariance: Float64Array): Gaussian | undefined {
  const n = mean.length;
  // Removes the difference that rounding leaves between the two triangles.
  const symmetric = covariance.map(
    (v, at) => (v + covariance[(at % n) * n + Math.floor(at / n)]) / 2,
  );
  const factor = cholesky(symmetric, n);
  return factor && mean.every(Number.isFinite) ? { mean, factor } : undefined;
}

/** m + L z */
export const pointFrom = ({ mean, factor }: Gaussian, z: Float64Array): Float64Array =>
  lowerTimes(factor, z).map((v, i) => v + mean[i]);

/**
 * Standard normal vectors in pairs ±z, transformed so that their covariance is the unit matrix to
 * rounding. Averages of linear and quadratic functions of z are then exact. Needs at least 2n
 * vectors.
 */
export function matchedNormals(key: Key, count: number, n: number): Float64Array[] {
  const half = Array.from({ length: count / 2 }, (_, b) => b);
  const { data } = normal(key, [count / 2, n], { dtype: "float64" });
  const raw = half.map((b) => data.subarray(b * n, (b + 1) * n));
  const square = new Float64Array(n * n);
  for (const z of raw) addOuter(square, 1 / raw.length, z, z);
  const l = cholesky(square, n) as Float64Array;
  return raw.flatMap((z) => {
    const turned = lowerSolve(l, z);
    return [turned, turned.map((v) => -v)];
  });
}

/** Matching scores one by one. ρ(1 + ρ) = gᵀΣg + ((m − x)ᵀg)², ρ > 0. */
export function matchEach(q: Gaussian, { x, slope }: Slopes): Gaussian | undefined {
  const { mean } = q;
  const covariance = covarianceOf(q);
  const next = covariance.slice();
  const moved: Float64Array[] = [];
  x.forEach((at, b) => {
    const g = slope[b];
    const away = minus(mean, at);
    const pull = timesVector(covariance, g);
    const along = dot(away, g);
    const rho = 0.5 * (Math.sqrt(1 + 4 * (dot(g, pull) + along ** 2)) - 1);
    const error = minus(pull, away);
    const share = dot(g, error) / (1 + rho + along);
    const mean1 = mean.map((m, i) => m + (error[i] - away[i] * share) / (1 + rho));
    const now = minus(mean1, at);
    addOuter(next, 1 / x.length, away, away);
    addOuter(next, -1 / x.length, now, now);
    moved.push(mean1);
  });
  return gaussianOf(averageRows(moved), next);
}

/**
 * Batch and match. With V = MMᵀ and U = QQᵀ, Σ̃ = 2M(1 + (1 + 4MᵀUM)^{½})⁻¹Mᵀ, from the singular
 * vectors of QᵀM.
 */
export function matchBatch(
  q: Gaussian,
  { x, slope }: Slopes,
  lambda: number,
): Gaussian | undefined {
  const n = q.mean.length;
  const [xMean, gMean] = [averageRows(x), averageRows(slope)];
  const share = lambda / (1 + lambda);
  const v = covarianceOf(q);
  for (const at of x) addOuter(v, lambda / x.length, minus(at, xMean), minus(at, xMean));
  addOuter(v, share, minus(q.mean, xMean), minus(q.mean, xMean));
  const m = cholesky(v, n);
  if (!m) return undefined;
  // Rows of QᵀM: √(λ/B)(g − ḡ)ᵀM and √(λ/(1 + λ)) ḡᵀM.
  const rows = [
    ...slope.map((g) =>
      transposeTimes(m, minus(g, gMean)).map((e) => e * Math.sqrt(lambda / x.length)),
    ),
    transposeTimes(m, gMean).map((e) => e * Math.sqrt(share)),
  ];
  const flat = Float64Array.from(
    { length: rows.length * n },
    (_, at) => rows[Math.floor(at / n)][at % n],
  );
  if (!flat.every(Number.isFinite)) return undefined;
  const { values, vectors } = rightSvd(flat, n);
  // M W √(2/(1 + √(1 + 4s²))): its square is Σ̃.
  const scale = values.map((s) => Math.sqrt(2 / (1 + Math.sqrt(1 + 4 * s * s))));
  const root = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      for (let k = 0; k <= i; k++) root[i * n + j] += m[i * n + k] * vectors[k * n + j] * scale[j];
  const covariance = timesOwnTranspose(root, n);
  const pulled = timesVector(covariance, gMean);
  const mean = q.mean.map((before, i) => (before + lambda * (pulled[i] + xMean[i])) / (1 + lambda));
  return gaussianOf(mean, covariance);
}

/**
 * One step along the natural gradient of the evidence bound. z of `slopes` have mean 0 and
 * covariance 1.
 */
export function climbEvidence(
  q: Gaussian,
  { z, slope }: Slopes,
  rate: number,
): Gaussian | undefined {
  const { mean, factor } = q;
  const n = mean.length;
  // In coordinates where Σ = 1: K = LᵀE[g zᵀ] is E∇²log p, and Σ̃⁻¹ is ½(1 + (1 + ρE)²), E = −K −
  // 1.
  const pulls = slope.map((g) => transposeTimes(factor, g));
  const k = new Float64Array(n * n);
  pulls.forEach((pull, b) => {
    addOuter(k, 0.5 / pulls.length, pull, z[b]);
    addOuter(k, 0.5 / pulls.length, z[b], pull);
  });
  const shifted = k.map((v, at) => -rate * v + (at % (n + 1) === 0 ? 1 - rate : 0));
  const precision = timesOwnTranspose(shifted, n).map(
    (v, at) => 0.5 * (v + (at % (n + 1) === 0 ? 1 : 0)),
  );
  const c = cholesky(precision, n);
  if (!c) return undefined;
  // Σ̃ = L(CCᵀ)⁻¹Lᵀ = RᵀR, rows of R = C⁻¹Lᵀ by columns.
  const columns = Array.from({ length: n }, (_, i) =>
    lowerSolve(c, factor.slice(i * n, (i + 1) * n)),
  );
  const covariance = Float64Array.from({ length: n * n }, (_, at) =>
    dot(columns[Math.floor(at / n)], columns[at % n]),
  );
  const step = timesVector(covariance, averageRows(slope));
  return gaussianOf(
    mean.map((m, i) => m + rate * step[i]),
    covariance,
  );
}
