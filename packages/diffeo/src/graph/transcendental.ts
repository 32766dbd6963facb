/**
 * Exponentials, logarithms and related functions. All are accurate in the tails, where 1 − σ(x) and
 * 1 − tanh²(x) would lose all digits.
 */
import { abs, add, div, maximum, minimum, mul, neg, sign, sub } from "./arithmetic.ts";
import { binary, unary } from "./elementwise.ts";
import { internal } from "./error.ts";
import { equal, less, logicalAnd, where } from "./logic.ts";
import {
  asTensor,
  asTensors,
  fill,
  type Make,
  type Operand,
  onesLike,
  type Tensor,
  uniformValue,
} from "./tensor.ts";
import { cast, stopGradient } from "./value.ts";

const expNode = unary("exp", { f: Math.exp, vjp: (g, _, y) => mul(g, y) }); // (eˣ)′ = eˣ
const logNode = unary("log", { f: Math.log, vjp: (g, x) => div(g, x) }); // (log x)′ = 1/x
const expm1Node = unary("expm1", {
  f: Math.expm1,
  vjp: (g, x) => mul(g, exp(x)),
  // eˣ − 1 = tanh(x/2)(eˣ + 1): without cancellation near 0 and ∞ − ∞ for large x.
  emit: (x, e, dtype) => {
    const half = e.node("Tanh", [e.node("Mul", [x, e.scalar(0.5, dtype)])]);
    return e.node("Mul", [half, e.node("Add", [e.node("Exp", [x]), e.scalar(1, dtype)])]);
  },
});
const log1pNode = unary("log1p", {
  f: Math.log1p,
  vjp: (g, x) => div(g, add(x, 1)),
  // Kahan: with u = fl(1 + x), log(u)·x/(u − 1) is log(1 + x) to rounding; u = 1 gives x, u = ∞
  // gives ∞.
  emit: (x, e, dtype) => {
    const one = e.scalar(1, dtype);
    const u = e.node("Add", [x, one]);
    const lost = e.node("Sub", [u, one]);
    const tiny = e.node("Equal", [lost, e.scalar(0, dtype)]);
    const safe = e.node("Where", [tiny, one, lost]);
    // For large x, x/(u − 1) is 1, and ∞/∞ must be avoided.
    const ratio = e.node("Div", [
      e.node("Min", [x, e.scalar(1e9, dtype)]),
      e.node("Min", [safe, e.scalar(1e9, dtype)]),
    ]);
    return e.node("Where", [tiny, x, e.node("Mul", [e.node("Log", [u]), ratio])]);
  },
});
// (√x)′ = 1/(2√x)
const sqrtNode = unary("sqrt", { f: Math.sqrt, vjp: (g, _, y) => div(g, mul(y, 2)) });
export const sinNode = unary("sin", {
  f: Math.sin,
  vjp: (g, x) => mul(g, cos(x)),
});
export const cosNode = unary("cos", {
  f: Math.cos,
  vjp: (g, x) => neg(mul(g, sin(x))),
});
const tanhNode = unary("tanh", {
  f: Math.tanh,
  // 1 − tanh²(x) = 4σ(2x)σ(−2x)
  vjp: (g, x) => {
    const two = mul(x, 2);
    return mul(g, mul(mul(sigmoid(two), sigmoid(neg(two))), 4));
  },
});
export const sigmoidValue = (x: number): number =>
  x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
export const sigmoidNode = unary("sigmoid", {
  f: sigmoidValue,
  vjp: (g, x, y) => mul(g, mul(y, sigmoid(neg(x)))), // σ′(x) = σ(x)σ(−x)
});
export const softplusNode = unary("softplus", {
  f: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  vjp: (g, x) => mul(g, sigmoid(x)), // (log(1 + eˣ))′ = σ(x)
});
/**
 * ½e^{|x|} in two factors, so that it is infinite only if sinh and cosh are. A plain ½ would be
 * moved out of the product by `mulNode`, and the square would overflow before it is halved; factors
 * are not moved out of |·|.
 */
const halfExp = (a: Tensor): Tensor => mul(abs(mul(exp(mul(a, 0.5)), 0.5)), exp(mul(a, 0.5)));
const sinhNode = unary("sinh", {
  f: Math.sinh,
  vjp: (g, x) => mul(g, cosh(x)),
  // With e = e^{|x|} − 1, sinh |x| = ½(e + e/(e + 1)): without cancellation near 0. For large |x|,
  // e^{−|x|} is negligible.
  lower: (x) => {
    const a = abs(x);
    const e = expm1(minimum(a, 20));
    return mul(sign(x), where(less(a, 20), mul(add(e, div(e, add(e, 1))), 0.5), halfExp(a)));
  },
  emit: () => internal("sinh is lowered before it is written"),
});
const coshNode = unary("cosh", {
  f: Math.cosh,
  vjp: (g, x) => mul(g, sinh(x)),
  lower: (x) => add(halfExp(abs(x)), mul(exp(neg(abs(x))), 0.5)),
  emit: () => internal("cosh is lowered before it is written"),
});
const asinhNode = unary("asinh", {
  f: Math.asinh,
  // asinh′(x) = 1/√(1 + x²) = 1/(m√(m⁻² + (x/m)²)) for any m; with m = max(1, |x|) no square
  // overflows.
  vjp: (g, x) => {
    const m = stopGradient(maximum(abs(x), 1));
    const [one, part] = [div(1, m), div(x, m)];
    return div(g, mul(m, sqrt(add(mul(one, one), mul(part, part)))));
  },
  // asinh |x| = log(1 + a + a²/(1 + √(1 + a²))), and log 2a if a² + 1 rounds to a².
  lower: (x) => {
    const a = abs(x);
    const near = minimum(a, FAR);
    const root = sqrt(add(mul(near, near), 1));
    const small = log1p(add(near, div(mul(near, near), add(root, 1))));
    return mul(sign(x), where(less(a, FAR), small, add(log(maximum(a, 1)), Math.LN2)));
  },
  emit: () => internal("asinh is lowered before it is written"),
});
const atanNode: Make = unary("atan", {
  f: Math.atan,
  vjp: (g, x) => div(g, add(mul(x, x), 1)), // atan′(x) = 1/(1 + x²)
  // The runtime has it in float32 only. From y₀ = atan x to seven digits, with c = cos y₀ and s =
  // sin y₀, atan x = y₀ + atan d, d = (x c − s)/(c + x s), and atan d = d − d³/3 to rounding.
  lower: (x) => {
    if (x.dtype === "float32") return undefined;
    const near = minimum(maximum(x, -FAR_OUT), FAR_OUT);
    const y = cast(atanNode([cast(near, "float32")], {}), x.dtype);
    const [c, s] = [cos(y), sin(y)];
    const d = div(sub(mul(near, c), s), add(c, mul(near, s)));
    return add(y, sub(d, mul(mul(d, mul(d, d)), 1 / 3)));
  },
});
/** Above, atan is ±π/2 in float64. */
const FAR_OUT = 2 ** 60;
/** Above, √(1 + a²) is a in float64. */
const FAR = 2 ** 28;
const powNode = binary("pow", {
  onnx: "Pow",
  f: Math.pow,
  vjp: [
    // ∂ₐ aᵇ = b aᵇ⁻¹, and 0 for b = 0, where a⁻¹ would give 0·∞ = NaN at a = 0. For a ≠ 0 the
    // exponent must not change, because ∂_b may still be applied.
    (g, a, b) => {
      const c = uniformValue(b);
      if (c !== undefined) return mul(g, c === 0 ? 0 : mul(b, pow(a, c - 1)));
      return mul(g, mul(b, pow(a, where(logicalAnd(equal(a, 0), equal(b, 0)), 0, sub(b, 1)))));
    },
    // ∂_b aᵇ = aᵇ log a
    (g, a, _, y) => mul(g, where(equal(a, 0), 0, mul(y, log(where(equal(a, 0), 1, a))))),
  ],
  simplify: (a, b) => {
    const c = uniformValue(b);
    if (c === 0) return onesLike(a);
    if (c === 1) return a;
    if (c === 2) return mul(a, a);
    if (c === 0.5) return sqrt(a);
    if (c === -1) return div(fill([], 1, a.dtype), a);
    return undefined;
  },
});

/** eˣ, element by element. */
export const exp = (x: Operand): Tensor => expNode([asTensor(x)], {});
/** The natural logarithm, element by element: −∞ at 0 and NaN below. */
export const log = (x: Operand): Tensor => logNode([asTensor(x)], {});
/** eˣ − 1, element by element, accurate near 0. */
export const expm1 = (x: Operand): Tensor => expm1Node([asTensor(x)], {});
/** log(1 + x), element by element, accurate near 0. */
export const log1p = (x: Operand): Tensor => log1pNode([asTensor(x)], {});
/** √x, element by element. */
export const sqrt = (x: Operand): Tensor => sqrtNode([asTensor(x)], {});
/** sin x, element by element. */
export const sin = (x: Operand): Tensor => sinNode([asTensor(x)], {});
/** cos x, element by element. */
export const cos = (x: Operand): Tensor => cosNode([asTensor(x)], {});
/** tanh x, element by element. */
export const tanh = (x: Operand): Tensor => tanhNode([asTensor(x)], {});
/** The logistic function σ(x) = 1/(1 + e⁻ˣ), element by element. */
export const sigmoid = (x: Operand): Tensor => sigmoidNode([asTensor(x)], {});
/** log(1 + eˣ), element by element, without overflow and accurate for all x. */
export const softplus = (x: Operand): Tensor => softplusNode([asTensor(x)], {});
/** The hyperbolic sine (eˣ − e⁻ˣ)/2, element by element. */
export const sinh = (x: Operand): Tensor => sinhNode([asTensor(x)], {});
/** The hyperbolic cosine (eˣ + e⁻ˣ)/2, element by element. */
export const cosh = (x: Operand): Tensor => coshNode([asTensor(x)], {});
/** The inverse hyperbolic sine log(x + √(x² + 1)), element by element. */
export const asinh = (x: Operand): Tensor => asinhNode([asTensor(x)], {});
/** log σ(x) = −log(1 + e⁻ˣ), element by element. */
export const logSigmoid = (x: Operand): Tensor => neg(softplus(neg(x)));
/** The arctangent of x, between −π/2 and π/2, element by element. */
export const atan = (x: Operand): Tensor => atanNode([asTensor(x)], {});
/** a to the power of b, element by element, with broadcasting. */
export const pow = (a: Operand, b: Operand): Tensor => powNode(asTensors(a, b, "pow"), {});
