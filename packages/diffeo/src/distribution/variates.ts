/**
 * Exact samples of single numbers, from the sequence of random numbers of one key.
 *
 *   Gamma(a, 1)   d(1 + cz)³ where log u < ½z² + d − dv + d log v, v = (1 + cz)³, d = a − ⅓,
 *                 c = 1/√(9d) (G. Marsaglia and W. Tsang, 2000); for a < 1, Gamma(a + 1) U^{1/a}
 *   Poisson, binomial   in halves, by order statistics (J. Ahrens and U. Dieter, 1974), down to
 *                 sizes at which the distribution function is searched
 *   von Mises     by a wrapped Cauchy envelope (D. Best and N. Fisher, 1979)
 */
import type { Sequence } from "../random/index.ts";

/** The logarithm of a Gamma(a, 1) variate; for small a the variate itself would underflow. */
export function logGammaVariate(random: Sequence, a: number): number {
  if (a < 1) return logGammaVariate(random, a + 1) + Math.log(random.uniform()) / a;
  const d = a - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const z = random.normal();
    const u = random.uniform();
    const v = (1 + c * z) ** 3;
    if (v > 0 && Math.log(u) < z * z * 0.5 + d - d * v + d * Math.log(v)) return Math.log(d * v);
  }
}

export const gammaVariate = (random: Sequence, a: number): number =>
  Math.exp(logGammaVariate(random, a));

/** X/(X + Y) of X ~ Gamma(a), Y ~ Gamma(b), from their logarithms. */
export function betaVariate(random: Sequence, a: number, b: number): number {
  const x = logGammaVariate(random, a);
  return 1 / (1 + Math.exp(logGammaVariate(random, b) - x));
}

/** Below this size the distribution function is searched. */
const SMALL = 20;

/**
 * A Poisson process has its m-th point at the time X ~ Gamma(m). If X is less than the rate, the
 * rest is a Poisson process for the remaining time; else the m − 1 points before X are uniform.
 */
export function poissonVariate(random: Sequence, rate: number): number {
  let [count, left] = [0, rate];
  while (left > SMALL) {
    const m = Math.floor(left * 0.875);
    const x = gammaVariate(random, m);
    if (x > left) return count + binomialVariate(random, m - 1, left / x);
    count += m;
    left -= x;
  }
  const u = random.uniform();
  let p = Math.exp(-left);
  let k = 0;
  for (let total = p; u > total && p > 0; total += p) p *= left / ++k;
  return count + k;
}

/**
 * The a-th smallest of n uniform numbers is X ~ Beta(a, n + 1 − a). If X ≤ p, a of them are below
 * p, and the others are uniform above X; else only some of the a − 1 below X can be below p.
 */
export function binomialVariate(random: Sequence, n: number, p: number): number {
  let [count, size, share] = [0, n, p];
  while (size > SMALL) {
    const a = 1 + Math.floor(size / 2);
    const x = betaVariate(random, a, size + 1 - a);
    if (x <= share) {
      count += a;
      size -= a;
      share = (share - x) / (1 - x);
    } else {
      size = a - 1;
      share /= x;
    }
  }
  for (let k = 0; k < size; k++) if (random.uniform() < share) count++;
  return count;
}

/** A von Mises variate in (−π, π] around 0. */
export function vonMisesVariate(random: Sequence, kappa: number): number {
  if (kappa < 1e-8) return Math.PI * (2 * random.uniform() - 1);
  const tau = 1 + Math.sqrt(1 + 4 * kappa * kappa);
  const rho = (tau - Math.sqrt(2 * tau)) / (2 * kappa);
  const r = (1 + rho * rho) / (2 * rho);
  for (;;) {
    const z = Math.cos(Math.PI * random.uniform());
    const f = (1 + r * z) / (r + z);
    const c = kappa * (r - f);
    const u = random.uniform();
    const sign = random.uniform() < 0.5 ? -1 : 1;
    if (c * (2 - c) > u || Math.log(c / u) + 1 >= c) return sign * Math.acos(f);
  }
}
