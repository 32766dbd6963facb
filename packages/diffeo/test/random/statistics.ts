/**
 * p-values for the tests of this folder. Under the hypothesis a p-value is uniform on (0, 1), so
 * one below α comes with probability α. The streams are fixed, so a test that passes once always
 * passes: `ALPHA` is the probability below which a result counts as a fault.
 */
export const ALPHA = 1e-3;

/**
 * ln Γ(a) for half-integers and integers a > 0, by the recurrence down to Γ(1) = 1 or Γ(½) = √π.
 */
function logGamma(a: number): number {
  let sum = 0;
  let x = a;
  for (; x > 1; x--) sum += Math.log(x - 1);
  return x === 1 ? sum : sum + 0.5 * Math.log(Math.PI);
}

/**
 * Q(a, x) = Γ(a, x) / Γ(a): its series below the mean, its continued fraction (modified Lentz)
 * above.
 */
function gammaQ(a: number, x: number): number {
  if (x <= 0) return 1;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; term > sum * 1e-17; n++) sum += term *= x / (a + n);
    return 1 - scale * sum;
  }
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let n = 1, change = 0; Math.abs(change - 1) > 1e-16 && n < 1000; n++) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    change = c * d;
    h *= change;
  }
  return scale * h;
}

/** Φ(z) = ½ Q(½, z²/2) for z ≤ 0. */
export const normalCdf = (z: number): number =>
  z <= 0 ? gammaQ(0.5, (z * z) / 2) / 2 : 1 - normalCdf(-z);

/** How often a χ² of that many degrees of freedom is larger. */
const chiSquareP = (statistic: number, degrees: number): number =>
  gammaQ(degrees / 2, statistic / 2);

/** How many values fall into each of n bins; without `bin`, a value is its own. */
export function counted(
  values: ArrayLike<number>,
  n: number,
  bin: (value: number, i: number) => number = (value) => value,
): number[] {
  const counts = new Array<number>(n).fill(0);
  for (let i = 0; i < values.length; i++) counts[bin(values[i], i)]++;
  return counts;
}

/** Pearson's test of counts against probabilities. */
export function countsP(counts: readonly number[], probabilities: readonly number[]): number {
  const total = counts.reduce((a, b) => a + b, 0);
  const statistic = probabilities.reduce(
    (sum, p, i) => sum + (counts[i] - total * p) ** 2 / (total * p),
    0,
  );
  return chiSquareP(statistic, probabilities.length - 1);
}

export const evenly = (n: number): number[] => new Array(n).fill(1 / n);

/**
 * Kolmogorov and Smirnov's test of numbers that should be uniform on (0, 1), with Stephens'
 * correction for finite n.
 */
export function uniformP(values: Iterable<number>): number {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  let distance = 0;
  sorted.forEach((u, i) => {
    distance = Math.max(distance, u - i / n, (i + 1) / n - u);
  });
  const lambda = (Math.sqrt(n) + 0.12 + 0.11 / Math.sqrt(n)) * distance;
  // The alternating series; below λ = 0.3 it converges slowly and the answer is 1 to nine digits.
  if (lambda < 0.3) return 1;
  let p = 0;
  for (let k = 1; k <= 100; k++) p += (k % 2 ? 2 : -2) * Math.exp(-2 * k * k * lambda * lambda);
  return p;
}

/**
 * √n times the correlation of numbers with mean 0 and variance 1: standard normal if they are
 * independent.
 */
export function correlationZ(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = Math.min(a.length, b.length);
  let sum = 0;
  for (let i = 0; i < n; i++) sum += a[i] * b[i];
  return sum / Math.sqrt(n);
}

/** All of them standard normal and independent? */
export const zScoresP = (scores: readonly number[]): number =>
  chiSquareP(
    scores.reduce((sum, z) => sum + z * z, 0),
    scores.length,
  );
