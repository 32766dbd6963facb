/**
 * k̂, the shape of the tail of importance ratios: a generalised Pareto law is fitted to the largest
 * ones (A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, "Pareto smoothed importance sampling",
 * 2024). Below ½ ratios have a variance; above 0.7 no usual number of draws makes up for what an
 * approximation misses.
 *
 * The fit is that of J. Zhang and M. Stephens (2009): with b = −k/σ and k(b) = mean log(1 − b x),
 * the profile likelihood
 *
 *   ℓ(b) = n(log(−b/k(b)) − k(b) − 1)
 *
 * is averaged over a grid of b that follows the data, and k̂ = k(Σ b w), w ∝ e^ℓ.
 */

/**
 * The shape and the scale of a generalised Pareto law, P(X > x) = (1 + k x/σ)^{−1/k}, from draws x
 * > 0.
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

/**
 * k̂ of log importance ratios, each up to one constant. A prior worth ten draws holds it near ½
 * where there are few.
 */
export function paretoShape(logRatios: ArrayLike<number>): number {
  const sorted = Float64Array.from(logRatios).sort();
  const count = sorted.length;
  const tail = Math.ceil(Math.min(count / 5, 3 * Math.sqrt(count)));
  if (tail < 5 || sorted.some((r) => !Number.isFinite(r))) return Number.POSITIVE_INFINITY;
  const most = sorted[count - 1];
  const bound = Math.exp(sorted[count - tail - 1] - most);
  const beyond = sorted.subarray(count - tail).map((r) => Math.exp(r - most) - bound);
  // Ratios that are all alike have no tail: the approximation is the posterior.
  if (!(beyond[0] > 0 && beyond[tail - 1] > 1e-12)) return Number.NEGATIVE_INFINITY;
  const { k } = paretoFit(beyond);
  return (k * tail + 0.5 * 10) / (tail + 10);
}
