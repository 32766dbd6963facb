/** y = tanh(x): R → (−1, 1). */
import { abs, add, less, log1p, logSigmoid, mul, neg, sub, tanh } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

// f′ = 1 − tanh² x = 4σ(2x)σ(−2x), so ℓ = log 4 + log σ(2x) + log σ(−2x) and ℓ′ = −2 tanh x.
// artanh y = ½(log(1 + y) − log(1 − y)).

/** y = tanh x, onto numbers between −1 and 1; coordinate by coordinate. */
export const tanhMap = (): Bijector =>
  coordinatewise({
    name: "tanh",
    forward: (x) => tanh(x),
    inverse: (y) => mul(sub(log1p(y), log1p(neg(y))), 0.5),
    logSlope: (x) => add(add(logSigmoid(mul(x, 2)), logSigmoid(mul(x, -2))), Math.log(4)),
    contains: (y) => less(abs(y), 1),
    logSlopeDerivative: (x) => mul(tanh(x), -2),
  });
