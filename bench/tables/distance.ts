/**
 * The sliced Wasserstein distance between sets of rows: the root of the mean squared difference of
 * their sorted projections.
 */
import type { NdArray } from "diffeo/graph";
import { key, normal } from "diffeo/random";

/** The first n coordinates of rows. */
export const firstOf = (rows: readonly (readonly number[])[], n: number): NdArray => ({
  shape: [rows.length, n],
  dtype: "float64",
  data: Float64Array.from(rows.flatMap((row) => row.slice(0, n))),
});

const DIRECTIONS = 256;

/** Projections of rows on fixed directions, each sorted. */
export function projected({ shape: [rows, n], data }: NdArray): Float64Array[] {
  const along = normal(key("directions"), [DIRECTIONS, n], { dtype: "float64" }).data;
  const values = data as Float64Array;
  return Array.from({ length: DIRECTIONS }, (_, d) => {
    const u = along.subarray(d * n, (d + 1) * n);
    const length = Math.hypot(...u);
    return Float64Array.from({ length: rows }, (_, i) => {
      let total = 0;
      for (let j = 0; j < n; j++) total += values[i * n + j] * u[j];
      return total / length;
    }).sort();
  });
}

/** The distance between two sets of equally many rows. */
export function sliced(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  let total = 0;
  for (let d = 0; d < DIRECTIONS; d++)
    for (let i = 0; i < a[d].length; i++) total += (a[d][i] - b[d][i]) ** 2;
  return Math.sqrt(total / DIRECTIONS / a[0].length);
}

export const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((s, v) => s + v, 0) / values.length;

export const deviation = (values: readonly number[]): number => {
  const centre = mean(values);
  return Math.sqrt(
    values.reduce((s, v) => s + (v - centre) ** 2, 0) / Math.max(1, values.length - 1),
  );
};
