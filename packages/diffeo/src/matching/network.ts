/**
 * A random network of one layer: v(x) = m^{−½} Σ_j a_j tanh(w_j·x + b_j), all of a, w, b standard
 * normal.
 *
 * C(x) has no closed form: use several slices per point, or `withMonteCarlo`.
 */
import { add, dot, expandDims, mul, squeeze, sum, tanh } from "../graph/index.ts";
import { countOf } from "./draws.ts";
import { type SliceFamily, smoothFamily } from "./family.ts";

/** Random networks of one layer with `width` hidden units as slices. C has no closed form. */
export const networkSlices = (width = 8): SliceFamily => {
  countOf(width, "hidden units");
  return smoothFamily({
    name: "random network",
    draws: (n) => ({
      w: { distribution: "normal", shape: [width, n] },
      b: { distribution: "normal", shape: [width] },
      a: { distribution: "normal", shape: [width] },
    }),
    value: (x, { w, b, a }) => {
      const hidden = tanh(
        add(squeeze(sum(mul(w, expandDims(x, -2)), -1, { keepDims: true }), -1), b),
      );
      return mul(dot(a, hidden), 1 / Math.sqrt(width));
    },
  });
};
