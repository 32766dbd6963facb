/**
 * From a table to training, validation and test points:
 *
 *   dequantise  y_ij + u_ij·median(diff(unique(column j))),  u uniform on (−1, 1), in file order,
 *               with the run's seed
 *   shuffle     NumPy's legacy permutation of one seed, the same for every run
 *   whiten      (y − mean) V Σ⁻¹ √N, from the singular value decomposition of the centred table
 *               (`whitening.ts`)
 *   split       test last: ⌊N/10⌋ points; validation before it: ⌊(N − test)/10⌋
 *   noise       + 0.05 ε, once
 */
import { fail, type NdArray } from "diffeo/graph";
import { mean } from "diffeo/host";
import { fold, type Key, normal, uniform } from "diffeo/random";
import { legacyPermutation } from "./numpy.ts";
import { columnOf, selectColumns, type Table } from "./table.ts";
import { unitMap, type Whitening, whiteningOf, whitenRows } from "./whitening.ts";

/** Options for the preparation of a table for a fit. */
export interface PrepareOptions {
  /** Add uniform noise of the size of a column's median step. Default false. */
  readonly dequantise?: boolean;
  /** PCA-whiten. Default true. */
  readonly whiten?: boolean;
  /** Standard deviation of the noise added at the end. Default 0.05. */
  readonly noise?: number;
  /** Seed of the shuffle, the same for all runs. Default 2019. */
  readonly shuffleSeed?: number;
  /** Shares of the test set, and of validation in the rest. Default 0.1 each. */
  readonly test?: number;
  readonly validation?: number;
}

/** Whitened points, divided into training, validation and test. */
export interface Prepared {
  readonly n: number;
  readonly columns: readonly string[];
  readonly whitening: Whitening;
  /** Points as rows, float32. */
  readonly train: NdArray;
  readonly validation: NdArray;
  readonly test: NdArray;
}

/**
 * Drops columns one by one: the first whose correlation with another exceeds the threshold, until
 * there is none.
 */
export function prune(table: Table, threshold: number): Table {
  const columns = table.columns.map((_, j) => columnOf(table, j));
  const first = columns.findIndex((a, i) =>
    columns.some((b, j) => i !== j && Math.abs(correlation(a, b)) > threshold),
  );
  if (first < 0) return table;
  const others = columns.map((_, j) => j).filter((j) => j !== first);
  return prune(
    selectColumns(table, () => others),
    threshold,
  );
}

function correlation(a: Float64Array, b: Float64Array): number {
  const [ma, mb] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) ** 2;
    bb += (b[i] - mb) ** 2;
  }
  return ab / Math.sqrt(aa * bb);
}

/** median(diff(unique(column))) */
function medianStep(column: Float64Array): number {
  const unique = [...new Set(column)].sort((a, b) => a - b);
  const steps = unique.slice(1).map((v, i) => v - unique[i]);
  steps.sort((a, b) => a - b);
  const middle = steps.length >> 1;
  return steps.length % 2 === 1 ? steps[middle] : (steps[middle - 1] + steps[middle]) / 2;
}

function requireVariation(table: Table): void {
  table.columns.forEach((name, j) => {
    const column = columnOf(table, j);
    if (column.every((v) => v === column[0]))
      fail(
        "data",
        `${table.source}: column ${j + 1} ("${name}") is ${column[0]} in every row, so it has ` +
          "no density",
        "omit the column",
      );
  });
}

function dequantised(table: Table, key: Key): Table {
  const steps = table.columns.map((_, j) => medianStep(columnOf(table, j)));
  const noise = uniform(key, [table.values.length], { low: -1, high: 1, dtype: "float64" }).data;
  return { ...table, values: table.values.map((v, i) => v + noise[i] * steps[i % steps.length]) };
}

/** Prepares a table for a fit: divides it at random, and whitens it by the training rows. */
export function prepare(table: Table, key: Key, options: PrepareOptions = {}): Prepared {
  const { dequantise = false, whiten = true, noise = 0.05, shuffleSeed = 2019 } = options;
  const testRows = Math.floor(table.rows * (options.test ?? 0.1));
  const validationRows = Math.floor((table.rows - testRows) * (options.validation ?? 0.1));
  const trainRows = table.rows - testRows - validationRows;
  if (!(noise >= 0)) fail("usage", `the noise is ${noise}`, "give a standard deviation ≥ 0");
  if (!(Math.min(testRows, validationRows, trainRows) >= 1))
    fail(
      "data",
      `${table.source}: ${table.rows} rows cannot be divided into three sets`,
      "give more rows, or other shares",
    );
  requireVariation(table);
  const n = table.columns.length;
  const spread = dequantise ? dequantised(table, fold(key, "dequantise")) : table;
  const order = legacyPermutation(shuffleSeed, table.rows);
  const shuffled = Float64Array.from(
    spread.values,
    (_, i) => spread.values[order[Math.floor(i / n)] * n + (i % n)],
  );
  const whitening = whiten ? whiteningOf({ ...spread, values: shuffled }) : unitMap(n);
  const points = whitenRows(shuffled, whitening);
  const extra = normal(fold(key, "noise"), [points.length], { dtype: "float64" }).data;
  const part = (from: number, count: number): NdArray => ({
    shape: [count, n],
    dtype: "float32",
    data: Float32Array.from(
      { length: count * n },
      (_, i) => points[from * n + i] + noise * extra[from * n + i],
    ),
  });
  return {
    n,
    columns: table.columns,
    whitening,
    train: part(0, trainRows),
    validation: part(trainRows, validationRows),
    test: part(trainRows + validationRows, testRows),
  };
}
