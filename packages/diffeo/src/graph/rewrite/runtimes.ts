/** Replacements for operators that ONNX Runtime lacks, or runs badly, on some devices. */
import { abs, add, div, maximum, neg, signNode, sub } from "../arithmetic.ts";
import { erfNode } from "../erf.ts";
import { greater, logicalAnd, logicalNot, logicalOr, orNode, where, whereNode } from "../logic.ts";
import { isFloat } from "../ndarray.ts";
import { fill, type Make } from "../tensor.ts";
import { cosNode, exp, log, sigmoidNode, sinNode, softplusNode } from "../transcendental.ts";
import { erfExpression } from "./erf.ts";
import type { Lowering } from "./rule.ts";
import { sineExpression } from "./sine.ts";

export const runtimes: readonly (readonly [Make, Lowering])[] = [
  // WebGPU has no Sign; 0 and NaN return themselves.
  [
    signNode,
    ({ inputs: [x] }, target) =>
      target === "gpu" && isFloat(x.dtype)
        ? where(greater(x, 0), 1, where(greater(0, x), fill([], -1, x.dtype), x))
        : undefined,
  ],
  [sinNode, ({ inputs: [x] }, target) => (target === "gpu" ? sineExpression(x, 0) : undefined)],
  [cosNode, ({ inputs: [x] }, target) => (target === "gpu" ? sineExpression(x, 0.25) : undefined)],
  // The CPU's operator is 0 below −18 in float32, and loses all digits at −37 in float64.
  [
    sigmoidNode,
    ({ inputs: [x] }, target) => (target === "cpu" ? div(1, add(exp(neg(x)), 1)) : undefined),
  ],
  // log(1 + eˣ) = max(x, 0) + log(1 + u), u = e^{−|x|} ≤ 1. With w = fl(1 + u), log(1 + u) = log w
  // + (u − (w − 1))/w up to the square of a rounding error. The CPU's operator is float32 only and
  // 4 times slower, because it is not vectorised.
  [
    softplusNode,
    ({ inputs: [x] }, target) => {
      if (x.dtype === "float32" && target !== "cpu") return undefined;
      const u = exp(neg(abs(x)));
      const w = add(u, 1);
      return add(maximum(x, 0), add(log(w), div(sub(u, sub(w, 1)), w)));
    },
  ],
  [erfNode, ({ inputs: [x] }) => (x.dtype === "float32" ? undefined : erfExpression(x))],
  // a ∨ b = ¬(¬a ∧ ¬b): WebGPU has no Or.
  [
    orNode,
    ({ inputs: [a, b] }, target) =>
      target === "gpu" ? logicalNot(logicalAnd(logicalNot(a), logicalNot(b))) : undefined,
  ],
  // No runtime has a Where of booleans.
  [
    whereNode,
    ({ inputs: [c, a, b], dtype }) =>
      dtype === "bool" ? logicalOr(logicalAnd(c, a), logicalAnd(logicalNot(c), b)) : undefined,
  ],
];
