/**
 * Adapts M⁻¹ ≈ Cov[x] in the warm-up, in windows that double in length (M. Hoffman and A. Gelman,
 * 2014). The windows are Stan's: an initial phase of 75 draws, a final one of 50, and windows of
 * 25, 50, 100, … between them, the last of which takes the rest. A diagonal and a dense M⁻¹ are
 * covariances of the draws; a low-rank one is computed from draws and gradients (fisher.ts). The
 * state is plain data, so that a run can be continued.
 */
import { fisherMetric, type PointsState } from "./fisher.ts";
import type { MetricForm } from "./metric.ts";

/** The last draws of the windows, numbered from 1, and the start of the first window. */
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
    // A window takes the rest if the next one, twice as long, would not fit.
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

/** What the current window has learned of M⁻¹. */
export type LearnedState = CovarianceState | PointsState;

/** Estimates M⁻¹ from the points of a window. */
export interface MetricLearner {
  readonly state: LearnedState;
  add(x: Float64Array, slope: Float64Array): void;
  /** M⁻¹ in its form; undefined if the points do not determine it. */
  estimate(): Float64Array | undefined;
}

/** A learner of M⁻¹ in the given form that continues from `state`. */
export function metricLearner(n: number, form: MetricForm, state?: LearnedState): MetricLearner {
  if (form === "low-rank") return new WindowPoints(n, state as PointsState | undefined);
  return new RunningCovariance(n, form === "dense", state as CovarianceState | undefined);
}

/**
 * The windows of a low-rank metric, which needs only few points: from the fifth draw, 10, 20, 40, …
 * draws, the last of which takes the rest.
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

/** The most numbers of the draws of a window, and as many of their gradients. */
const MOST_NUMBERS = 2 ** 19;

/** Draws of a window with their gradients; later ones are left out if they are too many. */
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

/** Running mean and covariance of points (B. Welford, 1962). */
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

  /** The covariance, shrunk towards 10⁻³ I; more for fewer points. */
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
