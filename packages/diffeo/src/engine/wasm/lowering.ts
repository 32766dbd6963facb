/** Expresses operations that the compiler lacks by others. */
import { div, sub } from "../../graph/arithmetic.ts";
import { sum } from "../../graph/broadcast.ts";
import { normWrittenOut } from "../../graph/layer-norm.ts";
import { sameShape, sizeOf } from "../../graph/ndarray.ts";
import { max } from "../../graph/reduce.ts";
import { reshape } from "../../graph/shape.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { exp } from "../../graph/transcendental.ts";
import { isSupported } from "./plan.ts";

/** The operand behind reshapes. */
const unshaped = (t: Tensor): Tensor => (t.op.name === "reshape" ? unshaped(t.inputs[0]) : t);

/**
 * e^{a − (log s + m)}, where s is a sum over e^{a − m}, as e^{a − m}/s: the derivative of a
 * log-sum-exp then needs no further exponential.
 */
function shareOf(t: Tensor): Tensor | undefined {
  const [difference] = t.inputs;
  if (difference.op.name !== "sub") return undefined;
  const [a, given] = difference.inputs;
  const whole = unshaped(given);
  if (whole.op.name !== "add") return undefined;
  for (const [i, part] of whole.inputs.entries()) {
    const logarithm = unshaped(part);
    if (logarithm.op.name !== "log") continue;
    const s = unshaped(logarithm.inputs[0]);
    const e = s.op.name === "sum" ? s.inputs[0] : s;
    if (s.op.name !== "sum" || e.op.name !== "exp" || e.inputs[0].op.name !== "sub") continue;
    const [own, m] = e.inputs[0].inputs;
    const same = own === a && unshaped(m) === unshaped(whole.inputs[1 - i]);
    if (same && sameShape(e.shape, t.shape) && sizeOf(s.shape) === sizeOf(given.shape))
      return div(e, reshape(s, given.shape));
  }
  return undefined;
}

export function lowering(t: Tensor): Tensor | undefined {
  if (t.op.name === "exp") return shareOf(t);
  if (isSupported(t)) return undefined;
  const [x] = t.inputs;
  if (t.op.name === "softmax") {
    const axis = t.attributes.axis as number;
    const e = exp(sub(x, max(x, axis, { keepDims: true })));
    return div(e, sum(e, axis, { keepDims: true }));
  }
  return normWrittenOut(t) ?? t.op.lower?.(t, "cpu");
}
