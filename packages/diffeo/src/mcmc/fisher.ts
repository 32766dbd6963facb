/**
 * A low-rank metric from draws x_i and slopes g_i = ∇log p(x_i) (A. Seyboldt, E. Carlson, B.
 * Carpenter, 2026): the M⁻¹ for which the distribution N(x̄, M⁻¹) has the least Fisher divergence
 *
 *   Σ_i ‖g_i − ḡ + M(x_i − x̄)‖² in the metric M⁻¹,     attained at   M⁻¹ Cov[g] M⁻¹ = Cov[x].
 *
 * Among diagonal matrices the minimum is D_j = sd[x_j]/sd[g_j]. Then, in the scale of D, the matrix
 * Σ = G^−½ (G^½ X G^½)^½ G^−½, the geometric mean of X and G⁻¹, is computed with X = Cov[D^−½x] and
 * G = Cov[D^½g]; a small multiple of I is added to both, which regularises them when there are few
 * points. The eigenvalues of Σ far from 1 are kept. For a Gaussian target G = X⁻¹ holds as soon as
 * there are as many points as coordinates, so D and Σ are exact, while a covariance still has its
 * sampling error.
 */
import { rightSvd, type Svd } from "../host/index.ts";
import { mostRank, packLowRank } from "./metric.ts";

/** Draws and the gradients of log p there, [count, n] each. */
export interface PointsState {
  readonly points: Float64Array;
  readonly slopes: Float64Array;
}

/** An eigenvalue is kept if it or its inverse exceeds this. */
const CUTOFF = 1.5;
/** The variance, for one additional point, that is added to both covariances. */
const RIDGE = 1e-5;
/** Above this number of coordinates the eigenvectors are computed in the span of a few points. */
const WHOLE = 96;
/** The number of points of that span. */
const SPAN = 40;

/** The columns of the rows, centred and scaled, with their standard deviations. */
function centred(rows: Float64Array, n: number): { columns: Float64Array[]; sd: Float64Array } {
  const count = rows.length / n;
  const sd = new Float64Array(n);
  const columns = Array.from({ length: n }, (_, j) => {
    const column = Float64Array.from({ length: count }, (_, i) => rows[i * n + j]);
    const mean = column.reduce((a, b) => a + b, 0) / count;
    let squares = 0;
    for (let i = 0; i < count; i++) {
      column[i] -= mean;
      squares += column[i] ** 2;
    }
    sd[j] = Math.sqrt(squares / count);
    return column;
  });
  return { columns, sd };
}

const dot = (a: Float64Array, b: Float64Array): number => {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
};

/** Orthonormal vectors with the span of the given ones (Gram–Schmidt, twice). */
function orthonormal(vectors: readonly Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const vector of vectors) {
    const v = vector.slice();
    const before = Math.sqrt(dot(v, v));
    for (let again = 0; again < 2; again++)
      for (const b of basis) {
        const along = dot(b, v);
        for (let i = 0; i < v.length; i++) v[i] -= along * b[i];
      }
    const left = Math.sqrt(dot(v, v));
    if (left > 1e-8 * before) basis.push(v.map((x) => x / left));
  }
  return basis;
}

/** Cov + RIDGE/count of columns, d × d. */
function covariance(columns: readonly Float64Array[]): Float64Array {
  const [d, count] = [columns.length, columns[0].length];
  const found = new Float64Array(d * d);
  for (let i = 0; i < d; i++)
    for (let j = 0; j <= i; j++) {
      const c = dot(columns[i], columns[j]) / count + (i === j ? RIDGE / count : 0);
      found[i * d + j] = c;
      found[j * d + i] = c;
    }
  return found;
}

/** V f(Λ) Vᵀ of the symmetric positive matrix V Λ Vᵀ, d × d. */
function spectral({ values, vectors }: Svd, d: number, f: (value: number) => number): Float64Array {
  const scaled = Array.from({ length: d }, (_, i) =>
    Float64Array.from({ length: d }, (_, j) => vectors[i * d + j] * f(values[j])),
  );
  const rows = Array.from({ length: d }, (_, i) => vectors.subarray(i * d, (i + 1) * d));
  const found = new Float64Array(d * d);
  for (let i = 0; i < d; i++)
    for (let j = 0; j < d; j++) found[i * d + j] = dot(scaled[i], rows[j]);
  return symmetric(found, d);
}

/** Removes the difference that rounding leaves between the two triangles. */
const symmetric = (a: Float64Array, d: number): Float64Array =>
  a.map((v, at) => (v + a[(at % d) * d + Math.floor(at / d)]) / 2);

/** A B A of symmetric matrices. */
function sandwich(a: Float64Array, b: Float64Array, d: number): Float64Array {
  const times = (x: Float64Array, y: Float64Array): Float64Array => {
    const found = new Float64Array(d * d);
    for (let i = 0; i < d; i++)
      for (let k = 0; k < d; k++)
        for (let j = 0; j < d; j++) found[i * d + j] += x[i * d + k] * y[k * d + j];
    return found;
  };
  return symmetric(times(times(a, b), a), d);
}

/** The packed metric of draws and gradients; undefined if they are too few or do not vary. */
export function fisherMetric({ points, slopes }: PointsState, n: number): Float64Array | undefined {
  const count = points.length / n;
  if (count < 3) return undefined;
  const [x, g] = [centred(points, n), centred(slopes, n)];
  const diagonal = x.sd.map((sd, j) => sd / g.sd[j]);
  if (!diagonal.every((v) => v > 1e-150 && v < 1e150)) return undefined;
  const root = diagonal.map(Math.sqrt);
  const scale = (columns: readonly Float64Array[], by: (j: number) => number): Float64Array[] =>
    columns.map((column, j) => column.map((v) => v * by(j)));
  const [own, pull] = [scale(x.columns, (j) => 1 / root[j]), scale(g.columns, (j) => root[j])];
  const basis = n <= WHOLE ? undefined : spanOf([own, pull], count);
  const [a, b] = [own, pull].map((columns) => (basis ? projected(columns, basis) : columns));
  const d = a.length;
  const [X, G] = [covariance(a), covariance(b)];
  const ofG = rightSvd(G, d);
  const inner = rightSvd(sandwich(spectral(ofG, d, Math.sqrt), X, d), d);
  const outer = spectral(ofG, d, (value) => 1 / Math.sqrt(value));
  const { values, vectors } = rightSvd(sandwich(outer, spectral(inner, d, Math.sqrt), d), d);
  if (!values.every((value) => value > 0 && Number.isFinite(value))) return undefined;
  const kept = Array.from(values, (value, k) => ({ value, k }))
    .filter(({ value }) => value > CUTOFF || value < 1 / CUTOFF)
    .toSorted((p, q) => Math.abs(Math.log(q.value)) - Math.abs(Math.log(p.value)))
    .slice(0, mostRank(n));
  const lifted = (column: Float64Array): Float64Array =>
    basis
      ? Float64Array.from({ length: n }, (_, i) =>
          basis.reduce((total, b, k) => total + b[i] * column[k], 0),
        )
      : column;
  return packLowRank(
    diagonal,
    kept.map(({ value, k }) => ({
      value,
      direction: lifted(Float64Array.from({ length: d }, (_, i) => vectors[i * d + k])),
    })),
  );
}

/** The span of a few draws and gradients, taken at equal distances. */
function spanOf(both: readonly (readonly Float64Array[])[], count: number): Float64Array[] {
  const every = Math.max(1, Math.floor(count / SPAN));
  return orthonormal(
    both.flatMap((columns) =>
      Array.from({ length: Math.min(SPAN, Math.floor(count / every)) }, (_, i) =>
        Float64Array.from(columns, (column) => column[count - 1 - i * every]),
      ),
    ),
  );
}

/** Columns of the coordinates in a basis. */
const projected = (
  columns: readonly Float64Array[],
  basis: readonly Float64Array[],
): Float64Array[] =>
  basis.map((b) => {
    const found = new Float64Array(columns[0].length);
    columns.forEach((column, j) => {
      for (let i = 0; i < found.length; i++) found[i] += b[j] * column[i];
    });
    return found;
  });
