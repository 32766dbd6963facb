/**
 * How far samples are from rows, column by column, pair by pair and as a whole:
 *
 *   KS             sup |F − G| of a column of numbers; for labels the total variation ½ Σ|p − q|
 *   correlations   of ranks (C. Spearman, 1904), labels as indicators: the difference of the two matrices
 *   SWD            root of the mean over directions θ of ∫₀¹ (F_θ⁻¹ − G_θ⁻¹)²       (sliced Wasserstein distance)
 *
 * What chance alone makes of a distance is its floor: pooled rows are dealt out again.
 */
import type { Product } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { sortedWithOrder } from "diffeo/host";
import { fold, type Key, normal, permutation } from "diffeo/random";
import type { Cells } from "./law.ts";

export interface ColumnDistance {
  readonly column: string;
  readonly distance: number;
  /** What one law exceeds once in twenty times, for numbers: 1.36 √(1/a + 1/b). */
  readonly chance: number;
}

/** sup |F − G| */
export function kolmogorov(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const [x, y] = [Float64Array.from(a).sort(), Float64Array.from(b).sort()];
  let [i, j, most] = [0, 0, 0];
  while (i < x.length && j < y.length) {
    const at = Math.min(x[i], y[j]);
    while (i < x.length && x[i] <= at) i++;
    while (j < y.length && y[j] <= at) j++;
    most = Math.max(most, Math.abs(i / x.length - j / y.length));
  }
  return most;
}

function labelDistance(a: Cells, b: Cells): number {
  const shares = new Map<unknown, number>();
  for (const label of a) shares.set(label, (shares.get(label) ?? 0) + 1 / a.length);
  for (const label of b) shares.set(label, (shares.get(label) ?? 0) - 1 / b.length);
  return [...shares.values()].reduce((s, v) => s + Math.abs(v), 0) / 2;
}

/** Each column's distance, largest first. */
export function columnDistances(
  domain: Product,
  samples: readonly Cells[],
  real: readonly Cells[],
): ColumnDistance[] {
  const chance = 1.36 * Math.sqrt(1 / samples.length + 1 / real.length);
  const found = domain.parts.flatMap(({ domain: { kind }, columns, at }) =>
    columns.map((column, k) => {
      const [a, b] = [samples, real].map((rows) => rows.map((row) => row[at.cells + k]));
      const distance =
        kind === "category" ? labelDistance(a, b) : kolmogorov(a as number[], b as number[]);
      return { column, distance, chance };
    }),
  );
  return found.sort((a, b) => b.distance - a.distance);
}

/**
 * Ranks of values, equal ones sharing theirs, with mean 0 and length 1; all 0 where values are
 * equal.
 */
export function rankVector(values: Float64Array): Float64Array {
  const { order } = sortedWithOrder(values);
  const out = new Float64Array(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && values[order[to]] === values[order[from]]) to++;
    for (let i = from; i < to; i++) out[order[i]] = (from + to - order.length) / 2;
    from = to;
  }
  const length = Math.sqrt(out.reduce((s, v) => s + v * v, 0));
  return length > 0 ? out.map((v) => v / length) : out;
}

interface Named {
  readonly name: string;
  readonly values: Float64Array;
}

/** Columns of numbers as they are, and labels as indicators. */
function namedColumns(domain: Product, rows: readonly Cells[]): Named[] {
  return domain.parts.flatMap(({ domain: own, columns, at }) => {
    const labels =
      own.kind === "category" ? (own.spec as { labels: readonly unknown[] }).labels : undefined;
    if (labels)
      return labels.map((label) => ({
        name: `${columns[0]} = ${label}`,
        values: Float64Array.from(rows, (row) => (row[at.cells] === label ? 1 : 0)),
      }));
    return columns.map((name, k) => ({
      name,
      values: Float64Array.from(rows, (row) => Number(row[at.cells + k])),
    }));
  });
}

interface PairDifference {
  readonly columns: readonly [string, string];
  readonly samples: number;
  readonly data: number;
}

export interface CorrelationDifferences {
  /** The largest difference, and the mean of all. */
  readonly most: number;
  readonly mean: number;
  /** The pairs that differ most. */
  readonly worst: readonly PairDifference[];
}

const WORST = 5;

export function correlationDifferences(
  domain: Product,
  samples: readonly Cells[],
  real: readonly Cells[],
): CorrelationDifferences {
  const [a, b] = [samples, real].map((rows) =>
    namedColumns(domain, rows).map(({ name, values }) => ({ name, values: rankVector(values) })),
  );
  const dot = (p: Float64Array, q: Float64Array): number => {
    let total = 0;
    for (let i = 0; i < p.length; i++) total += p[i] * q[i];
    return total;
  };
  const pairs: PairDifference[] = [];
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < i; j++)
      pairs.push({
        columns: [a[j].name, a[i].name],
        samples: dot(a[i].values, a[j].values),
        data: dot(b[i].values, b[j].values),
      });
  const gap = (pair: PairDifference): number => Math.abs(pair.samples - pair.data);
  const worst = pairs.sort((p, q) => gap(q) - gap(p)).slice(0, WORST);
  return {
    most: worst.length > 0 ? gap(worst[0]) : 0,
    mean: pairs.length > 0 ? pairs.reduce((s, pair) => s + gap(pair), 0) / pairs.length : 0,
    worst,
  };
}

/** ∫₀¹ (F⁻¹ − G⁻¹)² of two sorted samples, whatever their sizes: quantile functions are steps. */
function transport(x: Float64Array, y: Float64Array): number {
  let [i, j, at, total] = [0, 0, 0, 0];
  while (i < x.length && j < y.length) {
    const [nextX, nextY] = [(i + 1) / x.length, (j + 1) / y.length];
    const next = Math.min(nextX, nextY);
    total += (next - at) * (x[i] - y[j]) ** 2;
    at = next;
    if (nextX <= next) i++;
    if (nextY <= next) j++;
  }
  return total;
}

export interface SlicedDistance {
  readonly value: number;
  /** Its mean over pooled rows dealt out at random. */
  readonly floor: number;
}

export interface SlicedOptions {
  readonly key: Key;
  /** Default 64. */
  readonly directions?: number;
  /** Default 5. */
  readonly deals?: number;
}

/**
 * The sliced Wasserstein distance of two sets [count, n]. All deals of a direction follow from one
 * sort.
 */
export function slicedDistance(
  samples: NdArray,
  real: NdArray,
  options: SlicedOptions,
): SlicedDistance {
  const { key, directions = 64, deals = 5 } = options;
  const n = samples.shape[1];
  const [a, b] = [samples.shape[0], real.shape[0]];
  // 1 for those of the first set: as they are, then dealt out at random.
  const firsts = Array.from({ length: deals + 1 }, () => new Uint8Array(a + b));
  firsts[0].fill(1, 0, a);
  for (let d = 0; d < deals; d++) {
    const order = permutation(fold(fold(key, "deal"), d), a + b).data;
    for (let i = 0; i < a; i++) firsts[d + 1][order[i]] = 1;
  }
  const along = normal(fold(key, "directions"), [directions, n], { dtype: "float64" }).data;
  const totals = new Float64Array(deals + 1);
  const [pooled, x, y] = [new Float64Array(a + b), new Float64Array(a), new Float64Array(b)];
  for (let d = 0; d < directions; d++) {
    const theta = along.subarray(d * n, (d + 1) * n);
    const length = Math.hypot(...theta);
    for (let i = 0; i < a + b; i++) {
      const [from, row] = i < a ? [samples, i] : [real, i - a];
      let total = 0;
      for (let j = 0; j < n; j++) total += (from.data[row * n + j] as number) * theta[j];
      pooled[i] = total / length;
    }
    const { sorted, order } = sortedWithOrder(pooled);
    firsts.forEach((isFirst, k) => {
      let [i, j] = [0, 0];
      sorted.forEach((v, at) => {
        if (isFirst[order[at]]) x[i++] = v;
        else y[j++] = v;
      });
      totals[k] += transport(x, y) / directions;
    });
  }
  const [value, ...floors] = Array.from(totals, Math.sqrt);
  return { value, floor: floors.reduce((s, v) => s + v / deals, 0) };
}
