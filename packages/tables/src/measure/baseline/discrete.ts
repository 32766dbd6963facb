/**
 * Distributions of counted cells: labels by smoothed frequencies, integers by frequencies that are
 * mixed with a smooth distribution,
 *
 *   P(k) = (n_k + a P̃(k))/(N + a),     P̃(k) = F(z(k + 1)) − F(z(k)),   F the kernel distribution of spread numbers
 *
 * with the a that maximises the leave-one-out likelihood of the numbers: small if few numbers occur
 * often, large if most occur once.
 */
import { kernelMarginal } from "./marginal.ts";

/** A distribution on an ordered list of values. */
export interface Discrete<T> {
  readonly logProbability: (value: T) => number;
  /** P(values before it) and P(values after it). */
  readonly tails: (value: T) => readonly [below: number, above: number];
  /** The value whose interval in (0, 1) contains a point. */
  readonly quantile: (share: number) => T;
}

/** Labels in their order; each count is increased by one half. */
export function labelDistribution<T>(labels: readonly T[], values: readonly T[]): Discrete<T> {
  const counts = new Map(labels.map((label) => [label, 0.5]));
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const total = values.length + labels.length / 2;
  const probabilities = labels.map((label) => (counts.get(label) ?? 0) / total);
  const place = new Map(labels.map((label, i) => [label, i]));
  const sum = (from: number, to: number): number =>
    probabilities.slice(from, to).reduce((s, p) => s + p, 0);
  const at = (value: T): number => place.get(value) ?? -1;
  return {
    logProbability: (value) => Math.log(probabilities[at(value)]),
    tails: (value) => [sum(0, at(value)), sum(at(value) + 1, labels.length)],
    quantile: (share) => {
      let reached = 0;
      const found = probabilities.findIndex((p) => {
        reached += p;
        return share < reached;
      });
      return labels[found < 0 ? labels.length - 1 : found];
    },
  };
}

/** Weights of the smooth distribution that are tried, in counts. */
const WEIGHTS = [0.5, 2, 8, 32, 128, 512, 2048, 1e9];

/** Integers with inclusive bounds. */
export interface NumberBounds {
  readonly least?: number;
  readonly most?: number;
}

/** An increasing coordinate of the line, or of the interval between bounds, at which it is ±∞. */
function coordinateOf({ least, most }: NumberBounds): (y: number) => number {
  if (least !== undefined && most !== undefined)
    return (y) => Math.log((y - least) / (most + 1 - y));
  if (least !== undefined) return (y) => Math.log(y - least);
  return most !== undefined ? (y) => -Math.log(most + 1 - y) : (y) => y;
}

/** The smallest integer of [low, high] from which on a condition holds. */
function firstWhere(low: number, high: number, holds: (k: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor(from + (to - from) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/**
 * Integers, smoothed by the distribution of the coordinate of k + u, u uniform; `noise` are the u
 * of the values.
 */
export function numberDistribution(
  values: readonly number[],
  noise: ArrayLike<number>,
  bounds: NumberBounds,
): Discrete<number> {
  const place = coordinateOf(bounds);
  const smooth = kernelMarginal(Float64Array.from(values, (k, i) => place(k + noise[i])));
  const seen = [...new Set(values)].sort((a, b) => a - b);
  const rank = new Map(seen.map((k, i) => [k, i]));
  const counts = new Float64Array(seen.length);
  for (const k of values) counts[rank.get(k) as number]++;
  /** For each value the number of smaller ones, and the same in total. */
  const before = Float64Array.from({ length: seen.length + 1 }, () => 0);
  counts.forEach((n, i) => {
    before[i + 1] = before[i] + n;
  });
  const total = values.length;
  const countOf = (k: number): number => counts[rank.get(k) ?? -1] ?? 0;
  const fewer = (k: number): number => before[firstWhere(0, seen.length, (i) => seen[i] >= k)];
  const known = new Map<number, readonly [number, number]>();
  const tailsAt = (k: number): readonly [number, number] => {
    const z = place(k);
    if (!Number.isFinite(z)) return z < 0 ? [0, 1] : [1, 0];
    const found = known.get(k) ?? smooth.tails(z);
    known.set(k, found);
    return found;
  };
  const smoothed = (k: number): number => {
    const [low, high] = [tailsAt(k), tailsAt(k + 1)];
    // Subtracts on the side where fewer digits cancel.
    return low[0] < high[1] ? high[0] - low[0] : low[1] - high[1];
  };
  const prior = Float64Array.from(seen, smoothed);
  const left = (a: number): number =>
    counts.reduce((s, n, i) => s + n * Math.log((n - 1 + a * prior[i]) / (total - 1 + a)), 0);
  const a = WEIGHTS.reduce((best, next) => (left(next) > left(best) ? next : best));
  const below = (k: number): number => (fewer(k) + a * tailsAt(k)[0]) / (total + a);
  const { least = -MOST, most = MOST } = bounds;
  return {
    logProbability: (k) => Math.log((countOf(k) + a * smoothed(k)) / (total + a)),
    tails: (k) => [below(k), (total - fewer(k) - countOf(k) + a * tailsAt(k + 1)[1]) / (total + a)],
    quantile: (share) => firstWhere(least, most, (k) => below(k + 1) > share),
  };
}

const MOST = 2 ** 52;
