/**
 * Elementwise operations on one operand, and on two with NumPy's broadcasting, each defined by one
 * rule.
 */
import { expand, outsideExpand, unbroadcast } from "./broadcast.ts";
import type { Emitter } from "./emitter.ts";
import { mapBroadcast, mapUnary } from "./loops.ts";
import { broadcastShapes, type DType, isFloat } from "./ndarray.ts";
import { aligned } from "./shape.ts";
import {
  type Make,
  type Primitive,
  primitive,
  requireFloat,
  requireNumbers,
  type Tensor,
} from "./tensor.ts";

interface UnaryRule {
  readonly f: (x: number) => number;
  /**
   * The cotangent of x, given the cotangent g of y = f(x). Absent if the derivative is 0 almost
   * everywhere.
   */
  readonly vjp?: (g: Tensor, x: Tensor, y: Tensor) => Tensor;
  readonly emit?: (x: string, emitter: Emitter, dtype: DType) => string;
  /** An equal expression, if ONNX does not have the operation. */
  readonly lower?: (x: Tensor) => Tensor | undefined;
  readonly simplify?: (x: Tensor) => Tensor | undefined;
  /** Whether it is defined for integers, too. */
  readonly integers?: boolean;
}

export function unary(name: string, rule: UnaryRule) {
  const { vjp, lower, simplify } = rule;
  const make: Make = primitive({
    name,
    infer: ([x]) => {
      (rule.integers ? requireNumbers : requireFloat)(x, name);
      return x;
    },
    ...(vjp && { vjp: (g: Tensor, node: Tensor) => vjp(g, node.inputs[0], node) }),
    ...(lower && { lower: (node: Tensor) => lower(node.inputs[0]) }),
    simplify: (node) =>
      simplify?.(node.inputs[0]) ??
      outsideExpand(node.inputs, node.shape, (inputs) => make(inputs, {})),
    batch: (_, inputs) => make(inputs, {}),
    emit: (node, [x], emitter) =>
      rule.emit
        ? rule.emit(x, emitter, node.dtype)
        : emitter.node(name.charAt(0).toUpperCase() + name.slice(1), [x]),
    evaluate: (_, [x]) => mapUnary(x, rule.f),
  });
  return make;
}

interface BinaryRule {
  readonly onnx: string;
  readonly f: (a: number, b: number) => number;
  /** The operation for integers, if it differs. */
  readonly whole?: (a: number, b: number) => number;
  /** The cotangents of a and b, before the sum over broadcast axes. */
  readonly vjp: readonly [
    (g: Tensor, a: Tensor, b: Tensor, y: Tensor) => Tensor,
    (g: Tensor, a: Tensor, b: Tensor, y: Tensor) => Tensor,
  ];
  /**
   * Equal expressions of the operands `a` and `b`; the caller expands the result to the right
   * shape.
   */
  readonly simplify?: (a: Tensor, b: Tensor) => Tensor | undefined;
  readonly emit?: Primitive["emit"];
}

export function binary(name: string, rule: BinaryRule) {
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
    batch: ({ shape }, inputs, mapped) => make(aligned(inputs, mapped, shape.length), {}),
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
