/**
 * erf(x) = 2/√π ∫₀ˣ exp(−t²) dt, to the last digits of float64.
 *
 * ONNX Runtime has Erf in float32 only, so a float64 graph needs erf as an expression. Both forms below rest on
 *   erf(x)  = (2x/√π) exp(−x²) Σₙ (2x²)ⁿ / (2n+1)!!      all terms positive: no cancellation, used for small |x|
 *   erfc(x) = t · exp(−x² + P(t)),  t = 2/(2 + x), x ≥ 0   P smooth on [0, 1]: a short Chebyshev series
 * The Chebyshev coefficients are computed once from the first form and the continued fraction, not copied.
 */
import { abs, add, div, exp, mul, neg, sign, sub } from "./elementwise.ts";
import { less, where } from "./logic.ts";
import { fill, type Tensor } from "./tensor.ts";

const SERIES_TERMS = 24; // enough below |x| = 1: the 24th term is under 1e-17
const CHEBYSHEV_TERMS = 34;

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
const logErfcScaled = (x: number): number => (x < 1.5 ? Math.log1p(-seriesErf(x)) + x * x : tailLog(x));

export function erfValue(x: number): number {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? x : Math.sign(x);
  const a = Math.abs(x);
  return Math.sign(x) * (a < 1.5 ? seriesErf(a) : 1 - Math.exp(tailLog(a) - a * a));
}

/** Chebyshev coefficients of P(t) = log(erfc(x)/t) + x² in s = 2t − 1, by the discrete cosine sum. */
function chebyshev(): number[] {
  const nodes = 4 * CHEBYSHEV_TERMS;
  const values = Array.from({ length: nodes }, (_, k) => {
    const t = (1 + Math.cos((Math.PI * (k + 0.5)) / nodes)) / 2;
    return logErfcScaled(2 / t - 2) - Math.log(t);
  });
  return Array.from({ length: CHEBYSHEV_TERMS }, (_, j) => {
    const sum = values.reduce((s, v, k) => s + v * Math.cos((Math.PI * j * (k + 0.5)) / nodes), 0);
    return ((j === 0 ? 1 : 2) * sum) / nodes;
  });
}

const coefficients = /* @__PURE__ */ chebyshev();

/** erf as elementary operations, for a float64 graph. */
export function erfExpression(x: Tensor): Tensor {
  const a = abs(x);
  const square = mul(x, x);

  // Horner from the last term: 1 + r₁(1 + r₂(1 + …)), rₙ = 2x²/(2n+1).
  let series: Tensor = add(mul(square, 2 / (2 * SERIES_TERMS + 1)), 1);
  for (let n = SERIES_TERMS - 1; n >= 1; n--) series = add(mul(mul(square, 2 / (2 * n + 1)), series), 1);
  const small = mul(mul(mul(x, 2 / Math.sqrt(Math.PI)), exp(neg(square))), series);

  // Clenshaw's recurrence for Σ c_j T_j(s).
  const t = div(2, add(a, 2));
  const s = sub(mul(t, 2), 1);
  let b1: Tensor = fill([], 0, x.dtype);
  let b2: Tensor = b1;
  for (let j = CHEBYSHEV_TERMS - 1; j >= 1; j--) [b1, b2] = [add(sub(mul(mul(s, 2), b1), b2), coefficients[j]), b1];
  const log = sub(add(sub(mul(s, b1), b2), coefficients[0]), square);
  const large = mul(sign(x), sub(1, mul(t, exp(log))));

  return where(less(a, 1), small, large);
}
