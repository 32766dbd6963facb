/**
 * Clipping by the norm: g ↦ c·g with c = min(1, limit/‖g‖), which keeps the direction of a long
 * gradient.
 */
import { add, div, minimum, type Tensor } from "../graph/index.ts";

/** The clipping factor c, a scalar, for `adam`. */
export const clipFactor = (norm: Tensor, limit: number): Tensor =>
  minimum(div(limit, add(norm, 1e-6)), 1);
