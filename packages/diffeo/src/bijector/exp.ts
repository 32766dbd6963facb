/** y = eˣ: R → (0, ∞). ℓ = x. */
import { exp, fill, greater, less, log, logicalAnd } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

/** The map y = eˣ onto positive numbers, coordinate by coordinate. */
export const expMap = (): Bijector =>
  coordinatewise({
    name: "exp",
    forward: (x) => exp(x),
    inverse: (y) => log(y),
    logSlope: (x) => x,
    contains: (y) => logicalAnd(greater(y, 0), less(y, Number.POSITIVE_INFINITY)),
    logSlopeDerivative: (x) => fill([], 1, x.dtype),
  });
