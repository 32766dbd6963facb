/** Priors: the distribution of X_T, from which reverse processes start. */
import { eventOf } from "../bijector/event.ts";
import { sumEvent } from "../bijector/index.ts";
import { add, type FloatType, mul, type Shape, square, type Tensor } from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import { type FloatArray, type Keys, normal } from "../random/index.ts";

/** The distribution of X_T, from which reverse processes start. */
export interface Prior {
  /** Samples one event per key. */
  readonly sample: (keys: Keys, event: Shape, dtype: FloatType) => FloatArray;
  /** log p_T(x), one number per event. */
  readonly logDensity: (x: Tensor) => Tensor;
}

/** The prior N(0, std² I). */
export function gaussianPrior(std: number, eventRank: number): Prior {
  return {
    sample: (keys, event, dtype) => {
      const draws = normal(keys, event, { dtype });
      for (let i = 0; i < draws.data.length; i++) draws.data[i] *= std;
      return draws;
    },
    logDensity: (x) => {
      const n = sizeOf(eventOf(x, eventRank));
      const constantTerm = -n * (Math.log(std) + 0.5 * Math.log(2 * Math.PI));
      return add(mul(sumEvent(square(x), eventRank), -0.5 / std ** 2), constantTerm);
    },
  };
}
