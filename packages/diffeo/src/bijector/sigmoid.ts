/** y = a + (b − a) σ(x): R → (a, b). */
import {
  add,
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
  tanh,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

// f′ = (b − a) σ(x)σ(−x), so ℓ = log(b − a) + log σ(x) + log σ(−x) and ℓ′ = σ(−x) − σ(x) =
// −tanh(x/2): no difference of nearly equal numbers at either end.

/** y = a + (b − a) σ(x), onto numbers between two bounds; coordinate by coordinate. */
export function sigmoidMap(low = 0, high = 1): Bijector {
  if (!(low < high && Number.isFinite(high - low)))
    fail(
      "usage",
      `sigmoidMap: (${low}, ${high}) is no interval`,
      "give two finite numbers, low < high",
    );
  return coordinatewise({
    name: "sigmoid",
    forward: (x) => add(mul(sigmoid(x), high - low), low),
    inverse: (y) => sub(log(sub(y, low)), log(sub(high, y))),
    logSlope: (x) => add(add(logSigmoid(x), logSigmoid(neg(x))), Math.log(high - low)),
    contains: (y) => logicalAnd(greater(y, low), less(y, high)),
    logSlopeDerivative: (x) => neg(tanh(mul(x, 0.5))),
  });
}
