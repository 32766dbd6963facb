/**
 * The open unit ball: y = x/√(1 + ‖x‖²), x = y/√(1 − ‖y‖²). With s = 1 + ‖x‖²:
 *
 *   J = s^(−½)(I − xxᵀ/s)    J⁻¹ = s^(½)(I + xxᵀ)    det J = s^(−n/2 − 1)
 *
 * J is symmetric. The determinant: I − xxᵀ/s has the eigenvalue 1 − ‖x‖²/s = 1/s along x and 1
 * across; and
 * (I − xxᵀ/s)(I + xxᵀ) = I + xxᵀ(1 − 1/s − ‖x‖²/s) = I.
 */
import {
  add,
  div,
  less,
  log,
  mul,
  neg,
  sqrt,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { formsOf } from "./coefficient.ts";

const inner = (a: Tensor, b: Tensor): Tensor => sum(mul(a, b), -1, { keepDims: true });

/** The map y = x/√(1 + ‖x‖²) onto the open unit ball. */
export function unitBall(): Bijector {
  const s = (x: Tensor): Tensor => add(inner(x, x), 1);
  const along = (x: Tensor, v: Tensor): Tensor =>
    div(sub(v, mul(x, div(inner(x, v), s(x)))), sqrt(s(x)));
  const against = (x: Tensor, v: Tensor): Tensor => mul(add(v, mul(x, inner(x, v))), sqrt(s(x)));
  return {
    name: "unit ball",
    eventRank: 1,
    forward: (x) => div(x, sqrt(s(x))),
    inverse: (y) => div(y, sqrt(sub(1, inner(y, y)))),
    logDet: (x) => mul(log(add(squaredNorm(x), 1)), -(x.shape.at(-1) as number) / 2 - 1),
    pushVector: along,
    pullCovector: along,
    pullVector: against,
    pushCovector: against,
    contains: (y) => less(squaredNorm(y), 1),
    gradLogDet: (x) => mul(div(x, s(x)), -(x.shape.at(-1) as number) - 2),
    /**
     * d s^(−½) = −s^(−3/2) x·v and d² s^(−½) = −s^(−3/2)‖v‖² + 3 s^(−5/2)(x·v)², so for φ = x
     * s^(−½)
     *   D²φ[v, v] = 2v d s^(−½) + x d² s^(−½) = s^(−3/2)(−2(x·v)v − ‖v‖²x + 3(x·v)²x/s).
     * Summed over the columns of G, with A = GGᵀ: s^(−3/2)(−2Ax − Tr(A)x + 3(xᵀAx)x/s).
     */
    itoTrace: (x, diffusion) => {
      const { ax, trace, xax } = formsOf(diffusion, x);
      const radial = mul(x, sub(mul(div(xax, s(x)), 3), trace));
      return div(add(radial, neg(mul(ax, 2))), mul(s(x), sqrt(s(x))));
    },
    // s⁻¹(I + xxᵀ)(−2Ax − Tr(A)x + 3qx/s) with q = xᵀAx and ‖x‖² = s − 1: along x, −Tr(A)s + 3q −
    // 2q remain.
    pullItoTrace: (x, diffusion) => {
      const { ax, trace, xax } = formsOf(diffusion, x);
      return sub(div(sub(mul(x, xax), mul(ax, 2)), s(x)), mul(x, trace));
    },
  };
}
