/**
 * yᵢ = x_{π(i)}: the coordinates in another order. J is the matrix of π, so J⁻¹ = Jᵀ, log|det J| =
 * 0 and H = 0.
 * Between couplings, it lets every coordinate see every other.
 */
import { constant, fail, type Tensor, take } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { batchOf, filled } from "./event.ts";

/**
 * The coordinates in another order, yᵢ = x_{order[i]}.
 *
 * @throws DiffeoError of kind `usage` where `order` is not a permutation of 0 … n − 1
 *
 * @param order π: which coordinate of x stands at each place of y, every one once
 */
export function permutation(order: readonly number[]): Bijector {
  const n = order.length;
  const back = order.map((_, i) => order.indexOf(i));
  if (n === 0 || back.includes(-1))
    fail(
      "usage",
      `permutation: [${order}] is not a permutation of 0 … ${n - 1}`,
      "name every coordinate once, counted from 0",
    );
  const reorder =
    (by: readonly number[]) =>
    (v: Tensor): Tensor => {
      if (v.shape.at(-1) !== n)
        fail(
          "shape",
          `permutation: ${v.shape.at(-1)} coordinates for an order of ${n}`,
          `give vectors of ${n}`,
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
