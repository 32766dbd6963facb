/** g ↦ g·min(1, limit/‖g‖): a long gradient keeps its direction. */
import { add, div, minimum, mul, sqrt, squaredNorm, type Tensor } from "../graph/index.ts";

export const clipNorm = (gradient: Tensor, limit: number): Tensor =>
  mul(gradient, minimum(div(limit, add(sqrt(squaredNorm(gradient)), 1e-6)), 1));
