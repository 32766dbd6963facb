/** Operations as others, where the compiler has none of its own for them. */
import { div, sub } from "../../graph/arithmetic.ts";
import { sum } from "../../graph/broadcast.ts";
import { max } from "../../graph/reduce.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { exp } from "../../graph/transcendental.ts";
import { isSupported } from "./plan.ts";

export function lowering(t: Tensor): Tensor | undefined {
  if (isSupported(t)) return undefined;
  const [x] = t.inputs;
  if (t.op.name === "softmax") {
    const axis = t.attributes.axis as number;
    const e = exp(sub(x, max(x, axis, { keepDims: true })));
    return div(e, sum(e, axis, { keepDims: true }));
  }
  return t.op.lower?.(t, "cpu");
}
