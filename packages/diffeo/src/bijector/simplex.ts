/**
 * The remainders of y ∈ {y > 0, Σy < 1}: rᵢ = 1 − Σⱼ≤ᵢ yⱼ, to the precision of y.
 *
 * Near a face of the simplex the last r is as small as 1e-11, and a sum rounded near 1 would leave
 * it 5 digits. So the rounding error of each step of the running sum is computed and summed
 * separately (Ogita, Rump and Oishi's Sum2):
 *
 *   s = fl(a + b),  b′ = fl(s − a),  error = (a − (s − b′)) + (b − b′), exactly   (Knuth)
 */
import {
  add,
  concat,
  cumsum,
  greater,
  logicalAnd,
  neg,
  slice,
  stopGradient,
  sub,
  type Tensor,
} from "../graph/index.ts";
import { everyCoordinate, filled } from "./event.ts";

/** Entries start … stop − 1 of the last axis. */
const part = (v: Tensor, start: number, stop: number): Tensor =>
  slice(v, ...v.shape.slice(0, -1).map(() => null), [start, stop]);

/** r₁ … r_n */
export function remainders(y: Tensor): Tensor {
  const n = y.shape.at(-1) as number;
  const b = neg(y);
  const steps = cumsum(concat([filled([...y.shape.slice(0, -1), 1], 1, y.dtype), b]), -1);
  const [a, s] = [part(steps, 0, n), part(steps, 1, n + 1)];
  const added = sub(s, a);
  const errors = add(sub(a, sub(s, added)), sub(b, added));
  // The derivative of the errors is 0, because the exact sum has none.
  return add(s, stopGradient(cumsum(errors, -1)));
}

/** r_n = 1 − Σy, with an axis of size 1. */
export function omitted(y: Tensor): Tensor {
  const n = y.shape.at(-1) as number;
  return part(remainders(y), n - 1, n);
}

/**
 * y > 0 and Σy < 1, by comparison, because a GPU may not give NaN for the logarithm of a negative
 * number.
 */
export const inOpenSimplex = (y: Tensor): Tensor =>
  logicalAnd(
    everyCoordinate(greater(y, 0), y.dtype),
    everyCoordinate(greater(omitted(y), 0), y.dtype),
  );
