/**
 * A two-sample test for rows. A logistic regression on features, their squares and products finds
 * shifted means and wrong correlations. Boosted trees on features, principal coordinates and marks
 * of cells (`marks.ts`) find in its residual the rest: shapes, gaps, modes, rounding.
 *
 *   F = θ·(1, f, f fᵀ) + Σ trees(f, Vᵀf, marks)         the area under the ROC curve of F on held-out rows
 */
import type { NdArray } from "diffeo/graph";
import { type FeatureRows, linearScores, logisticRegression, rightSvd } from "diffeo/host";
import type { Key } from "diffeo/random";
import { crossFittedAuc, type RowPair } from "diffeo/two-sample";
import { boostedTrees } from "./trees.ts";

export interface Auc {
  readonly value: number;
  /** Its standard deviation if both sets have one distribution: √((a + b + 1)/12ab). */
  readonly error: number;
}

/** With more features, their products or the principal coordinates are omitted. */
const MOST_PRODUCTS = 20;
const MOST_PRINCIPAL = 60;
/** Features are clipped to this: one far row must not determine a regression. */
const FAR = 5;

/** 1, f and the upper triangle of f fᵀ, with f clipped. */
function quadratic(data: Float64Array, size: number): FeatureRows {
  const squares = size <= MOST_PRODUCTS ? (size * (size + 1)) / 2 : size;
  const active = 1 + size + squares;
  const count = data.length / size;
  const values = new Float64Array(count * active);
  for (let i = 0; i < count; i++) {
    const f = data.subarray(i * size, (i + 1) * size).map((v) => Math.max(-FAR, Math.min(FAR, v)));
    let at = i * active;
    values[at++] = 1;
    for (const v of f) values[at++] = v;
    for (let j = 0; j < size; j++)
      for (let k = j; k < (size <= MOST_PRODUCTS ? size : j + 1); k++) values[at++] = f[j] * f[k];
  }
  return { size: active, active, indices: Int32Array.from(values, (_, i) => i % active), values };
}

function pickRows(data: Float64Array, size: number, rows: Int32Array): Float64Array {
  const out = new Float64Array(rows.length * size);
  rows.forEach((row, i) => {
    out.set(data.subarray(row * size, (row + 1) * size), i * size);
  });
  return out;
}

/** Rows of two sets of numbers, concatenated. */
function joined(left: Float64Array, right: Float64Array, rows: number): Float64Array {
  const [a, b] = [left.length / rows, right.length / rows];
  const out = new Float64Array(left.length + right.length);
  for (let i = 0; i < rows; i++) {
    out.set(left.subarray(i * a, (i + 1) * a), i * (a + b));
    out.set(right.subarray(i * b, (i + 1) * b), i * (a + b) + a);
  }
  return out;
}

/** Rows followed by their principal coordinates Vᵀf, V from the singular values of all rows. */
function withPrincipal(sets: readonly Float64Array[], size: number): Float64Array[] {
  const whole = new Float64Array(sets.reduce((n, set) => n + set.length, 0));
  whole.set(sets[0]);
  whole.set(sets[1], sets[0].length);
  const { vectors } = rightSvd(gram(whole, size), size);
  return sets.map((set) => {
    const out = new Float64Array(2 * set.length);
    for (let i = 0; i < set.length / size; i++)
      for (let j = 0; j < size; j++) {
        out[2 * i * size + j] = set[i * size + j];
        let total = 0;
        for (let k = 0; k < size; k++) total += set[i * size + k] * vectors[k * size + j];
        out[(2 * i + 1) * size + j] = total;
      }
    return out;
  });
}

/** FᵀF/N, whose eigenvectors are the right singular vectors of F. */
function gram(data: Float64Array, n: number): Float64Array {
  const out = new Float64Array(n * n);
  const count = data.length / n;
  for (let row = 0; row < count; row++)
    for (let i = 0; i < n; i++)
      for (let j = i; j < n; j++) out[i * n + j] += (data[row * n + i] * data[row * n + j]) / count;
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) out[i * n + j] = out[j * n + i];
  return out;
}

/**
 * Measures how well rows of two sets of features can be separated; trees also use `marks`.
 */
export function rowsAuc(
  samples: NdArray,
  real: NdArray,
  key: Key,
  marks?: readonly [NdArray, NdArray],
): Auc {
  const [a, b] = [samples.shape[0], real.shape[0]];
  const size = samples.shape[1];
  const sets = [samples.data as Float64Array, real.data as Float64Array];
  const full = size > MOST_PRINCIPAL ? sets : withPrincipal(sets, size);
  const wide = full.map((data, set) =>
    marks ? joined(data, marks[set].data as Float64Array, [a, b][set]) : data,
  );
  const width = wide[0].length / a;
  const of = (data: readonly Float64Array[], n: number, rows: RowPair) =>
    rows.map((own, set) => pickRows(data[set], n, own));
  const value = crossFittedAuc([a, b], key, (rows) => {
    const [first, second] = of(sets, size, rows).map((data) => quadratic(data, size));
    const theta = logisticRegression(first, second);
    const seen = of(wide, width, rows);
    const both = new Float64Array(seen[0].length + seen[1].length);
    both.set(seen[0]);
    both.set(seen[1], seen[0].length);
    const labels = Uint8Array.from({ length: rows[0].length + rows[1].length }, (_, i) =>
      i < rows[0].length ? 0 : 1,
    );
    const start = Float64Array.from([
      ...linearScores(first, theta),
      ...linearScores(second, theta),
    ]);
    const trees = boostedTrees({ data: both, size: width }, labels, start);
    return (others) => {
      const linear = of(sets, size, others).map((data) =>
        linearScores(quadratic(data, size), theta),
      );
      const [left, right] = of(wide, width, others).map((data, set) =>
        trees(data).map((v, i) => v + linear[set][i]),
      );
      return [left, right];
    };
  });
  return { value, error: Math.sqrt((a + b + 1) / (12 * a * b)) };
}
