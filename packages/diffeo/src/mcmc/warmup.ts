/**
 * What a chain learns before its draws count: the step size by dual averaging, and the inverse mass matrix M⁻¹ ≈ Cov[x] in
 * windows that double in length (M. Hoffman and A. Gelman, 2014; the windows of Stan: 75 draws at first, 50 at last,
 * between them 25, 50, 100, …, the last one as long as there is room).
 *
 *   log ε_m = μ − √m/γ · 1/(m + t₀) Σ (δ − α_i),   log ε̄_m = m^{−κ} log ε_m + (1 − m^{−κ}) log ε̄_{m−1}
 */

export class DualAverage {
  readonly #target: number;
  #centre = 0;
  #count = 0;
  #error = 0;
  #logSize = 0;
  #logMean = 0;

  constructor(target: number, size: number) {
    this.#target = target;
    this.restart(size);
  }

  /** Begins anew around a size, tried ten times as large: large steps are cheap to try. */
  restart(size: number): void {
    this.#centre = Math.log(10 * size);
    [this.#count, this.#error] = [0, 0];
    [this.#logSize, this.#logMean] = [Math.log(size), 0];
  }

  /** Takes the acceptance of one transition. */
  add(acceptance: number): void {
    const m = ++this.#count;
    const weight = 1 / (m + 10);
    this.#error += weight * (this.#target - acceptance - this.#error);
    this.#logSize = this.#centre - (this.#error * Math.sqrt(m)) / 0.05;
    const share = m ** -0.75;
    this.#logMean += share * (this.#logSize - this.#logMean);
  }

  /** The size to try next. */
  get size(): number {
    return Math.exp(this.#logSize);
  }

  /** The size to keep. */
  get settled(): number {
    return this.#count === 0 ? Math.exp(this.#logSize) : Math.exp(this.#logMean);
  }
}

/** The last draws of the windows in which M⁻¹ is learned, numbered from 1, and where the first begins. */
export function windows(warmup: number): { readonly from: number; readonly ends: readonly number[] } {
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

/** Mean and covariance of points that come one by one (B. Welford, 1962). */
export class Covariance {
  readonly #dense: boolean;
  #count = 0;
  #mean: Float64Array;
  /** Σ (x − x̄)(x − x̄)ᵀ, or its diagonal. */
  #squares: Float64Array;

  constructor(n: number, dense: boolean) {
    this.#dense = dense;
    this.#mean = new Float64Array(n);
    this.#squares = new Float64Array(dense ? n * n : n);
  }

  add(x: Float64Array): void {
    const n = x.length;
    this.#count++;
    const before = x.map((v, i) => v - this.#mean[i]);
    this.#mean = this.#mean.map((m, i) => m + before[i] / this.#count);
    const after = x.map((v, i) => v - this.#mean[i]);
    if (!this.#dense) for (let i = 0; i < n; i++) this.#squares[i] += before[i] * after[i];
    else for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) this.#squares[i * n + j] += before[i] * after[j];
  }

  /** The covariance drawn a little towards 10⁻³ I, the more the fewer points there are. */
  estimate(): Float64Array {
    const count = this.#count;
    const n = this.#mean.length;
    const share = count / (count + 5);
    return this.#squares.map((s, i) => {
      const diagonal = !this.#dense || i % (n + 1) === 0;
      return (share * s) / (count - 1) + (diagonal ? (1 - share) * 1e-3 : 0);
    });
  }
}
