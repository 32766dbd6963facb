/**
 * Distances between samples and rows: by column, by pair, and for whole rows:
 *
 *   KS             sup |F − G| of a column of numbers; for labels the total variation TV = ½ Σ|p − q|
 *   correlations   of ranks (C. Spearman, 1904), labels as indicators: the difference of the two matrices
 *   SWD            root of the mean over directions θ of ∫₀¹ (F_θ⁻¹ − G_θ⁻¹)²       (sliced Wasserstein distance)
 *
 * The floor of a distance is what chance alone gives: pooled rows are divided again at random. For
 * a column it is a bound, with √(1/a + 1/b) = s of a samples and b cells,
 *
 *   P(KS > c s) ≤ 2 e^{−2c²}         P(TV > E TV + c s) ≤ e^{−2c²},   E TV ≤ ½ Σ √(p(1 − p)) s
 *
 * (A. Kolmogorov and N. Smirnov; C. McDiarmid, 1989: one cell moves TV by 1/a or 1/b.)
 */
import type { Cell, Product } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { sortedWithOrder } from "diffeo/host";
import { fold, type Key, normal, permutation } from "diffeo/random";
import { kolmogorovSmirnov } from "diffeo/two-sample";
import { isHole } from "../diffusion/encode/index.ts";
import { labelsSeen } from "./features.ts";
import type { Cells, OpenCells } from "./table-distribution.ts";

export interface ColumnDistance {
  readonly column: string;
  readonly distance: number;
  /** The value that one distribution exceeds in 1 of 20 cases. */
  readonly chance: number;
  /** The value that any column of the table exceeds in 1 of 1,000 cases. */
  readonly clear: number;
  /**
   * The same for the column with its missing cells filled in, if it has some: cells may be missing
   * because of their values, and the others then have a different distribution.
   */
  readonly filled?: Pick<ColumnDistance, "distance" | "clear">;
}

/** TV, and an upper bound of E TV if both sets have one distribution. */
function labelDistance(
  a: readonly Cell[],
  b: readonly Cell[],
): readonly [distance: number, mean: number] {
  const counts = new Map<Cell, [number, number]>();
  [a, b].forEach((cells, set) => {
    for (const cell of cells) {
      const own = counts.get(cell) ?? [0, 0];
      own[set]++;
      counts.set(cell, own);
    }
  });
  const [all, scale] = [a.length + b.length, Math.sqrt(1 / a.length + 1 / b.length)];
  let [distance, mean] = [0, 0];
  for (const [p, q] of counts.values()) {
    distance += Math.abs(p / a.length - q / b.length) / 2;
    const share = (p + q) / all;
    mean += (Math.sqrt(share * (1 - share)) * scale) / 2;
  }
  return [distance, mean];
}

/**
 * 1 of 20 cases for one column, 1 of 1,000 for any column, and 1 of 100 where two distances must
 * agree.
 */
const [ONCE, RARELY, TWICE] = [0.05, 0.001, 0.01];

/** The distance of each column, for cells that are present, largest first. */
export function columnDistances(
  domain: Product,
  samples: readonly Cells[],
  real: readonly OpenCells[],
  filled: readonly Cells[] = [],
): ColumnDistance[] {
  const count = domain.columns.length;
  const between = (kind: string, a: readonly Cell[], b: readonly Cell[]) => {
    const isLabel = kind === "category";
    const [distance, mean] = isLabel
      ? labelDistance(a, b)
      : [kolmogorovSmirnov(a as readonly number[], b as readonly number[]), 0];
    const scale = Math.sqrt(1 / a.length + 1 / b.length);
    const beyond = (p: number): number =>
      mean + Math.sqrt(Math.log((isLabel ? 1 : 2) / p) / 2) * scale;
    return { distance, beyond };
  };
  const found = domain.parts.flatMap(({ domain: { kind }, columns, at }) =>
    columns.flatMap((column, k): ColumnDistance[] => {
      const own = samples.map((row) => row[at.cells + k]);
      const known = real.map((row) => row[at.cells + k]).filter((v): v is Cell => !isHole(v));
      if (known.length === 0) return [];
      const isTorn = known.length < real.length && filled.length > 0;
      const all =
        isTorn &&
        between(
          kind,
          own,
          filled.map((row) => row[at.cells + k]),
        );
      const { distance, beyond } = between(kind, own, known);
      return [
        {
          ...{ column, distance, chance: beyond(ONCE), clear: beyond(RARELY / count) },
          ...(all && { filled: { distance: all.distance, clear: all.beyond(TWICE / count) } }),
        },
      ];
    }),
  );
  return found.sort((a, b) => b.distance - a.distance);
}

/**
 * Ranks of values; equal values share a rank. Mean 0 and length 1, or all 0 if the values are
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

/** Columns of numbers unchanged, and labels as indicators. */
function namedColumns(
  domain: Product,
  rows: readonly Cells[],
  reference: readonly Cells[],
): Named[] {
  return domain.parts.flatMap((part) => {
    const { columns, at } = part;
    const labels = labelsSeen(part, reference);
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
  /** The pairs with the largest differences. */
  readonly worst: readonly PairDifference[];
}

const WORST = 5;

export function correlationDifferences(
  domain: Product,
  samples: readonly Cells[],
  real: readonly Cells[],
): CorrelationDifferences {
  const [a, b] = [samples, real].map((rows) =>
    namedColumns(domain, rows, real).map(({ name, values }) => ({
      name,
      values: rankVector(values),
    })),
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
  /** Its mean over random divisions of the pooled rows. */
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
 * The sliced Wasserstein distance of two sets [count, n]. One sort per direction serves all
 * divisions.
 */
export function slicedDistance(
  samples: NdArray,
  real: NdArray,
  options: SlicedOptions,
): SlicedDistance {
  const { key, directions = 64, deals = 5 } = options;
  const n = samples.shape[1];
  const [a, b] = [samples.shape[0], real.shape[0]];
  // 1 for rows of the first set: the actual division, then random ones.
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
