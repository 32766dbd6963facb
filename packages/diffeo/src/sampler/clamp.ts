/**
 * What steps in y need on a simplex and steps in x do not: an `onExit` that puts points back
 * inside.
 */
import { div, maximum, sum, type Tensor } from "../graph/index.ts";

/**
 * Every coordinate at least `floor`, then all scaled down where fewer than `floor` are left for the
 * one left out.
 */
export const clampToSimplex =
  (floor: number) =>
  (y: Tensor): Tensor => {
    const positive = maximum(y, floor);
    const total = sum(positive, -1, { keepDims: true });
    return div(positive, maximum(div(total, 1 - floor), 1));
  };
