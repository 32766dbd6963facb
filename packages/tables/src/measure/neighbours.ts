/**
 * Whether samples are copies of training rows: the distance of each sample to the nearest training
 * row, compared with that of new rows. If both have one distribution, a sample is nearer than a new
 * row half of the time:
 *
 *   P(d(sample) < d(new)) + ½ P(=)
 */
import type { NdArray } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import { areaUnderCurve } from "diffeo/two-sample";
import type { Cells } from "./table-distribution.ts";

interface NearestDistances {
  /** Median, and 5th percentile. */
  readonly median: number;
  readonly low: number;
  /** Share of rows that equal a training row, cell by cell. */
  readonly copies: number;
}

export interface Privacy {
  readonly samples: NearestDistances;
  readonly fresh: NearestDistances;
  /** How often a sample is nearer than a new row; one half if they have one distribution. */
  readonly nearer: number;
  /** Its standard deviation if they have one distribution. */
  readonly error: number;
  /**
   * Membership inference by nearest neighbours: how often a training row is nearer to the samples
   * than a new row; one half if samples do not reveal the training rows.
   */
  readonly membership: number;
  /** Its standard deviation if they do not. */
  readonly membershipError: number;
  /** Number of training rows that were searched. */
  readonly among: number;
}

/** The distance of each row to the nearest of the others. */
function nearestOf({ shape: [count, n], data }: NdArray, others: NdArray): Float64Array {
  const [a, b] = [data as Float64Array, others.data as Float64Array];
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let best = Number.POSITIVE_INFINITY;
    for (let at = 0; at < b.length; at += n) {
      let total = 0;
      for (let j = 0; j < n && total < best; j++) total += (a[i * n + j] - b[at + j]) ** 2;
      if (total < best) best = total;
    }
    out[i] = Math.sqrt(best);
  }
  return out;
}

const textOf = (row: Cells): string => JSON.stringify(row);

function summary(
  rows: readonly Cells[],
  distances: Float64Array,
  known: ReadonlySet<string>,
): NearestDistances {
  const [low, median] = quantiles(distances, [0.05, 0.5]);
  return { median, low, copies: rows.filter((row) => known.has(textOf(row))).length / rows.length };
}

/** Minimum number of training rows whose distance to the samples is computed. */
const LEAST_MEMBERS = 500;

/** The standard deviation of the area under the curve of two sets with one distribution. */
const rankError = (a: number, b: number): number => Math.sqrt((a + b + 1) / (12 * a * b));

/** @param features converts rows to points */
export function privacyOf(
  samples: readonly Cells[],
  fresh: readonly Cells[],
  training: readonly Cells[],
  features: (rows: readonly Cells[]) => NdArray,
): Privacy {
  const known = new Set(training.map(textOf));
  const among = features(training);
  const [drawn, unseen] = [features(samples), features(fresh)];
  const [near, far] = [nearestOf(drawn, among), nearestOf(unseen, among)];
  const own = nearestOf(features(training.slice(0, Math.max(LEAST_MEMBERS, fresh.length))), drawn);
  const others = nearestOf(unseen, drawn);
  return {
    samples: summary(samples, near, known),
    fresh: summary(fresh, far, known),
    nearer: areaUnderCurve(near, far),
    error: rankError(near.length, far.length),
    membership: areaUnderCurve(own, others),
    membershipError: rankError(own.length, others.length),
    among: training.length,
  };
}
