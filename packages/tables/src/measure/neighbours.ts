/**
 * Whether samples are copies of training rows: the distance of each to the nearest of them,
 * compared with that of rows which training has not seen. Where both have one distribution, a
 * sample is nearer than a fresh row half of the time:
 *
 *   P(d(sample) < d(fresh)) + ½ P(=)
 */
import type { NdArray } from "diffeo/graph";
import { quantiles } from "diffeo/host";
import { areaUnderCurve } from "diffeo/two-sample";
import type { Cells } from "./table-distribution.ts";

interface NearestDistances {
  /** Median, and 5th percentile. */
  readonly median: number;
  readonly low: number;
  /** Share that equals a training row, cell by cell. */
  readonly copies: number;
}

export interface Privacy {
  readonly samples: NearestDistances;
  readonly fresh: NearestDistances;
  /** How often a sample is nearer than a fresh row; one half if they have one distribution. */
  readonly nearer: number;
  /** Its standard deviation where they have. */
  readonly error: number;
  /**
   * Inference of membership by nearest neighbours: how often a row of training is nearer to the
   * samples than a fresh row; one half if samples do not tell which rows were trained on.
   */
  readonly membership: number;
  /** Its standard deviation where they do not. */
  readonly membershipError: number;
  /** Training rows that were looked at. */
  readonly among: number;
}

/** The distance of each row to the nearest of others. */
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

/** Members of training whose distance to the samples is taken, at least. */
const LEAST_MEMBERS = 500;

/** The standard deviation of an area under the curve of two sets of one distribution. */
const rankError = (a: number, b: number): number => Math.sqrt((a + b + 1) / (12 * a * b));

/** @param features how rows become points */
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
