/**
 * erf(x) = 2/√π ∫₀ˣ exp(−t²) dt, one number at a time, to the last digits of float64:
 *   erf(x)  = (2x/√π) exp(−x²) Σₙ (2x²)ⁿ / (2n+1)!!      all terms positive: no cancellation, used for small |x|
 *   erfc(x) = exp(−x²)/√π · 1/(x + ½/(x + 1/(x + …)))     the continued fraction, for large x
 */

function seriesErf(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** log(erfc(x)) + x² for x ≥ 1.5 by Lentz-free backward recurrence of the continued fraction, whose depth is generous. */
function tailLog(x: number): number {
  let fraction = 0;
  for (let n = 200; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return -Math.log((x + fraction) * Math.sqrt(Math.PI));
}

/** log(erfc(x)) + x² for x ≥ 0. */
export const logErfcScaled = (x: number): number => (x < 1.5 ? Math.log1p(-seriesErf(x)) + x * x : tailLog(x));

export function erfValue(x: number): number {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? x : Math.sign(x);
  const a = Math.abs(x);
  return Math.sign(x) * (a < 1.5 ? seriesErf(a) : 1 - Math.exp(tailLog(a) - a * a));
}
