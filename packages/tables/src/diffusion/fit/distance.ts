/**
 * How near sampled rows s are to a row h that was held out, by the energy score (T. Gneiting and
 * A. E. Raftery, 2007),
 *
 *   ES(h) = mean_s ρ(h, s) − ½ mean_{s ≠ s′} ρ(s, s′)        ρ(a, b)² = mean_j |a_j − b_j| / range_j
 *
 * where labels are 1 apart if they differ, and cells that are missing do not count. ρ² is of
 * negative type, as sums of distances on lines and between labels are, so its root is strictly so,
 * and the mean score of rows is least under their own distribution. It compares rows in the units
 * of their columns. Most of the loss comes from the smallest noise, about which few rows say
 * little: chosen by the loss, training ends long before samples are as near to other rows as they
 * can be.
 */
import type { Cell } from "diffeo/domain";
import { isHole, type OpenCell } from "../encode/index.ts";

type Cells = readonly OpenCell[];

/** The ranges of columns of numbers; 0 for labels and for columns without a range. */
export const rangesOf = (rows: readonly Cells[]): readonly number[] =>
  (rows[0] ?? []).map((_, j) => {
    let [low, high] = [Infinity, -Infinity];
    for (const row of rows) {
      const cell = row[j];
      if (typeof cell !== "number" || isHole(cell)) continue;
      [low, high] = [Math.min(low, cell), Math.max(high, cell)];
    }
    return high > low ? high - low : 0;
  });

/** ρ of two rows. */
export function rowDistance(a: Cells, b: Cells, ranges: readonly number[]): number {
  let [sum, count] = [0, 0];
  for (let j = 0; j < ranges.length; j++) {
    const [u, v] = [a[j], b[j]];
    if (isHole(u) || isHole(v)) continue;
    count++;
    if (ranges[j] > 0 && typeof u === "number" && typeof v === "number")
      sum += Math.abs(u - v) / ranges[j];
    else if (u !== v) sum++;
  }
  return count === 0 ? 0 : Math.sqrt(sum / count);
}

/** The mean energy score of held-out rows under samples. */
export function energyScore(
  held: readonly Cells[],
  samples: readonly (readonly Cell[])[],
  ranges: readonly number[],
): number {
  const count = samples.length;
  let [among, towards] = [0, 0];
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < i; k++) among += rowDistance(samples[i], samples[k], ranges);
    for (const row of held) towards += rowDistance(row, samples[i], ranges);
  }
  return towards / (count * held.length) - among / (count * (count - 1));
}

/** How many groups of rows and samples are scored separately. */
const GROUPS = 8;

/**
 * The energy scores of groups of held-out rows, each under samples of its own. Rows that share
 * samples share the chance in these samples, which the error of their mean would not include.
 */
export function energyScores(
  held: readonly Cells[],
  samples: readonly (readonly Cell[])[],
  ranges: readonly number[],
): readonly number[] {
  const groups = Math.min(GROUPS, held.length);
  return Array.from({ length: groups }, (_, group) => {
    const isOwn = (_: unknown, i: number): boolean => i % groups === group;
    return energyScore(held.filter(isOwn), samples.filter(isOwn), ranges);
  });
}
