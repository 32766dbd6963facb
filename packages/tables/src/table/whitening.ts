/**
 * The map ψ from rows y of a table to the points x of a fit, which have mean 0 and covariance I:
 *
 *   x = (y − mean) W     W = V Σ⁻¹ √N,  U Σ Vᵀ the singular value decomposition of the N centred rows
 *
 * As a map of the library it is a shift and a matrix; Theorem 1 pulls densities and scores back
 * through it.
 */
import { affine, affineMatrix, type Bijector, chain } from "diffeo/bijector";
import { fail, input, reference, type Tensor } from "diffeo/graph";
import { partsOf, rightSvd } from "diffeo/host";
import type { Table } from "./table.ts";

/** The parameters of ψ, as stored in a file. */
export interface Whitening {
  readonly mean: readonly number[];
  /** W, n×n row-major. */
  readonly matrix: readonly number[];
  /** log|det W| */
  readonly logDet: number;
}

/** ψ: rows to points. */
export function whiteningMap({ mean, matrix }: Whitening): Bijector {
  const n = mean.length;
  const transposed = mean.map((_, j) => mean.map((_, i) => matrix[i * n + j]));
  return chain(affine({ shift: mean.map((m) => -m) }), affineMatrix(transposed));
}

/** Rows per call; memory grows with them. */
const PART = 4096;

/** f on rows of numbers, in float64 on the host. */
function onRows(values: Float64Array, n: number, f: (rows: Tensor) => Tensor): Float64Array {
  const out = new Float64Array(values.length);
  for (const [from, to] of partsOf(values.length / n, PART)) {
    const rows = input("rows", [to - from, n], "float64");
    const [found] = reference([f(rows)], new Map([[rows, values.subarray(from * n, to * n)]]));
    out.set(found, from * n);
  }
  return out;
}

/** ψ of every row. */
export const whitenRows = (values: Float64Array, whitening: Whitening): Float64Array =>
  onRows(values, whitening.mean.length, whiteningMap(whitening).forward);

/** ψ⁻¹ of every point. */
export const unwhitenRows = (points: Float64Array, whitening: Whitening): Float64Array =>
  onRows(points, whitening.mean.length, whiteningMap(whitening).inverse);

/** The identity ψ. */
export const unitMap = (n: number): Whitening => ({
  mean: Array<number>(n).fill(0),
  matrix: Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
  logDet: 0,
});

/**
 * Whether columns are linearly dependent. Each is divided by its length, so that units do not
 * matter.
 */
function requireIndependence(centred: Float64Array, lengths: Float64Array, source: string): void {
  const n = lengths.length;
  const { values } = rightSvd(
    centred.map((v, i) => v / lengths[i % n]),
    n,
  );
  if (!(values[n - 1] > 1e-12 * values[0]))
    fail(
      "data",
      `${source}: some column is a linear combination of others, so the table has no density`,
      "omit it, or drop columns whose correlation with another exceeds 0.98",
    );
}

/** Computes the ψ of a table. */
export function whiteningOf({ values, columns, rows, source }: Table): Whitening {
  const n = columns.length;
  if (rows <= n)
    fail(
      "data",
      `${source}: ${rows} rows are too few for ${n} columns, so the covariance is singular`,
      "give more rows, or omit columns",
    );
  const mean = columns.map((_, j) => {
    let total = 0;
    for (let i = 0; i < rows; i++) total += values[i * n + j];
    return total / rows;
  });
  const centred = values.map((v, i) => v - mean[i % n]);
  const lengths = new Float64Array(n);
  centred.forEach((v, i) => {
    lengths[i % n] = Math.hypot(lengths[i % n], v);
  });
  requireIndependence(centred, lengths, source);
  // A power of two changes no digits, and keeps squares of very large or small numbers in range.
  const unit = 2 ** Math.floor(Math.log2(Math.max(...lengths)));
  const svd = rightSvd(
    centred.map((v) => v / unit),
    n,
  );
  // ‖W‖‖W⁻¹‖: above 10¹⁵ one of the two is lost to rounding.
  if (!(Math.hypot(...svd.values) * Math.hypot(...svd.values.map((s) => 1 / s)) < 1e15))
    fail(
      "data",
      `${source}: columns differ by a factor of about 10¹⁵ or more in scale`,
      "change their units",
    );
  const scale = svd.values.map((s) => Math.sqrt(rows) / (s * unit));
  return {
    mean,
    matrix: Array.from(svd.vectors, (v, i) => v * scale[i % n]),
    logDet: scale.reduce((total, s) => total + Math.log(s), 0),
  };
}
