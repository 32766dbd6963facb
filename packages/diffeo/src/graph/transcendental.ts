/**
 * Exponentials, logarithms and what is made of them. All are accurate in the tails, where 1 − σ(x) and 1 − tanh²(x)
 * written naively lose every digit.
 */
import { add, div, mul, neg, sub } from "./arithmetic.ts";
import { binary, unary } from "./elementwise.ts";
import { erfValue } from "./erf.ts";
import { equal, logicalAnd, where } from "./logic.ts";
import { asTensor, asTensors, fill, type Operand, onesLike, type Tensor, uniformValue } from "./tensor.ts";

const expNode = unary("exp", { f: Math.exp, vjp: (g, _, y) => mul(g, y) }); // (eˣ)′ = eˣ
const logNode = unary("log", { f: Math.log, vjp: (g, x) => div(g, x) }); // (log x)′ = 1/x
const expm1Node = unary("expm1", {
  f: Math.expm1,
  vjp: (g, x) => mul(g, exp(x)),
  // eˣ − 1 = tanh(x/2)(eˣ + 1): no cancellation near 0, no ∞ − ∞ far away.
  emit: (x, e, dtype) => {
    const half = e.node("Tanh", [e.node("Mul", [x, e.scalar(0.5, dtype)])]);
    return e.node("Mul", [half, e.node("Add", [e.node("Exp", [x]), e.scalar(1, dtype)])]);
  },
});
const log1pNode = unary("log1p", {
  f: Math.log1p,
  vjp: (g, x) => div(g, add(x, 1)),
  // Kahan: with u = fl(1 + x), log(u)·x/(u − 1) is log(1 + x) to rounding; u = 1 gives x, u = ∞ gives ∞.
  emit: (x, e, dtype) => {
    const one = e.scalar(1, dtype);
    const u = e.node("Add", [x, one]);
    const lost = e.node("Sub", [u, one]);
    const tiny = e.node("Equal", [lost, e.scalar(0, dtype)]);
    const safe = e.node("Where", [tiny, one, lost]);
    // x/(u − 1) is 1 where x is large, and ∞/∞ must not appear there.
    const ratio = e.node("Div", [
      e.node("Min", [x, e.scalar(1e9, dtype)]),
      e.node("Min", [safe, e.scalar(1e9, dtype)]),
    ]);
    return e.node("Where", [tiny, x, e.node("Mul", [e.node("Log", [u]), ratio])]);
  },
});
const sqrtNode = unary("sqrt", { f: Math.sqrt, vjp: (g, _, y) => div(g, mul(y, 2)) }); // (√x)′ = 1/(2√x)
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
export const sigmoidNode = unary("sigmoid", {
  f: (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))),
  vjp: (g, x, y) => mul(g, mul(y, sigmoid(neg(x)))), // σ′(x) = σ(x)σ(−x)
});
export const softplusNode = unary("softplus", {
  f: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  vjp: (g, x) => mul(g, sigmoid(x)), // (log(1 + eˣ))′ = σ(x)
});
export const erfNode = unary("erf", {
  f: erfValue,
  vjp: (g, x) => mul(g, mul(exp(neg(mul(x, x))), 2 / Math.sqrt(Math.PI))), // erf′(x) = 2/√π exp(−x²)
});
const powNode = binary("pow", {
  onnx: "Pow",
  f: Math.pow,
  vjp: [
    // ∂ₐ aᵇ = b aᵇ⁻¹, and 0 for b = 0, where a⁻¹ would make NaN of 0·∞ at a = 0. For a ≠ 0 the exponent must stay as it
    // is, as ∂_b is still to be taken of this.
    (g, a, b) => {
      const c = uniformValue(b);
      if (c !== undefined) return mul(g, c === 0 ? 0 : mul(b, pow(a, c - 1)));
      return mul(g, mul(b, pow(a, where(logicalAnd(equal(a, 0), equal(b, 0)), 0, sub(b, 1)))));
    },
    (g, a, _, y) => mul(g, where(equal(a, 0), 0, mul(y, log(where(equal(a, 0), 1, a))))), // ∂_b aᵇ = aᵇ log a
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

export const exp = (x: Operand): Tensor => expNode([asTensor(x)], {});
export const log = (x: Operand): Tensor => logNode([asTensor(x)], {});
/** eˣ − 1, accurate near 0. */
export const expm1 = (x: Operand): Tensor => expm1Node([asTensor(x)], {});
/** log(1 + x), accurate near 0. */
export const log1p = (x: Operand): Tensor => log1pNode([asTensor(x)], {});
export const sqrt = (x: Operand): Tensor => sqrtNode([asTensor(x)], {});
export const sin = (x: Operand): Tensor => sinNode([asTensor(x)], {});
export const cos = (x: Operand): Tensor => cosNode([asTensor(x)], {});
export const tanh = (x: Operand): Tensor => tanhNode([asTensor(x)], {});
/** σ(x) = 1/(1 + e⁻ˣ) */
export const sigmoid = (x: Operand): Tensor => sigmoidNode([asTensor(x)], {});
/** log(1 + eˣ), finite and accurate for every x. */
export const softplus = (x: Operand): Tensor => softplusNode([asTensor(x)], {});
export const erf = (x: Operand): Tensor => erfNode([asTensor(x)], {});
/** log σ(x) = −log(1 + e⁻ˣ) */
export const logSigmoid = (x: Operand): Tensor => neg(softplus(neg(x)));
export const pow = (a: Operand, b: Operand): Tensor => powNode(asTensors(a, b, "pow"), {});
