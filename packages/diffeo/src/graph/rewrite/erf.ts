/**
 * erf for a float64 graph: ONNX Runtime has Erf in float32 only.
 *   |x| < 1   the series of `../erf.ts`, by Horner's rule
 *   |x| ≥ 1   1 − t·exp(−x² + P(t)),  t = 2/(2 + |x|): P is smooth on [0, 1], a short Chebyshev series
 * The coefficients are computed once from the series and the continued fraction, not copied.
 */
import { abs, add, div, mul, neg, sign, sub } from "../arithmetic.ts";
import { logErfcScaled } from "../erf.ts";
import { less, where } from "../logic.ts";
import { fill, type Tensor } from "../tensor.ts";
import { exp } from "../transcendental.ts";

const SERIES_TERMS = 24; // enough below |x| = 1: the 24th term is under 1e-17
const CHEBYSHEV_TERMS = 34;

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
