/**
 * k̂, the shape of the tail of importance ratios: a generalised Pareto distribution is fitted to
 * the largest ones (A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, "Pareto smoothed
 * importance sampling", 2024). Below ½ ratios have a finite variance. Above 0.7 importance sampling
 * fails for any practical number of draws.
 *
 * The fit is that of J. Zhang and M. Stephens (2009): with b = −k/σ and k(b) = mean log(1 − b x),
 * the profile likelihood
 *
 *   ℓ(b) = n(log(−b/k(b)) − k(b) − 1)
 *
 * weights a grid of b that depends on the data, and k̂ = k(Σ b w), w ∝ e^ℓ.
 */

/**
 * The shape and the scale of a generalised Pareto distribution, P(X > x) = (1 + k x/σ)^{−1/k}, from
 * draws x > 0.
 */
export function paretoFit(draws: ArrayLike<number>): {
  readonly k: number;
  readonly sigma: number;
} {
  const x = Float64Array.from(draws).sort();
  const n = x.length;
  const grid = 30 + Math.floor(Math.sqrt(n));
  const quartile = x[Math.floor(n / 4 + 0.5) - 1];
  const shapeOf = (b: number): number => x.reduce((total, v) => total + Math.log1p(-b * v), 0) / n;
  const bs = Float64Array.from(
    { length: grid },
    (_, j) => 1 / x[n - 1] + (1 - Math.sqrt(grid / (j + 0.5))) / (3 * quartile),
  );
  const likelihoods = bs.map((b) => {
    const k = shapeOf(b);
    return n * (Math.log(-b / k) - k - 1);
  });
  const most = likelihoods.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let [total, sum] = [0, 0];
  bs.forEach((b, j) => {
    const weight = Math.exp(likelihoods[j] - most);
    total += weight;
    sum += weight * b;
  });
  const b = sum / total;
  const k = shapeOf(b);
  return { k, sigma: -k / b };
}

/** A prior with the weight of ten draws keeps k̂ near ½ if there are few draws. */
const withPrior = (k: number, count: number): number => (k * count + 0.5 * 10) / (count + 10);

/** The number of ratios in the tail. */
const tailLength = (count: number, efficiency: number): number =>
  Math.ceil(Math.min(count / 5, 3 * Math.sqrt(count / efficiency)));

/** k̂ of log importance ratios, known up to a common constant. */
export const paretoShape = (logRatios: ArrayLike<number>): number => smoothedTail(logRatios, 1).k;

/**
 * Log importance ratios whose largest values are replaced by quantiles at (i − ½)/M of the
 * generalised Pareto distribution fitted to their tail, at most the largest ratio. They are shifted
 * so that the greatest is 0.
 *
 * @param efficiency effective draws per draw
 */
export function smoothedTail(
  logRatios: ArrayLike<number>,
  efficiency: number,
): { readonly logWeights: Float64Array; readonly k: number } {
  const ratios = Float64Array.from(logRatios);
  const count = ratios.length;
  const most = ratios.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const logWeights = ratios.map((r) => r - most);
  const tail = tailLength(count, efficiency);
  if (tail < 5 || ratios.some((r) => !Number.isFinite(r)))
    return { logWeights, k: Number.POSITIVE_INFINITY };
  const order = Uint32Array.from(ratios.keys()).sort((a, b) => logWeights[a] - logWeights[b]);
  const bound = Math.exp(logWeights[order[count - tail - 1]]);
  const places = order.subarray(count - tail);
  const beyond = Float64Array.from(places, (i) => Math.exp(logWeights[i]) - bound);
  // If all ratios are equal there is no tail: the approximation is exact.
  if (!(beyond[0] > 0 && beyond[tail - 1] > 1e-12))
    return { logWeights, k: Number.NEGATIVE_INFINITY };
  const { k: fitted, sigma } = paretoFit(beyond);
  const k = withPrior(fitted, tail);
  if (Number.isFinite(k))
    places.forEach((place, i) => {
      const p = (i + 0.5) / tail;
      const quantile =
        Math.abs(k) < 1e-15
          ? -sigma * Math.log1p(-p)
          : (sigma * Math.expm1(-k * Math.log1p(-p))) / k;
      logWeights[place] = Math.min(0, Math.log(quantile + bound));
    });
  return { logWeights, k };
}
