/**
 * Convergence diagnostics: rank-normalised split R̂, bulk and tail effective sample sizes and Monte
 * Carlo standard errors of A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner,
 * "Rank-normalization, folding, and localization", Bayesian Analysis 16, 2021.
 *
 *   R̂² = V⁺/W          V⁺ = (n−1)/n W + B/n,  W and B the variances within and between the halves of the chains
 *   ESS = M n/τ         τ = 1 + 2 Σ ρ_t,  ρ_t = 1 − (W − mean autocovariance at lag t)/V⁺
 *
 * The sum ends where ρ_{2k} + ρ_{2k+1} becomes negative, and its terms are made monotone (C. Geyer,
 * 1992).
 *
 * The draws of a quantity are one array per chain.
 */
import { normalQuantileValue } from "../graph/normal.ts";
import { mean, quantile, sumOfSquares } from "../host/index.ts";

export type ChainDraws = readonly Float64Array[];

const variance = (values: ArrayLike<number>): number => sumOfSquares(values) / (values.length - 1);

/**
 * Splits each chain into halves, which disagree if the chain drifts. With an odd number of draws
 * the middle one is left out.
 */
const halves = (chains: ChainDraws): ChainDraws =>
  chains.flatMap((chain) => {
    const half = Math.floor(chain.length / 2);
    return [chain.subarray(0, half), chain.subarray(chain.length - half)];
  });

/**
 * Replaces draws by normal scores of their ranks among all draws, z = Φ⁻¹((r − 3/8)/(S + 1/4)).
 * Ties share their mean rank.
 */
function normalScores(chains: ChainDraws): ChainDraws {
  const n = chains[0].length;
  const all = new Float64Array(chains.length * n);
  chains.forEach((chain, c) => {
    all.set(chain, c * n);
  });
  const order = Uint32Array.from(all.keys()).sort((a, b) => all[a] - all[b]);
  const scores = new Float64Array(all.length);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && all[order[to]] === all[order[from]]) to++;
    const z = normalQuantileValue(((from + 1 + to) / 2 - 0.375) / (all.length + 0.25));
    for (let i = from; i < to; i++) scores[order[i]] = z;
    from = to;
  }
  return chains.map((_, c) => scores.subarray(c * n, (c + 1) * n));
}

const mapDraws = (chains: ChainDraws, f: (v: number) => number): ChainDraws =>
  chains.map((chain) => chain.map(f));

const allOf = (chains: ChainDraws): Float64Array =>
  Float64Array.from(chains.flatMap((chain) => [...chain]));

const finite = (chains: ChainDraws): boolean =>
  chains.every((chain) => chain.every(Number.isFinite));

const isConstant = (chains: ChainDraws): boolean =>
  chains.every((chain) => chain.every((v) => v === chains[0][0]));

/** W and V⁺ of chains of one length. */
function spread(chains: ChainDraws): { readonly within: number; readonly total: number } {
  const n = chains[0].length;
  const within = mean(chains.map(variance));
  const between = chains.length > 1 ? variance(chains.map(mean)) : 0;
  return { within, total: ((n - 1) / n) * within + between };
}

function plainRhat(chains: ChainDraws): number {
  const { within, total } = spread(chains);
  return Math.sqrt(total / within);
}

/**
 * The rank-normalised split R̂: the greater value of that of the draws and that of their distances
 * from the median. It is near 1 if the chains agree in location and spread. NaN for draws that are
 * constant or not finite.
 */
export function rhat(chains: ChainDraws): number {
  if (!finite(chains) || isConstant(chains)) return Number.NaN;
  const split = halves(chains);
  const median = quantile(allOf(split), 0.5);
  const folded = mapDraws(split, (v) => Math.abs(v - median));
  return Math.max(plainRhat(normalScores(split)), plainRhat(normalScores(folded)));
}

/**
 * Autocovariances Σ_i (x_i − x̄)(x_{i+t} − x̄)/n at all lags t, as the inverse transform of |x̂|²,
 * padded so that lags do not wrap around.
 */
function autocovariance(chain: Float64Array): Float64Array {
  const n = chain.length;
  const size = 2 ** Math.ceil(Math.log2(2 * n));
  const centre = mean(chain);
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  for (let i = 0; i < n; i++) re[i] = chain[i] - centre;
  fourier(re, im);
  for (let k = 0; k < size; k++) {
    re[k] = re[k] ** 2 + im[k] ** 2;
    im[k] = 0;
  }
  // |x̂|² is even, so the forward transform is the inverse one up to the factor `size`.
  fourier(re, im);
  return re.subarray(0, n).map((v) => v / (n * size));
}

/**
 * The discrete Fourier transform in place, for lengths that are powers of two (J. Cooley and J.
 * Tukey, 1965).
 */
function fourier(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k++) {
      const angle = (-2 * Math.PI * k) / size;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let at = k; at < n; at += size) {
        const to = at + half;
        const [x, y] = [c * re[to] - s * im[to], c * im[to] + s * re[to]];
        re[to] = re[at] - x;
        im[to] = im[at] - y;
        re[at] += x;
        im[at] += y;
      }
    }
  }
}

/** The effective sample size for the mean, without ranks or splitting. */
function plainEss(chains: ChainDraws): number {
  const n = chains[0].length;
  const draws = chains.length * n;
  const covariances = chains.map(autocovariance);
  const { within, total } = spread(chains);
  const rho = (t: number): number => 1 - (within - mean(covariances.map((c) => c[t]))) / total;
  // Pairs P_k = ρ_{2k} + ρ_{2k+1}, ρ_0 = 1, while they are positive; each is at most the one
  // before.
  let pair = 1 + rho(1);
  let sum = 0;
  let t = 0;
  let last = Number.POSITIVE_INFINITY;
  while (t < n - 4 && pair > 0) {
    last = Math.min(last, pair);
    sum += last;
    t += 2;
    pair = rho(t) + rho(t + 1);
  }
  // A last even term that is positive is included without its pair: otherwise the sum of antithetic
  // chains would be too small.
  const tau = -1 + 2 * sum + (t > 0 ? Math.max(0, rho(t)) : 0);
  // A larger effective sample size of antithetic chains would be due to chance.
  return draws / Math.max(tau, 1 / Math.log10(draws));
}

/** The effective sample size for the mean. */
export const meanEss = (chains: ChainDraws): number =>
  !finite(chains) || isConstant(chains) ? Number.NaN : plainEss(halves(chains));

/**
 * The bulk effective sample size, of rank-normalised draws: it tells how precise estimates of the
 * mean and the median are. NaN for draws that are constant or not finite.
 */
export const bulkEss = (chains: ChainDraws): number =>
  !finite(chains) || isConstant(chains) ? Number.NaN : plainEss(normalScores(halves(chains)));

/**
 * The tail effective sample size: the smaller one of those for the 5 % and the 95 % quantile. NaN
 * for draws that are constant or not finite.
 */
export function tailEss(chains: ChainDraws): number {
  if (!finite(chains)) return Number.NaN;
  const all = allOf(chains);
  return Math.min(
    ...[0.05, 0.95].map((share) => {
      const bound = quantile(all, share);
      return meanEss(mapDraws(chains, (v) => (v <= bound ? 1 : 0)));
    }),
  );
}

/** The Monte Carlo standard error of the mean. */
export const meanError = (chains: ChainDraws): number =>
  Math.sqrt(variance(allOf(chains)) / meanEss(chains));

/**
 * The Monte Carlo standard error of the standard deviation, from that of the mean of c = (x − x̄)²
 * by the delta method, Var[√c̄] ≈ Var[c̄]/(4 c̄).
 */
export function sdError(chains: ChainDraws): number {
  const centre = mean(allOf(chains));
  const squares = mapDraws(chains, (v) => (v - centre) ** 2);
  return meanError(squares) / (2 * Math.sqrt(mean(allOf(squares))));
}

/** Summary of the draws of one number: moments, quantiles, effective sample sizes and R̂. */
export interface Summary {
  readonly mean: number;
  readonly sd: number;
  readonly q5: number;
  readonly median: number;
  readonly q95: number;
  /** Monte Carlo standard errors of the mean and of the standard deviation. */
  readonly meanError: number;
  readonly sdError: number;
  readonly bulkEss: number;
  readonly tailEss: number;
  readonly rhat: number;
}

/** Summarises the draws of one number, one array per chain. */
export function summarise(chains: ChainDraws): Summary {
  const all = allOf(chains);
  return {
    mean: mean(all),
    sd: Math.sqrt(variance(all)),
    q5: quantile(all, 0.05),
    median: quantile(all, 0.5),
    q95: quantile(all, 0.95),
    meanError: meanError(chains),
    sdError: sdError(chains),
    bulkEss: bulkEss(chains),
    tailEss: tailEss(chains),
    rhat: rhat(chains),
  };
}
