/**
 * What a chain learns of M⁻¹ ≈ Cov[x] before its draws count, in windows that double in length (M.
 * Hoffman and A. Gelman, 2014; the windows of Stan: 75 draws at first, 50 at last, between them 25,
 * 50, 100, …, the last one as long as there is room). A diagonal and a dense M⁻¹ are covariances of
 * the draws, a low-rank one is made from draws and slopes (fisher.ts). What a chain has learned so
 * far is plain data, for a run that is continued.
 */
import { fisherMetric, type PointsState } from "./fisher.ts";
import type { MetricForm } from "./metric.ts";

/**
 * The last draws of the windows in which M⁻¹ is learned, numbered from 1, and where the first
 * begins.
 */
export function windows(warmup: number): {
  readonly from: number;
  readonly ends: readonly number[];
} {
  if (warmup < 20) return { from: warmup, ends: [] };
  const whole = warmup >= 150;
  const from = whole ? 75 : Math.round(0.15 * warmup);
  const last = warmup - (whole ? 50 : Math.round(0.1 * warmup));
  const ends: number[] = [];
  let [at, length] = [from, whole ? 25 : last - from];
  while (at + length < last) {
    // A window that would leave no room for one twice as long takes what is left.
    if (at + length + 2 * length > last) length = last - at;
    at += length;
    ends.push(at);
    length *= 2;
  }
  if (ends.at(-1) !== last) ends.push(last);
  return { from, ends };
}

export interface CovarianceState {
  readonly count: number;
  readonly mean: Float64Array;
  /** Σ (x − x̄)(x − x̄)ᵀ, or its diagonal. */
  readonly squares: Float64Array;
}

/** What a chain has learned of M⁻¹ in the current window. */
export type LearnedState = CovarianceState | PointsState;

/** What learns M⁻¹ from the points of a window. */
export interface MetricLearner {
  readonly state: LearnedState;
  add(x: Float64Array, slope: Float64Array): void;
  /** M⁻¹ in its form; undefined where the points do not tell it. */
  estimate(): Float64Array | undefined;
}

/** A learner of M⁻¹ in a form, with what it has learned before. */
export function metricLearner(n: number, form: MetricForm, state?: LearnedState): MetricLearner {
  if (form === "low-rank") return new WindowPoints(n, state as PointsState | undefined);
  return new RunningCovariance(n, form === "dense", state as CovarianceState | undefined);
}

/**
 * The windows of a low-rank metric, which few points teach enough to travel faster: from the fifth
 * draw, 10, 20, 40, … draws, the last one as long as there is room.
 */
export function shortWindows(warmup: number): ReturnType<typeof windows> {
  if (warmup < 20) return { from: warmup, ends: [] };
  const last = warmup - (warmup >= 150 ? 50 : Math.round(0.1 * warmup));
  const from = Math.min(5, last);
  const ends: number[] = [];
  for (let [at, length] = [from, 10]; at < last; length *= 2) {
    at = at + 3 * length > last ? last : at + length;
    ends.push(at);
  }
  return { from, ends };
}

/** Numbers that the draws of a window may have, and as many of their slopes. */
const MOST_NUMBERS = 2 ** 19;

/** Draws of a window with their slopes, the first ones where they would be too many. */
class WindowPoints implements MetricLearner {
  readonly #n: number;
  readonly #most: number;
  readonly #points: Float64Array[];
  readonly #slopes: Float64Array[];

  constructor(n: number, state?: PointsState) {
    const rows = (all: Float64Array): Float64Array[] =>
      Array.from({ length: all.length / n }, (_, i) => all.subarray(i * n, (i + 1) * n));
    this.#n = n;
    this.#most = Math.max(16, Math.floor(MOST_NUMBERS / n));
    this.#points = state ? rows(state.points) : [];
    this.#slopes = state ? rows(state.slopes) : [];
  }

  get state(): PointsState {
    const whole = (rows: readonly Float64Array[]): Float64Array => {
      const all = new Float64Array(rows.length * this.#n);
      rows.forEach((row, i) => {
        all.set(row, i * this.#n);
      });
      return all;
    };
    return { points: whole(this.#points), slopes: whole(this.#slopes) };
  }

  add(x: Float64Array, slope: Float64Array): void {
    if (this.#points.length === this.#most) return;
    this.#points.push(x.slice());
    this.#slopes.push(slope.slice());
  }

  estimate(): Float64Array | undefined {
    return fisherMetric(this.state, this.#n);
  }
}

/** Mean and covariance of points that come one by one (B. Welford, 1962). */
export class RunningCovariance implements MetricLearner {
  readonly #dense: boolean;
  state: CovarianceState;

  constructor(n: number, dense: boolean, state?: CovarianceState) {
    this.#dense = dense;
    this.state = state ?? {
      count: 0,
      mean: new Float64Array(n),
      squares: new Float64Array(dense ? n * n : n),
    };
  }

  add(x: Float64Array): void {
    const { mean, squares } = this.state;
    const n = x.length;
    const count = this.state.count + 1;
    const before = x.map((v, i) => v - mean[i]);
    const centre = mean.map((m, i) => m + before[i] / count);
    const after = x.map((v, i) => v - centre[i]);
    const sums = this.#dense
      ? squares.map((s, at) => s + before[Math.floor(at / n)] * after[at % n])
      : squares.map((s, i) => s + before[i] * after[i]);
    this.state = { count, mean: centre, squares: sums };
  }

  /** The covariance drawn a little towards 10⁻³ I, the more the fewer points there are. */
  estimate(): Float64Array {
    const { count, mean, squares } = this.state;
    const n = mean.length;
    const share = count / (count + 5);
    return squares.map((s, i) => {
      const diagonal = !this.#dense || i % (n + 1) === 0;
      return (share * s) / (count - 1) + (diagonal ? (1 - share) * 1e-3 : 0);
    });
  }
}
