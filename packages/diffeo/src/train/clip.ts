/**
 * Clipping by the norm: g ↦ c·g with c = min(1, limit/‖g‖), so that a long gradient keeps its
 * direction.
 */
import { add, div, minimum, type Tensor } from "../graph/index.ts";

/** c, a scalar, which `adam` takes in addition to g. */
export const clipFactor = (norm: Tensor, limit: number): Tensor =>
  minimum(div(limit, add(norm, 1e-6)), 1);
