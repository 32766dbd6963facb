/**
 * The additive logistic map of `sec:chess_diffusion`, onto the open simplex {y > 0, Σy < 1}:
 *
 *   yᵢ = eˣⁱ / (1 + Σ eˣʲ)     xᵢ = log yᵢ − log y₀     y₀ = 1 − Σy, the omitted coordinate
 *
 * Everything is computed from log yᵢ = xᵢ − L and log y₀ = −L, L = log(1 + Σ eˣʲ).
 */
import {
  add,
  cast,
  div,
  equal,
  exp,
  less,
  log,
  logSumExp,
  max,
  maximum,
  mul,
  neg,
  type Operand,
  softplus,
  square,
  stopGradient,
  sub,
  sum,
  type Tensor,
  where,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { columnsOf, rowSquares } from "./coefficient.ts";
import { inOpenSimplex, omitted } from "./simplex.ts";

const total = (x: Tensor): Tensor => sum(x, -1, { keepDims: true });
/** L = log(1 + Σ eˣ) = softplus(log Σ eˣ) */
const normaliser = (x: Tensor): Tensor => softplus(logSumExp(x, -1, { keepDims: true }));

/**
 * vᵢ − E[v] and v₀ − E[v] under the weights y₁ … y_n, y₀. Both are the same for v − c with any c.
 * If c is the v of the coordinate with the greatest weight, its own term is exactly 0, and nothing
 * cancels near a vertex. The value does not depend on c, so derivatives need not pass through the
 * choice.
 */
function deviations(
  x: Tensor,
  v: Tensor,
  v0: Operand,
): { readonly each: Tensor; readonly omitted: Tensor } {
  const l = normaliser(x);
  const heaviest = cast(equal(x, maximum(max(x, -1, { keepDims: true }), 0)), x.dtype);
  const ties = total(heaviest);
  const c = stopGradient(
    where(less(ties, 0.5), v0, div(total(mul(heaviest, v)), maximum(ties, 1))),
  );
  const [shifted, shifted0] = [sub(v, c), sub(v0, c)];
  const mean = add(total(mul(exp(sub(x, l)), shifted)), mul(exp(neg(l)), shifted0));
  return { each: sub(shifted, mean), omitted: sub(shifted0, mean) };
}

/**
 * The additive logistic map onto the open simplex, yᵢ = eˣⁱ/(1 + Σ eˣʲ): the inverse of log-ratios
 * to the omitted coordinate y₀ = 1 − Σy.
 */
export function additiveLogistic(): Bijector {
  const forward = (x: Tensor): Tensor => exp(sub(x, normaliser(x)));

  // ∂yᵢ/∂xⱼ = yᵢ(δᵢⱼ − yⱼ): J = diag(y) − yyᵀ is symmetric, and (J v)ᵢ = yᵢ(vᵢ − E[v]).
  const along = (x: Tensor, v: Tensor): Tensor => mul(forward(x), deviations(x, v, 0).each);

  // xᵢ = log yᵢ − log y₀ and ∂y₀/∂yⱼ = −1 give J⁻¹ = diag(1/y) + 11ᵀ/y₀, symmetric too.
  const against = (x: Tensor, v: Tensor): Tensor => {
    const l = normaliser(x);
    return add(mul(v, exp(sub(l, x))), mul(total(v), exp(l)));
  };

  return {
    name: "additive logistic",
    eventRank: 1,
    forward,
    inverse: (y) => sub(log(y), log(omitted(y))),
    contains: inOpenSimplex,
    // det(diag(y) − yyᵀ) = Πyᵢ (1 − Σy) = y₀ Πyᵢ, so log|det J| = Σ log yᵢ + log y₀ = Σxᵢ − (n +
    // 1)L.
    logDet: (x) => sub(sum(x, -1), mul(sum(normaliser(x), -1), (x.shape.at(-1) as number) + 1)),
    pushVector: along,
    pullCovector: along,
    pullVector: against,
    pushCovector: against,
    // ∂L/∂xⱼ = yⱼ
    gradLogDet: (x) => sub(1, mul(forward(x), (x.shape.at(-1) as number) + 1)),
    /**
     * D²yᵢ[v, v] = yᵢ(dᵢ² − E[d²]), d = v − E[v]: the square of (log yᵢ)′ = dᵢ, and its derivative
     * −Var[v] = −E[d²]. For columns gₖeₖ along the axes, the sum over k is yᵢ(gᵢ²(1 − 2yᵢ) − Σ
     * yₖgₖ²(1 − 2yₖ)) = (J g²(1 − 2y))ᵢ.
     */
    itoTrace: (x, diffusion) => {
      const y = forward(x);
      if (diffusion.kind !== "matrix")
        return along(x, mul(rowSquares(diffusion, [x.shape.at(-1) as number]), sub(1, mul(y, 2))));
      const { each, omitted } = deviations(x, columnsOf(diffusion, x, 1), 0);
      return mul(y, deviations(x, sum(square(each), 0), sum(square(omitted), 0)).each);
    },
    // yᵢ(qᵢ − E[q]) = (J(q − q₀))ᵢ for any weights q and q₀: the deviations of q − q₀, which is 0
    // for y₀, are those of q.
    pullItoTrace: (x, diffusion) => {
      if (diffusion.kind !== "matrix")
        return mul(rowSquares(diffusion, [x.shape.at(-1) as number]), sub(1, mul(forward(x), 2)));
      const { each, omitted } = deviations(x, columnsOf(diffusion, x, 1), 0);
      return sub(sum(square(each), 0), sum(square(omitted), 0));
    },
  };
}
