/**
 * Arithmetic, with NumPy's broadcasting. Each operation has its derivative as one line of
 * mathematics, and algebraic identities that keep the graphs of derivatives small.
 */
import { binary, unary } from "./elementwise.ts";
import { equal, greater } from "./logic.ts";
import { broadcastShapes, isFloat, sizeOf } from "./ndarray.ts";
import {
  asTensor,
  asTensors,
  constantValue,
  is,
  type Operand,
  requireNumbers,
  type Tensor,
  uniformValue,
} from "./tensor.ts";
import { cast } from "./value.ts";

export const negNode = unary("neg", {
  f: (x) => -x,
  vjp: (g) => neg(g), // (−x)′ = −1
  simplify: (x) => (is(x, negNode) ? x.inputs[0] : undefined),
  integers: true,
});
const absNode = unary("abs", { f: Math.abs, vjp: (g, x) => mul(g, sign(x)), integers: true });
export const signNode = unary("sign", {
  f: Math.sign,
  integers: true,
});
const floorNode = unary("floor", { f: Math.floor });

/** −x, element by element. */
export const neg = (x: Operand): Tensor => negNode([asTensor(x)], {});
/** │x│, element by element. Its derivative at 0 is 0. */
export const abs = (x: Operand): Tensor => absNode([asTensor(x)], {});
/** −1, 0 or 1, element by element. Its derivative is 0. */
export const sign = (x: Operand): Tensor => signNode([asTensor(x)], {});
/** The largest integer ≤ x; its derivative is zero almost everywhere. */
export const floor = (x: Operand): Tensor => floorNode([asTensor(x)], {});

export const addNode = binary("add", {
  onnx: "Add",
  f: (a, b) => a + b,
  vjp: [(g) => g, (g) => g],
  simplify: (a, b) => {
    if (uniformValue(a) === 0) return b;
    if (uniformValue(b) === 0) return a;
    if (is(b, negNode)) return sub(a, b.inputs[0]);
    if (is(a, negNode)) return sub(b, a.inputs[0]);
    return undefined;
  },
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
export const mulNode = binary("mul", {
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
    // (x·c)·y = (x·y)·c: numbers move outwards, are joined, and end in a sum or a matrix product.
    // Not if x is the smaller one, where c is cheap.
    if (c !== undefined) return undefined;
    const [x, y] = [unscaled(a), unscaled(b)];
    if (x && sizeOf(a.shape) >= sizeOf(b.shape)) return mul(mul(x.tensor, b), x.factor);
    if (y && sizeOf(b.shape) >= sizeOf(a.shape)) return mul(mul(a, y.tensor), y.factor);
    return undefined;
  },
});
/** x and c of x·c, where c is a number. */
export function unscaled(
  t: Tensor,
): { readonly tensor: Tensor; readonly factor: number } | undefined {
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
  // (a/b)′ = a′/b − (a/b) b′/b
  vjp: [(g, _, b) => div(g, b), (g, _, b, y) => neg(div(mul(g, y), b))],
  simplify: (a, b) => {
    const c = uniformValue(b);
    if (c === 1) return a;
    if (c !== undefined && isFloat(b.dtype) && isPowerOfTwo(c)) return mul(a, 1 / c);
    if (is(a, negNode)) return neg(div(a.inputs[0], b));
    return undefined;
  },
  // ONNX Runtime (1.30) breaks some graphs by fusing (1/b)·c into c/b; it does not fuse Reciprocal.
  emit: ({ inputs: [a, b], shape, dtype }, [x, y], emitter) =>
    uniformValue(a) === 1 && isFloat(dtype) && sizeOf(b.shape) === sizeOf(shape)
      ? emitter.reshape(emitter.node("Reciprocal", [y]), b.shape, shape)
      : emitter.node("Div", [x, y]),
});
/** The cotangent goes to the greater operand, or half of it to each if a = b. */
const share = (g: Tensor, a: Tensor, b: Tensor): Tensor =>
  mul(g, add(cast(greater(a, b), g.dtype), mul(cast(equal(a, b), g.dtype), 0.5)));
const maximumNode = binary("maximum", {
  onnx: "Max",
  f: (a, b) => Math.max(a, b),
  vjp: [(g, a, b) => share(g, a, b), (g, a, b) => share(g, b, a)],
});
const minimumNode = binary("minimum", {
  onnx: "Min",
  f: (a, b) => Math.min(a, b),
  vjp: [(g, a, b) => share(g, b, a), (g, a, b) => share(g, a, b)],
});

/** a + b, element by element, with broadcasting. */
export const add = (a: Operand, b: Operand): Tensor => addNode(asTensors(a, b, "add"), {});
/** a − b, element by element, with broadcasting. */
export const sub = (a: Operand, b: Operand): Tensor => subNode(asTensors(a, b, "sub"), {});
/** a b, element by element, with broadcasting. */
export const mul = (a: Operand, b: Operand): Tensor => mulNode(asTensors(a, b, "mul"), {});
/** a / b, element by element, with broadcasting. Integer operands divide with truncation. */
export const div = (a: Operand, b: Operand): Tensor => divNode(asTensors(a, b, "div"), {});
/** The greater of a and b, element by element, with broadcasting. */
export const maximum = (a: Operand, b: Operand): Tensor =>
  maximumNode(asTensors(a, b, "maximum"), {});
/** The lesser of a and b, element by element, with broadcasting. */
export const minimum = (a: Operand, b: Operand): Tensor =>
  minimumNode(asTensors(a, b, "minimum"), {});
/** x², element by element. */
export const square = (x: Operand): Tensor => {
  const t = asTensor(x);
  return mul(t, t);
};

/** Clamps x to [low, high], element by element. The derivative outside is 0. */
export function clip(x: Operand, low: Operand, high: Operand): Tensor {
  const [t, least] = asTensors(x, low, "clip");
  const [, most] = asTensors(t, high, "clip");
  requireNumbers(t, "clip");
  broadcastShapes(broadcastShapes(t.shape, least.shape, "clip"), most.shape, "clip");
  return minimum(maximum(t, least), most);
}

/** The sum of at least one tensor. */
export const addAll = (terms: readonly Tensor[]): Tensor => terms.reduce((a, b) => add(a, b));
