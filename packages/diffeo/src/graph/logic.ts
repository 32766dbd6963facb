/**
 * Comparisons, boolean algebra and selection. Only `where` has a derivative, that of the selected
 * branch.
 */

import { expand, outsideExpand, unbroadcast } from "./broadcast.ts";
import { fail } from "./error.ts";
import { mapBroadcast, mapUnary } from "./loops.ts";
import { broadcastShapes } from "./ndarray.ts";
import { aligned } from "./shape.ts";
import {
  asTensor,
  asTensors,
  fill,
  type Make,
  type Operand,
  primitive,
  rebuild,
  requireNumbers,
  Tensor,
  uniformValue,
} from "./tensor.ts";

function comparison(name: string, onnx: string, f: (a: number, b: number) => boolean) {
  const make: Make = primitive({
    name,
    infer: ([a, b]) => ({ shape: broadcastShapes(a.shape, b.shape, name), dtype: "bool" }),
    simplify: (node) => outsideExpand(node.inputs, node.shape, (inputs) => make(inputs, {})),
    batch: ({ shape }, inputs, mapped) => make(aligned(inputs, mapped, shape.length), {}),
    emit: (_, inputs, emitter) => emitter.node(onnx, inputs),
    evaluate: (node, inputs) =>
      mapBroadcast(
        node.shape,
        node.inputs.map((t) => t.shape),
        inputs,
        (a, b) => (f(a, b) ? 1 : 0),
      ),
  });
  return make;
}

const lessNode = comparison("less", "Less", (a, b) => a < b);
const lessEqualNode = comparison("lessEqual", "LessOrEqual", (a, b) => a <= b);
const equalNode = comparison("equal", "Equal", (a, b) => a === b);
const andNode = comparison("and", "And", (a, b) => a !== 0 && b !== 0);
export const orNode = comparison("or", "Or", (a, b) => a !== 0 || b !== 0);
const notNode: Make = primitive({
  name: "not",
  infer: ([a]) => ({ shape: a.shape, dtype: "bool" }),
  batch: rebuild,
  emit: (_, inputs, emitter) => emitter.node("Not", inputs),
  evaluate: (_, [a]) => mapUnary(a, (v) => (v === 0 ? 1 : 0)),
});

function ordered(a: Operand, b: Operand, operation: string): [Tensor, Tensor] {
  const pair = asTensors(a, b, operation);
  requireNumbers(pair[0], operation);
  return pair;
}

/** Whether a < b, element by element, with broadcasting. */
export const less = (a: Operand, b: Operand): Tensor => lessNode(ordered(a, b, "less"), {});
/** Whether a ≤ b, element by element, with broadcasting. */
export const lessEqual = (a: Operand, b: Operand): Tensor =>
  lessEqualNode(ordered(a, b, "lessEqual"), {});
/** Whether a > b, element by element, with broadcasting. */
export const greater = (a: Operand, b: Operand): Tensor => less(b, a);
/** Whether a ≥ b, element by element, with broadcasting. */
export const greaterEqual = (a: Operand, b: Operand): Tensor => lessEqual(b, a);
/** Whether a = b, element by element, with broadcasting. */
export const equal = (a: Operand, b: Operand): Tensor => equalNode(asTensors(a, b, "equal"), {});

function requireBool(t: Tensor, operation: string): Tensor {
  if (t.dtype !== "bool")
    fail(
      "type",
      `${operation}: the operand is ${t.dtype}, not bool`,
      "use a comparison, or cast it to bool",
    );
  return t;
}

/** a and b, element by element. */
export const logicalAnd = (a: Tensor, b: Tensor): Tensor =>
  andNode([requireBool(a, "and"), requireBool(b, "and")], {});
/** a or b, element by element. */
export const logicalOr = (a: Tensor, b: Tensor): Tensor =>
  orNode([requireBool(a, "or"), requireBool(b, "or")], {});
/** Not a, element by element. */
export const logicalNot = (a: Tensor): Tensor => notNode([requireBool(a, "not")], {});

export const whereNode: Make = primitive({
  name: "where",
  infer: ([c, a, b]) => ({
    shape: broadcastShapes(broadcastShapes(c.shape, a.shape, "where"), b.shape, "where"),
    dtype: a.dtype,
  }),
  vjp: (g, { inputs: [c, a, b] }, i) => {
    if (i === 0) return undefined;
    const zero = fill([], 0, g.dtype);
    return i === 1
      ? unbroadcast(where(c, g, zero), a.shape)
      : unbroadcast(where(c, zero, g), b.shape);
  },
  simplify: (node) => {
    const outside = outsideExpand(node.inputs, node.shape, (inputs) => whereNode(inputs, {}));
    if (outside) return outside;
    const [c, a, b] = node.inputs;
    const known = uniformValue(c);
    if (known !== undefined) return expand(known ? a : b, node.shape);
    return a === b ? expand(a, node.shape) : undefined;
  },
  batch: ({ shape }, inputs, mapped) => whereNode(aligned(inputs, mapped, shape.length), {}),
  emit: (_, inputs, emitter) => emitter.node("Where", inputs),
  evaluate: (node, inputs) =>
    mapBroadcast(
      node.shape,
      node.inputs.map((t) => t.shape),
      inputs,
      (c, a, b) => (c !== 0 ? a : b),
    ),
});

/**
 * `a` where the condition is true, else `b`, with broadcasting. A NaN in the branch that is not
 * selected makes the gradient NaN.
 */
export function where(condition: Operand, a: Operand, b: Operand): Tensor {
  const c = requireBool(
    condition instanceof Tensor ? condition : asTensor(condition, "bool"),
    "where",
  );
  return whereNode([c, ...asTensors(a, b, "where")], {});
}
