/** y = tanh(x): R → (−1, 1). */
import {
  abs,
  add,
  exp,
  less,
  log1p,
  logSigmoid,
  mul,
  neg,
  sigmoid,
  sub,
  tanh,
} from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

// f′ = 1 − tanh² x = 4σ(2x)σ(−2x), so ℓ = log 4 + log σ(2x) + log σ(−2x) and ℓ′ = −2 tanh x =
// 2(σ(−2x) − σ(2x)). 1/f′ = cosh² x = (2 + e²ˣ + e⁻²ˣ)/4. artanh y = ½(log(1 + y) − log(1 − y)).

/** The map y = tanh x onto numbers between −1 and 1, coordinate by coordinate. */
export const tanhMap = (): Bijector =>
  coordinatewise({
    name: "tanh",
    forward: (x) => tanh(x),
    inverse: (y) => mul(sub(log1p(y), log1p(neg(y))), 0.5),
    logSlope: (x) => add(add(logSigmoid(mul(x, 2)), logSigmoid(mul(x, -2))), Math.log(4)),
    slope: (x) => mul(mul(sigmoid(mul(x, 2)), sigmoid(mul(x, -2))), 4),
    inverseSlope: (x) => mul(add(add(exp(mul(x, 2)), exp(mul(x, -2))), 2), 0.25),
    contains: (y) => less(abs(y), 1),
    logSlopeDerivative: (x) => mul(sub(sigmoid(mul(x, -2)), sigmoid(mul(x, 2))), 2),
  });
