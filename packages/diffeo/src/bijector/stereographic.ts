/**
 * The stereographic projection onto the unit sphere without one pole, Rⁿ → Sⁿ ⊂ Rⁿ⁺¹. With s = 1 +
 * ‖x‖²:
 *
 *   y = (2x, ‖x‖² − 1)/s     x = (y₁ … y_n)/(1 − y_{n+1})
 *
 * It is an embedding: J is (n + 1) × n and conformal, JᵀJ = λ²I with λ = 2/s. So the volume factor
 * is ½ log det JᵀJ = n log λ, the pseudo-inverse is J⁺ = Jᵀ/λ², and densities on the sphere are
 * with respect to its area. A score pushed by (J⁺)ᵀ is the gradient along the sphere, which is
 * tangent: y·s_y = 0.
 */
import {
  abs,
  add,
  concat,
  div,
  less,
  log,
  logicalAnd,
  mul,
  slice,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { formsOf } from "./coefficient.ts";

const inner = (a: Tensor, b: Tensor): Tensor => sum(mul(a, b), -1, { keepDims: true });

/** (y₁ … y_n) and y_{n+1}. */
function parts(y: Tensor): readonly [Tensor, Tensor] {
  const n = y.shape.at(-1) as number;
  const whole = y.shape.slice(0, -1).map(() => null);
  return [slice(y, ...whole, [0, n - 1]), slice(y, ...whole, [n - 1, n])];
}

/**
 * The map Rⁿ → Sⁿ onto the unit sphere without one pole, by stereographic projection. It is an
 * embedding: y has one coordinate more than x.
 */
export function stereographic(): Bijector {
  const s = (x: Tensor): Tensor => add(inner(x, x), 1);
  // d(1/s) = −2 x·v/s²; y = (2x/s, 1 − 2/s).
  const along = (x: Tensor, v: Tensor): Tensor => {
    const d = div(mul(inner(x, v), 4), mul(s(x), s(x)));
    return concat([sub(div(mul(v, 2), s(x)), mul(x, d)), d]);
  };
  const alongBack = (x: Tensor, u: Tensor): Tensor => {
    const [across, up] = parts(u);
    const d = div(mul(sub(up, inner(x, across)), 4), mul(s(x), s(x)));
    return add(div(mul(across, 2), s(x)), mul(x, d));
  };
  /** 1/λ² = s²/4 */
  const stretch = (x: Tensor): Tensor => mul(mul(s(x), s(x)), 0.25);
  return {
    name: "stereographic",
    eventRank: 1,
    forward: (x) => concat([div(mul(x, 2), s(x)), sub(1, div(2, s(x)))]),
    inverse: (y) => {
      const [across, up] = parts(y);
      return div(across, sub(1, up));
    },
    logDet: (x) => mul(sub(Math.LN2, log(add(squaredNorm(x), 1))), x.shape.at(-1) as number),
    pushVector: along,
    pullCovector: alongBack,
    pullVector: (x, v) => mul(alongBack(x, v), stretch(x)),
    pushCovector: (x, u) => mul(along(x, u), stretch(x)),
    gradLogDet: (x) => mul(div(x, s(x)), -2 * (x.shape.at(-1) as number)),
    /**
     * d²(1/s) = −2‖v‖²/s² + 8(x·v)²/s³ =: b, so D²y = (4v d(1/s) + 2x b, −2b).
     * Summed over columns, A = GGᵀ: b = −2Tr(A)/s² + 8xᵀAx/s³ and the first part is −8Ax/s² + 2xb.
     */
    itoTrace: (x, diffusion) => {
      const { ax, trace, xax } = formsOf(diffusion, x);
      const s2 = mul(s(x), s(x));
      const b = div(sub(div(mul(xax, 8), s(x)), mul(trace, 2)), s2);
      return concat([sub(mul(mul(x, b), 2), div(mul(ax, 8), s2)), mul(b, -2)]);
    },
    // Jᵀ of it is 2(−8Ax/s² + 2xb)/s + 4x(−2bs + 8xᵀAx/s²)/s², and times 1/λ² = s²/4: (2Tr(A)x −
    // 4Ax)/s.
    pullItoTrace: (x, diffusion) => {
      const { ax, trace } = formsOf(diffusion, x);
      return div(sub(mul(mul(x, trace), 2), mul(ax, 4)), s(x));
    },
    // On the sphere up to rounding, and not at the pole.
    contains: (y) => {
      const [, up] = parts(y);
      const tolerance = y.dtype === "float32" ? 1e-5 : 1e-12;
      return logicalAnd(less(abs(sub(squaredNorm(y), 1)), tolerance), less(sum(up, -1), 1));
    },
  };
}
