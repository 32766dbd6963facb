/** y = a + (b − a) σ(x): R → (a, b). */
import {
  add,
  exp,
  fail,
  greater,
  less,
  log,
  logicalAnd,
  logSigmoid,
  mul,
  neg,
  sigmoid,
  sub,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

// f′ = (b − a) σ(x)σ(−x), so ℓ = log(b − a) + log σ(x) + log σ(−x) and ℓ′ = σ(−x) − σ(x): neither
// end has a difference of nearly equal numbers, and σ is shared with f′. 1/f′ = (1 + eˣ)(1 +
// e⁻ˣ)/(b − a).

/** The map y = a + (b − a) σ(x) onto numbers between `low` and `high`, coordinate by coordinate. */
export function sigmoidMap(low = 0, high = 1): Bijector {
  if (!(low < high && Number.isFinite(high - low)))
    fail(
      "usage",
      `sigmoidMap: (${low}, ${high}) is not an interval`,
      "give two finite numbers, low < high",
    );
  return coordinatewise({
    name: "sigmoid",
    forward: (x) => add(mul(sigmoid(x), high - low), low),
    inverse: (y) => sub(log(sub(y, low)), log(sub(high, y))),
    logSlope: (x) => add(add(logSigmoid(x), logSigmoid(neg(x))), Math.log(high - low)),
    slope: (x) => mul(mul(sigmoid(x), sigmoid(neg(x))), high - low),
    inverseSlope: (x) => mul(add(add(exp(x), exp(neg(x))), 2), 1 / (high - low)),
    contains: (y) => logicalAnd(greater(y, low), less(y, high)),
    logSlopeDerivative: (x) => sub(sigmoid(neg(x)), sigmoid(x)),
  });
}
