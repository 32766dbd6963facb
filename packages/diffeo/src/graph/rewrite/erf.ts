/**
 * erf for a float64 graph: ONNX Runtime has Erf in float32 only.
 *   |x| < 1   the series of `../erf.ts`, by Horner's rule        |x| ≥ 1   1 − t·Q(t)·exp(−x²)
 */
import { abs, add, mul, neg, sign, sub } from "../arithmetic.ts";
import { scaledErfc } from "../erf.ts";
import { less, where } from "../logic.ts";
import type { Tensor } from "../tensor.ts";
import { exp } from "../transcendental.ts";

const SERIES_TERMS = 24; // enough below |x| = 1: the 24th term is under 1e-17

/** erf as elementary operations. */
export function erfExpression(x: Tensor): Tensor {
  const a = abs(x);
  const square = mul(x, x);

  // Horner from the last term: 1 + r₁(1 + r₂(1 + …)), rₙ = 2x²/(2n+1).
  let series: Tensor = add(mul(square, 2 / (2 * SERIES_TERMS + 1)), 1);
  for (let n = SERIES_TERMS - 1; n >= 1; n--)
    series = add(mul(mul(square, 2 / (2 * n + 1)), series), 1);
  const small = mul(mul(mul(x, 2 / Math.sqrt(Math.PI)), exp(neg(square))), series);

  const large = mul(sign(x), sub(1, mul(scaledErfc(a), exp(neg(square)))));
  return where(less(a, 1), small, large);
}
