/** y = log(1 + eˣ): R → (0, ∞), close to x for large x. */
import {
  add,
  exp,
  expm1,
  greater,
  less,
  log,
  logicalAnd,
  logSigmoid,
  neg,
  sigmoid,
  softplus,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

// f′ = σ(x), so ℓ = log σ(x), ℓ′ = σ(−x) and 1/f′ = 1 + e⁻ˣ.
// eʸ = 1 + eˣ gives x = log(eʸ − 1) = y + log(1 − e⁻ʸ), exact for small y as −expm1(−y) and for
// large y as y.

/** The map y = log(1 + eˣ) onto positive numbers, coordinate by coordinate. */
export const softplusMap = (): Bijector =>
  coordinatewise({
    name: "softplus",
    forward: (x) => softplus(x),
    inverse: (y) => add(y, log(neg(expm1(neg(y))))),
    logSlope: (x) => logSigmoid(x),
    slope: (x) => sigmoid(x),
    inverseSlope: (x) => add(exp(neg(x)), 1),
    contains: (y) => logicalAnd(greater(y, 0), less(y, Number.POSITIVE_INFINITY)),
    logSlopeDerivative: (x) => sigmoid(neg(x)),
  });
