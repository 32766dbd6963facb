/**
 * yᵢ = x_{π(i)}. J is the matrix of π, so J⁻¹ = Jᵀ, log|det J| = 0 and H = 0. Between couplings it
 * lets every coordinate depend on every other.
 */
import { constant, fail, type Tensor, take } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { batchOf, filled } from "./event.ts";

/**
 * Permutes the coordinates, yᵢ = x_{order[i]}.
 *
 * @throws DiffeoError of kind `usage` if `order` is not a permutation of 0 … n − 1
 *
 * @param order π, for each coordinate of y the index of the coordinate of x
 */
export function permutation(order: readonly number[]): Bijector {
  const n = order.length;
  const back = order.map((_, i) => order.indexOf(i));
  if (n === 0 || back.includes(-1))
    fail(
      "usage",
      `permutation: [${order}] is not a permutation of 0 … ${n - 1}`,
      "give every index once, counted from 0",
    );
  const reorder =
    (by: readonly number[]) =>
    (v: Tensor): Tensor => {
      if (v.shape.at(-1) !== n)
        fail(
          "shape",
          `permutation: the event has ${v.shape.at(-1)} coordinates, the order has ${n}`,
          `give vectors of ${n} numbers`,
        );
      return take(v, constant(by, "int32"), -1);
    };
  const [along, against] = [reorder(order), reorder(back)];
  const none = (x: Tensor): Tensor => filled(x.shape, 0, x.dtype);
  return {
    name: "permutation",
    eventRank: 1,
    forward: (x) => along(x),
    inverse: (y) => against(y),
    logDet: (x) => filled(batchOf(x, 1), 0, x.dtype),
    pushVector: (_, v) => along(v),
    pushCovector: (_, u) => along(u),
    pullVector: (_, v) => against(v),
    pullCovector: (_, u) => against(u),
    gradLogDet: none,
    itoTrace: none,
    pullItoTrace: none,
  };
}
