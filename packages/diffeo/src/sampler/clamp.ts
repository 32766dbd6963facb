/**
 * An `onExit` for steps in y on a simplex that moves points back inside. Steps in x do not need it.
 */
import { div, maximum, sum, type Tensor } from "../graph/index.ts";

/**
 * Sets every coordinate to at least `floor`, then scales all down if less than `floor` remains for
 * the omitted one.
 */
export const clampToSimplex =
  (floor: number) =>
  (y: Tensor): Tensor => {
    const positive = maximum(y, floor);
    const total = sum(positive, -1, { keepDims: true });
    return div(positive, maximum(div(total, 1 - floor), 1));
  };
