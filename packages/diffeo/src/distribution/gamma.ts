/**
 * log Γ((ν + n)/2) − log Γ(ν/2) − (n/2) log νπ, the logarithm of Student's density at its centre,
 * accurate to rounding.
 *
 * The logarithms of Γ may be 1e6 and differ by 5, so they are not computed. Γ(a + 1) = aΓ(a) turns
 * integer steps into factors, and the half step for odd n is
 *
 *   Γ(a + ½)/Γ(a) = √a · e^{−S(a)},   S(a) = 1/8a − 1/192a³ + 1/640a⁵ − 17/14336a⁷ + 31/18432a⁹ − …
 *
 * (Stirling's series for log Γ(a + ½) − log Γ(a)), used for a ≥ 24 and reached by Γ(a + ½)/Γ(a) =
 * a/(a + ½) · Γ(a + 3/2)/Γ(a + 1). Each factor is divided by νπ, or by its root, and is then of
 * order 1. The factors are multiplied, and one logarithm is computed.
 */

/** Γ(a + ½)/Γ(a) */
function halfStep(a: number): number {
  let [x, factor] = [a, 1];
  for (; x < 24; x++) factor *= x / (x + 0.5);
  const r = 1 / (x * x);
  const series = (1 / 8 - r * (1 / 192 - r * (1 / 640 - r * (17 / 14336 - r * (31 / 18432))))) / x;
  return factor * Math.sqrt(x) * Math.exp(-series);
}

export function logStudentPeak(degrees: number, n: number): number {
  const half = n % 2;
  const unit = degrees * Math.PI;
  const start = (degrees + half) / 2;
  let log = 0;
  let product = half ? halfStep(degrees / 2) / Math.sqrt(unit) : 1;
  for (let k = 0; k < Math.floor(n / 2); k++) {
    product *= (start + k) / unit;
    if (product > 1e200 || product < 1e-200) {
      log += Math.log(product);
      product = 1;
    }
  }
  return log + Math.log(product);
}
