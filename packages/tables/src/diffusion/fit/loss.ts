/**
 * The loss of a network that predicts v at the noise level λ = log m²/σ², m² + σ² = 1:
 *
 *   ‖v̂(x, λ) − v‖²/n      x = m x₀ + σ ε,   v = m ε − σ x₀,   λ = 1.5 + 3 Φ⁻¹(u) held to ±10
 *
 * Each group of rows has one level, spread evenly over the quantiles of their distribution, so that
 * a batch of any size sees all of it. A level that rows share costs its products once: with eight
 * rows per level a step takes two thirds of its time with one. Half of a group has the noise −ε of
 * the other half, which has the same distribution and costs nothing.
 */
import {
  concat,
  expandDims,
  mean,
  type NdArray,
  neg,
  type Shape,
  square,
  sub,
  type Tensor,
} from "diffeo/graph";
import { normalPoint, pickRows } from "diffeo/host";
import { fold, integers, type Key, normal, uniform } from "diffeo/random";
import { noisedRows } from "../network/index.ts";

/** Levels of a batch and rows per level: 512 rows. */
export const LEVELS = 64;
export const ROWS = 8;
export const BATCH = LEVELS * ROWS;

/**
 * What a step sees: x₀ [levels, rows, n], half of ε [levels, rows/2, n], and λ [levels], one from
 * each quantile of its distribution.
 */
export type Batch<T> = [rows: T, noise: T, levels: T];

export const batchShapes = (n: number): [Shape, Shape, Shape] => [
  [LEVELS, ROWS, n],
  [LEVELS, ROWS / 2, n],
  [LEVELS],
];

/**
 * The levels of a batch. They are computed on the host, where Φ⁻¹ of 64 numbers costs nothing; in
 * a graph they would take a hundred operations per step.
 */
export function levelsOf(key: Key): NdArray {
  const jitter = uniform(key, [LEVELS], { dtype: "float64" }).data;
  const data = Float32Array.from(jitter, (v, i) => {
    const u = (i + v) / LEVELS;
    return Math.min(Math.max(1.5 + 3 * normalPoint(u, 1 - u), -10), 10);
  });
  return { shape: [LEVELS], dtype: "float32", data };
}

/** A batch of points [count, n], a function of the key. */
export function batchOf(points: NdArray, key: Key): Batch<NdArray> {
  const [count, n] = points.shape;
  const [rows, noise] = batchShapes(n);
  const chosen = pickRows(points, integers(fold(key, "rows"), BATCH, 0, count).data);
  return [
    { ...chosen, shape: rows },
    normal(fold(key, "noise"), noise),
    levelsOf(fold(key, "levels")),
  ];
}

/** The mean over all rows of a batch. */
export function velocityLoss(
  predict: (x: Tensor, lambda: Tensor) => Tensor,
  ...[rows, half, levels]: Batch<Tensor>
): Tensor {
  const noise = concat([half, neg(half)], 1);
  const lambda = expandDims(levels, -1);
  const { x, velocity } = noisedRows(rows, noise, lambda);
  return mean(square(sub(predict(x, lambda), velocity)));
}
