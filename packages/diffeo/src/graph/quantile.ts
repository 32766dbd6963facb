/**
 * The inverse of erf, and Φ⁻¹, the normal quantile. With z = Φ⁻¹(p), φ the density: z′ = 1/φ(z) =
 * √2π exp(z²/2). In a graph both are Wichura's three ratios of `normal.ts`, each evaluated only
 * where it is valid.
 */
import { abs, add, clip, div, maximum, minimum, mul, neg, square, sub } from "./arithmetic.ts";
import { unary } from "./elementwise.ts";
import { internal } from "./error.ts";
import { equal, greater, less, lessEqual, where } from "./logic.ts";
import { erfInverseValue, normalQuantileValue, ratios } from "./normal.ts";
import { asTensor, fill, type Operand, type Tensor } from "./tensor.ts";
import { exp, log, sqrt } from "./transcendental.ts";

/** A ratio of polynomials, by Horner's rule. */
function ratio(x: Tensor, [top, bottom]: readonly [readonly number[], readonly number[]]): Tensor {
  const horner = (c: readonly number[]): Tensor =>
    c
      .slice(0, -1)
      .reduceRight<Tensor>((sum, a) => add(mul(sum, x), a), fill([], c.at(-1) as number, x.dtype));
  return div(horner(top), horner(bottom));
}

/**
 * Φ⁻¹ from q = p − ½ and the smaller tail τ = min(p, 1 − p); ±∞ if τ is 0, NaN if it is negative.
 */
function quantileExpression(q: Tensor, tau: Tensor): Tensor {
  const some = greater(tau, 0);
  const r = sqrt(maximum(neg(log(where(some, tau, 0.5))), 0));
  const centre = mul(q, ratio(sub(0.180625, square(clip(q, -0.425, 0.425))), ratios.centre));
  const near = ratio(sub(minimum(r, 5), 1.6), ratios.tail);
  const far = ratio(sub(maximum(r, 5), 5), ratios.far);
  const size = where(lessEqual(r, 5), near, far);
  const none = where(equal(tau, 0), fill([], Number.POSITIVE_INFINITY, q.dtype), Number.NaN);
  const tail = where(some, size, none);
  return where(lessEqual(abs(q), 0.425), centre, where(less(q, 0), neg(tail), tail));
}

const erfInverseNode = unary("erfInverse", {
  f: erfInverseValue,
  vjp: (g, _, z) => mul(g, mul(exp(square(z)), Math.sqrt(Math.PI) / 2)), // (erf⁻¹)′ = √π/2 exp(z²)
  lower: (y) => mul(quantileExpression(mul(y, 0.5), mul(sub(1, abs(y)), 0.5)), Math.SQRT1_2),
  emit: () => internal("erfInverse is lowered before it is written"),
});

const normalQuantileNode = unary("normalQuantile", {
  f: normalQuantileValue,
  vjp: (g, _, z) => mul(g, mul(exp(mul(square(z), 0.5)), Math.sqrt(2 * Math.PI))),
  lower: (p) => quantileExpression(sub(p, 0.5), minimum(p, sub(1, p))),
  emit: () => internal("normalQuantile is lowered before it is written"),
});

/** The inverse of `erf`: x with erf(x) = y, for −1 ≤ y ≤ 1, element by element. */
export const erfInverse = (y: Operand): Tensor => erfInverseNode([asTensor(y)], {});
/**
 * The quantile function of the standard normal distribution: z with Φ(z) = p, for 0 ≤ p ≤ 1,
 * element by element.
 */
export const normalQuantile = (p: Operand): Tensor => normalQuantileNode([asTensor(p)], {});
