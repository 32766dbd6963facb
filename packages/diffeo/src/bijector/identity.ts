/** y = x */
import { fill } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import { coordinatewise } from "./coordinatewise.ts";

/** The identity y = x on vectors. */
export const identity = (): Bijector =>
  coordinatewise({
    name: "identity",
    forward: (x) => x,
    inverse: (y) => y,
    logSlope: (x) => fill([], 0, x.dtype),
    slope: (x) => fill([], 1, x.dtype),
    logSlopeDerivative: (x) => fill([], 0, x.dtype),
  });
