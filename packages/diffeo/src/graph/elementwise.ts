/**
 * Operations on single numbers, and on pairs of them with NumPy's broadcasting.
 * The derivative stands beside each as one line of mathematics. All are accurate in the tails, where
 * 1 − σ(x) and 1 − tanh²(x) written naively lose every digit.
 */
import type { Emitter } from "./emitter.ts";
import { erfExpression, erfValue } from "./erf.ts";
import { fuseBias, fuseScale } from "./linalg.ts";
import { equal, greater, logicalAnd, where } from "./logic.ts";
import { mapBroadcast, mapUnary } from "./loops.ts";
import { broadcastShapes, type DType, isFloat, sizeOf } from "./ndarray.ts";
import { joinedPads } from "./pieces.ts";
import { unbroadcast } from "./reduce.ts";
import { expand, outsideExpand } from "./shape.ts";
import { sineExpression } from "./sine.ts";
import {
  asTensor,
  asTensors,
  constantValue,
  fill,
  is,
  type Make,
  type Operand,
  onesLike,
  type Primitive,
  primitive,
  requireFloat,
  requireNumbers,
  type Target,
  type Tensor,
  uniformValue,
} from "./tensor.ts";
import { cast } from "./value.ts";

interface UnaryRule {
  readonly f: (x: number) => number;
  /** Cotangent of x, given the cotangent g of y = f(x). Absent: the derivative is zero almost everywhere. */
  readonly vjp?: (g: Tensor, x: Tensor, y: Tensor) => Tensor;
  readonly emit?: (x: string, emitter: Emitter, dtype: DType) => string;
  readonly lower?: (x: Tensor, target: Target, uses: (t: Tensor) => number) => Tensor | undefined;
  readonly simplify?: (x: Tensor) => Tensor | undefined;
  /** Defined for integers too. */
  readonly integers?: boolean;
}

function unary(name: string, rule: UnaryRule) {
  const { vjp, lower, simplify } = rule;
  const make: Make = primitive({
    name,
    infer: ([x]) => {
      (rule.integers ? requireNumbers : requireFloat)(x, name);
      return x;
    },
    ...(vjp && { vjp: (g: Tensor, node: Tensor) => vjp(g, node.inputs[0], node) }),
    ...(lower && {
      lower: (node: Tensor, target: Target, uses: (t: Tensor) => number) => lower(node.inputs[0], target, uses),
    }),
    simplify: (node) =>
      simplify?.(node.inputs[0]) ?? outsideExpand(node.inputs, node.shape, (inputs) => make(inputs, {})),
    emit: (node, [x], emitter) =>
      rule.emit ? rule.emit(x, emitter, node.dtype) : emitter.node(name.charAt(0).toUpperCase() + name.slice(1), [x]),
    evaluate: (_, [x]) => mapUnary(x, rule.f),
  });
  return make;
}

const negNode = unary("neg", {
  f: (x) => -x,
  vjp: (g) => neg(g), // (−x)′ = −1
  simplify: (x) => (is(x, negNode) ? x.inputs[0] : undefined),
  lower: (x, _, uses) => fuseScale(x, -1, x.shape, uses),
  integers: true,
});
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
const absNode = unary("abs", { f: Math.abs, vjp: (g, x) => mul(g, sign(x)), integers: true });
const signNode = unary("sign", {
  f: Math.sign,
  integers: true,
  // ONNX Runtime's WebGPU has no Sign; 0 and NaN return themselves.
  lower: (x, target) =>
    target === "gpu" && isFloat(x.dtype)
      ? where(greater(x, 0), 1, where(greater(0, x), fill([], -1, x.dtype), x))
      : undefined,
});
const floorNode = unary("floor", { f: Math.floor });
const sinNode = unary("sin", {
  f: Math.sin,
  vjp: (g, x) => mul(g, cos(x)),
  lower: (x, target) => (target === "gpu" ? sineExpression(x, 0) : undefined),
});
const cosNode = unary("cos", {
  f: Math.cos,
  vjp: (g, x) => neg(mul(g, sin(x))),
  lower: (x, target) => (target === "gpu" ? sineExpression(x, 0.25) : undefined),
});
const tanhNode = unary("tanh", {
  f: Math.tanh,
  // 1 − tanh²(x) = 4σ(2x)σ(−2x)
  vjp: (g, x) => {
    const two = mul(x, 2);
    return mul(g, mul(mul(sigmoid(two), sigmoid(neg(two))), 4));
  },
});
const sigmoidNode = unary("sigmoid", {
  f: (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x))),
  vjp: (g, x, y) => mul(g, mul(y, sigmoid(neg(x)))), // σ′(x) = σ(x)σ(−x)
  // ONNX Runtime's own on the CPU is 0 below −18 in float32, and loses every digit by −37 in float64.
  lower: (x, target) => (target === "cpu" ? div(1, add(exp(neg(x)), 1)) : undefined),
});
const softplusNode = unary("softplus", {
  f: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  vjp: (g, x) => mul(g, sigmoid(x)), // (log(1 + eˣ))′ = σ(x)
  // log(1 + eˣ) = max(x, 0) + log(1 + u), u = e^{−|x|} ≤ 1. With w = fl(1 + u), log(1 + u) = log w + (u − (w − 1))/w up to the
  // square of a rounding error. ONNX Runtime's own on the CPU is float32 alone, and goes number by number: 4× slower.
  lower: (x, target) => {
    if (x.dtype === "float32" && target !== "cpu") return undefined;
    const u = exp(neg(abs(x)));
    const w = add(u, 1);
    return add(maximum(x, 0), add(log(w), div(sub(u, sub(w, 1)), w)));
  },
});
const erfNode = unary("erf", {
  f: erfValue,
  vjp: (g, x) => mul(g, mul(exp(neg(mul(x, x))), 2 / Math.sqrt(Math.PI))), // erf′(x) = 2/√π exp(−x²)
  lower: (x) => (x.dtype === "float32" ? undefined : erfExpression(x)),
});

export const neg = (x: Operand): Tensor => negNode([asTensor(x)], {});
export const exp = (x: Operand): Tensor => expNode([asTensor(x)], {});
export const log = (x: Operand): Tensor => logNode([asTensor(x)], {});
/** eˣ − 1, accurate near 0. */
export const expm1 = (x: Operand): Tensor => expm1Node([asTensor(x)], {});
/** log(1 + x), accurate near 0. */
export const log1p = (x: Operand): Tensor => log1pNode([asTensor(x)], {});
export const sqrt = (x: Operand): Tensor => sqrtNode([asTensor(x)], {});
export const abs = (x: Operand): Tensor => absNode([asTensor(x)], {});
export const sign = (x: Operand): Tensor => signNode([asTensor(x)], {});
/** The largest integer ≤ x; its derivative is zero almost everywhere. */
export const floor = (x: Operand): Tensor => floorNode([asTensor(x)], {});
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
export const square = (x: Operand): Tensor => {
  const t = asTensor(x);
  return mul(t, t);
};

interface BinaryRule {
  readonly onnx: string;
  readonly f: (a: number, b: number) => number;
  /** The same of integers, where it differs. */
  readonly whole?: (a: number, b: number) => number;
  /** Cotangents of a and b before their broadcast axes are summed away. */
  readonly vjp: readonly [
    (g: Tensor, a: Tensor, b: Tensor, y: Tensor) => Tensor,
    (g: Tensor, a: Tensor, b: Tensor, y: Tensor) => Tensor,
  ];
  /** Equal expressions; `a` and `b` are its operands, the result is expanded to the right shape by the caller. */
  readonly simplify?: (a: Tensor, b: Tensor) => Tensor | undefined;
  readonly lower?: Primitive["lower"];
  readonly emit?: Primitive["emit"];
}

function binary(name: string, rule: BinaryRule) {
  const make: Make = primitive({
    name,
    infer: ([a, b]) => {
      requireNumbers(a, name);
      return { shape: broadcastShapes(a.shape, b.shape, name), dtype: a.dtype };
    },
    vjp: (g, node, i) => {
      const [a, b] = node.inputs;
      return unbroadcast(rule.vjp[i](g, a, b, node), node.inputs[i].shape);
    },
    simplify: (node) => {
      const [a, b] = node.inputs;
      const outside = outsideExpand(node.inputs, node.shape, (inputs) => make(inputs, {}));
      if (outside) return outside;
      const simpler = rule.simplify?.(a, b);
      return simpler && expand(simpler, node.shape);
    },
    ...(rule.lower && { lower: rule.lower }),
    emit: rule.emit ?? ((_, inputs, emitter) => emitter.node(rule.onnx, inputs)),
    evaluate: (node, inputs) =>
      mapBroadcast(
        node.shape,
        node.inputs.map((t) => t.shape),
        inputs,
        isFloat(node.dtype) ? rule.f : (rule.whole ?? rule.f),
      ),
  });
  return make;
}

const addNode = binary("add", {
  onnx: "Add",
  f: (a, b) => a + b,
  vjp: [(g) => g, (g) => g],
  simplify: (a, b) => {
    if (uniformValue(a) === 0) return b;
    if (uniformValue(b) === 0) return a;
    if (is(b, negNode)) return sub(a, b.inputs[0]);
    if (is(a, negNode)) return sub(b, a.inputs[0]);
    return joinedPads(a, b);
  },
  lower: ({ inputs: [a, b], shape }, _, uses) => fuseBias(a, b, shape, uses) ?? fuseBias(b, a, shape, uses),
});
const subNode = binary("sub", {
  onnx: "Sub",
  f: (a, b) => a - b,
  vjp: [(g) => g, (g) => neg(g)],
  simplify: (a, b) => {
    if (uniformValue(b) === 0) return a;
    if (uniformValue(a) === 0) return neg(b);
    if (is(b, negNode)) return add(a, b.inputs[0]);
    return undefined;
  },
});
const mulNode = binary("mul", {
  onnx: "Mul",
  f: (a, b) => a * b,
  vjp: [(g, _, b) => mul(g, b), (g, a) => mul(g, a)], // (ab)′ = a′b + ab′
  simplify: (a, b) => {
    if (constantValue(a) && !constantValue(b)) return mul(b, a);
    const c = uniformValue(b);
    if (c === 1) return a;
    if (c === -1) return neg(a);
    // (x·c₁)·c₂ = x·(c₁c₂): chains of constants come from nested derivatives.
    if (c !== undefined && is(a, mulNode) && uniformValue(a.inputs[1]) !== undefined)
      return mul(a.inputs[0], mul(a.inputs[1], b));
    if (is(a, negNode)) return neg(mul(a.inputs[0], b));
    if (is(b, negNode)) return neg(mul(a, b.inputs[0]));
    // (x·c)·y = (x·y)·c: numbers wander outwards, meet, and end in a sum or a product of matrices. Not where x is the
    // smaller: there c is cheap.
    if (c !== undefined) return undefined;
    const [x, y] = [unscaled(a), unscaled(b)];
    if (x && sizeOf(a.shape) >= sizeOf(b.shape)) return mul(mul(x.tensor, b), x.factor);
    if (y && sizeOf(b.shape) >= sizeOf(a.shape)) return mul(mul(a, y.tensor), y.factor);
    return undefined;
  },
  lower: ({ inputs: [a, b], shape }, _, uses) => fuseScale(a, uniformValue(b), shape, uses),
});
/** x and c of x·c, c a number. */
export function unscaled(t: Tensor): { readonly tensor: Tensor; readonly factor: number } | undefined {
  if (!is(t, mulNode) || t.inputs[1].shape.length > 0) return undefined;
  const factor = uniformValue(t.inputs[1]);
  return factor === undefined ? undefined : { tensor: t.inputs[0], factor };
}

/** ±2ᵏ, so that 1/c is exact; with |k| ≤ 126 it is a normal number of every float type. */
function isPowerOfTwo(c: number): boolean {
  const k = Math.round(Math.log2(Math.abs(c)));
  return Math.abs(k) <= 126 && Math.abs(c) === 2 ** k;
}

const divNode = binary("div", {
  onnx: "Div",
  f: (a, b) => a / b,
  whole: (a, b) => Math.trunc(a / b),
  vjp: [(g, _, b) => div(g, b), (g, _, b, y) => neg(div(mul(g, y), b))], // (a/b)′ = a′/b − (a/b) b′/b
  simplify: (a, b) => {
    const c = uniformValue(b);
    if (c === 1) return a;
    if (c !== undefined && isFloat(b.dtype) && isPowerOfTwo(c)) return mul(a, 1 / c);
    if (is(a, negNode)) return neg(div(a.inputs[0], b));
    return undefined;
  },
  // ONNX Runtime (1.30) breaks some graphs when it fuses (1/b)·c into c/b; a Reciprocal it leaves alone.
  emit: ({ inputs: [a, b], shape, dtype }, [x, y], emitter) =>
    uniformValue(a) === 1 && isFloat(dtype) && sizeOf(b.shape) === sizeOf(shape)
      ? emitter.reshape(emitter.node("Reciprocal", [y]), b.shape, shape)
      : emitter.node("Div", [x, y]),
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
/** Half of the cotangent to each side where a = b, all of it to the larger elsewhere. */
const share = (g: Tensor, a: Tensor, b: Tensor): Tensor =>
  mul(g, add(cast(greater(a, b), g.dtype), mul(cast(equal(a, b), g.dtype), 0.5)));
const maximumNode = binary("maximum", {
  onnx: "Max",
  f: (a, b) => (Number.isNaN(a + b) ? Number.NaN : Math.max(a, b)),
  vjp: [(g, a, b) => share(g, a, b), (g, a, b) => share(g, b, a)],
});
const minimumNode = binary("minimum", {
  onnx: "Min",
  f: (a, b) => (Number.isNaN(a + b) ? Number.NaN : Math.min(a, b)),
  vjp: [(g, a, b) => share(g, b, a), (g, a, b) => share(g, a, b)],
});

export const add = (a: Operand, b: Operand): Tensor => addNode(asTensors(a, b, "add"), {});
export const sub = (a: Operand, b: Operand): Tensor => subNode(asTensors(a, b, "sub"), {});
export const mul = (a: Operand, b: Operand): Tensor => mulNode(asTensors(a, b, "mul"), {});
/** Integer operands divide with truncation. */
export const div = (a: Operand, b: Operand): Tensor => divNode(asTensors(a, b, "div"), {});
export const pow = (a: Operand, b: Operand): Tensor => powNode(asTensors(a, b, "pow"), {});
export const maximum = (a: Operand, b: Operand): Tensor => maximumNode(asTensors(a, b, "maximum"), {});
export const minimum = (a: Operand, b: Operand): Tensor => minimumNode(asTensors(a, b, "minimum"), {});
/** x held within [low, high]; the derivative outside is zero. */
export function clip(x: Operand, low: Operand, high: Operand): Tensor {
  const [t, least] = asTensors(x, low, "clip");
  const [, most] = asTensors(t, high, "clip");
  requireNumbers(t, "clip");
  broadcastShapes(broadcastShapes(t.shape, least.shape, "clip"), most.shape, "clip");
  return minimum(maximum(t, least), most);
}

/** Sum of any number of tensors; none is an error of ours. */
export const addAll = (terms: readonly Tensor[]): Tensor => terms.reduce((a, b) => add(a, b));
