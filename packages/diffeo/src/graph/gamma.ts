/**
 * The logarithm of the gamma function and its derivatives, for x > 0: Stirling's series at z = x +
 * N, and the recurrence Γ(x + 1) = xΓ(x) back to x, j = 0 … N − 1,
 *
 *   log Γ(x) = log Γ(x + N) − Σ_j log(x + j)
 *   ψ_m(x)   = ψ_m(x + N) − (−1)ᵐ m! Σ_j (x + j)^{−m−1}
 *   log Γ(z) ~ (z − ½)(log z − 1) − ½ + ½ log 2π + Σ_k B₂ₖ/(2k(2k − 1)) z^{1−2k}
 *   ψ₀(z)    ~ log z − 1/2z − Σ_k B₂ₖ/2k z^{−2k}
 *   ψ_m(z)   ~ (−1)^{m+1} [(m − 1)!/zᵐ + m!/2z^{m+1} + Σ_k B₂ₖ (2k + m − 1)!/(2k)! z^{−2k−m}]
 *
 * for m ≥ 1, with ψ_m the derivative of order m + 1. The error is a few roundings of max(1, |f|):
 * log Γ has zeros at 1 and 2, ψ₀ at 1.4616, and near them the terms cancel.
 */
import { add, div, minimum, mul, square, sub } from "./arithmetic.ts";
import { outsideExpand, sum } from "./broadcast.ts";
import { unary } from "./elementwise.ts";
import { fail, internal } from "./error.ts";
import { greaterEqual, less, where } from "./logic.ts";
import { mapUnary } from "./loops.ts";
import type { DType } from "./ndarray.ts";
import { expandDims } from "./shape.ts";
import {
  asTensor,
  fill,
  type Make,
  type Operand,
  primitive,
  rebuild,
  requireFloat,
  type Tensor,
} from "./tensor.ts";
import { log, pow } from "./transcendental.ts";

/**
 * N, at which the series is exact to rounding; m is −1 for log Γ. For larger N more terms cancel.
 */
const shiftFor = (m: number, dtype: DType = "float64"): number =>
  dtype === "float32" ? 4 + Math.max(0, m) : 8 + 2 * Math.max(0, m);
/** B₂, B₄, … */
const bernoulli = [
  1 / 6,
  -1 / 30,
  1 / 42,
  -1 / 30,
  5 / 66,
  -691 / 2730,
  7 / 6,
  -3617 / 510,
  43867 / 798,
  -174611 / 330,
];
const HALF_LOG_TAU = 0.5 * Math.log(2 * Math.PI);

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
/** a (a + 1) … b */
const rising = (a: number, b: number): number => (a > b ? 1 : a * rising(a + 1, b));

/** Coefficients of w⁰, w¹, … with w = z^{−2} in Stirling's series, after its first terms. */
const gammaTerms = bernoulli.map((b, k) => b / (2 * (k + 1) * (2 * k + 1)));
const polygammaTerms = (m: number): number[] =>
  bernoulli.map((b, i) => (m === 0 ? -b / (2 * i + 2) : b * rising(2 * i + 3, 2 * i + m + 1)));

const hornerValue = (c: readonly number[], w: number): number =>
  c.reduceRight((total, a) => total * w + a, 0);
const horner = (c: readonly number[], w: Tensor): Tensor =>
  c
    .slice(0, -1)
    .reduceRight<Tensor>(
      (total, a) => add(mul(total, w), a),
      fill([], c.at(-1) as number, w.dtype),
    );

const below = (n: number): number[] => Array.from({ length: n }, (_, j) => j);

function logGammaValue(x: number): number {
  if (x < 0) return Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  const shift = shiftFor(-1);
  const far = x >= shift;
  const z = far ? x : x + shift;
  const stirling =
    (z - 0.5) * (Math.log(z) - 1) + (HALF_LOG_TAU - 0.5) + hornerValue(gammaTerms, 1 / z / z) / z;
  return far
    ? stirling
    : stirling - Math.log(below(shift).reduce((product, j) => product * (x + j), 1));
}

/** ψ_m */
function polygammaValue(m: number, x: number): number {
  if (x < 0) return Number.NaN;
  const shift = shiftFor(m);
  const far = x >= shift;
  const z = far ? x : x + shift;
  const sign = m % 2 === 0 ? -1 : 1;
  const rest = hornerValue(polygammaTerms(m), 1 / z / z);
  const series =
    m === 0
      ? Math.log(z) - 0.5 / z + rest / z / z
      : sign * z ** -m * (factorial(m - 1) + factorial(m) / 2 / z + rest / z / z);
  return far
    ? series
    : series +
        sign * factorial(m) * below(shift).reduce((total, j) => total + (x + j) ** (-m - 1), 0);
}

/**
 * The argument of the series, and x + j on a separate axis for the recurrence, so that one
 * operation computes all j.
 */
function shifted(
  x: Tensor,
  m: number,
): { readonly far: Tensor; readonly z: Tensor; readonly near: Tensor } {
  const shift = shiftFor(m, x.dtype);
  const far = greaterEqual(x, shift);
  return {
    far,
    z: where(far, x, add(x, shift)),
    near: add(expandDims(minimum(x, shift), -1), below(shift)),
  };
}

const logGammaNode = unary("logGamma", {
  f: logGammaValue,
  vjp: (g, x) => mul(g, polygamma(0, x)),
  lower: (x) => {
    const { far, z, near } = shifted(x, -1);
    const tail = div(horner(gammaTerms, div(1, square(z))), z);
    const stirling = add(add(mul(sub(z, 0.5), sub(log(z), 1)), HALF_LOG_TAU - 0.5), tail);
    return sub(stirling, where(far, 0, sum(log(near), -1)));
  },
  emit: () => internal("logGamma is lowered before it is written"),
});

const polygammaNode: Make<{ order: number }> = primitive<{ order: number }>({
  name: "polygamma",
  infer: ([x]) => {
    requireFloat(x, "polygamma");
    return x;
  },
  vjp: (g, { inputs: [x], attributes: { order } }) => mul(g, polygamma(order + 1, x)),
  simplify: (node) =>
    outsideExpand(node.inputs, node.shape, (inputs) => polygammaNode(inputs, node.attributes)),
  lower: ({ inputs: [x], attributes: { order: m } }) => {
    const { far, z, near } = shifted(x, m);
    const inverse = div(1, z);
    const tail = mul(horner(polygammaTerms(m), square(inverse)), square(inverse));
    const sign = m % 2 === 0 ? -1 : 1;
    const series =
      m === 0
        ? add(sub(log(z), mul(inverse, 0.5)), tail)
        : mul(
            mul(pow(inverse, m), sign),
            add(add(mul(inverse, factorial(m) / 2), factorial(m - 1)), tail),
          );
    const back = mul(sum(pow(near, -m - 1), -1), sign * factorial(m));
    return where(less(x, 0), Number.NaN, add(series, where(far, 0, back)));
  },
  batch: rebuild,
  emit: () => internal("polygamma is lowered before it is written"),
  evaluate: ({ attributes: { order } }, [x]) => mapUnary(x, (v) => polygammaValue(order, v)),
});

/**
 * The logarithm of the gamma function, log Γ(x), for x > 0; NaN below 0. log x! is logGamma(x + 1).
 */
export const logGamma = (x: Operand): Tensor => logGammaNode([asTensor(x)], {});

/** The derivative of log Γ of order m + 1, for x > 0: polygamma(0, x) is the digamma function. */
export function polygamma(m: number, x: Operand): Tensor {
  if (!(Number.isSafeInteger(m) && m >= 0))
    fail("usage", `polygamma: the order is ${m}`, "give an integer of at least 0");
  return polygammaNode([asTensor(x)], { order: m });
}
