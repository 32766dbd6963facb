/** Statistics of records that are paired by seed. */
import { mean, quantile, sumOfSquares } from "diffeo/host";

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Standard deviation, with n − 1. */
export const deviation = (values: readonly number[]): number =>
  values.length < 2 ? 0 : Math.sqrt(sumOfSquares(values) / (values.length - 1));

/** Differences first − second of the same seeds. */
export interface Paired {
  readonly count: number;
  readonly mean: number;
  readonly deviation: number;
  /** How often the first is lower. */
  readonly lower: number;
  /**
   * Two-sided p of the mean under random signs of the differences: the share of all 2ⁿ signs whose
   * mean is at least as far from 0.
   */
  readonly p: number;
}

/** Pairs that have a sign of their own; of more pairs, some share one. */
const MOST_SIGNS = 14;

export function paired(first: readonly number[], second: readonly number[]): Paired {
  const differences = first.map((value, i) => value - second[i]);
  const count = differences.length;
  const bits = Math.min(count, MOST_SIGNS);
  const seen = Math.abs(differences.reduce((a, b) => a + b, 0)) * (1 - 1e-12);
  const groups = Array.from({ length: bits }, (_, k) =>
    differences.filter((_d, i) => i % bits === k).reduce((a, b) => a + b, 0),
  );
  let extreme = 0;
  for (let signs = 0; signs < 2 ** bits; signs++) {
    let sum = 0;
    for (let k = 0; k < bits; k++) sum += signs & (1 << k) ? groups[k] : -groups[k];
    if (Math.abs(sum) >= seen) extreme++;
  }
  return {
    count,
    mean: mean(differences),
    deviation: deviation(differences),
    lower: differences.filter((d) => d < 0).length,
    p: extreme / 2 ** bits,
  };
}
