/**
 * The noise of samplers: standard normals z, which a step scales to √|dt| z.
 *
 * By default the noise of sample i at step s is a function of (key, i, s) alone. A Brownian path
 * gives every grid the increments of the same W, so that two solvers or step sizes can be compared
 * path by path:
 *
 *   W(t₁) − W(t₀) = Σ √|δₖ| zₖ   over the intervals δₖ of the finest grid between t₀ and t₁
 */
import { type FloatType, fail, type Shape } from "../graph/index.ts";
import { allocate, sizeOf } from "../graph/ndarray.ts";
import { fold, type Key, type Keys, normal, sampleKeys } from "../random/index.ts";

/**
 * A request for standard normals [count, ...shape], row-major, for the samples `first`, `first` +
 * 1, …
 */
export interface NoiseRequest {
  readonly step: number;
  /** A step may request noise several times; 0 is the increment of the Brownian motion. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly count: number;
  readonly shape: Shape;
  readonly dtype: FloatType;
}

/** A source of the standard normals of a sampler. */
export type NoiseSource = (draw: NoiseRequest) => Float32Array | Float64Array;

/** The keys of a batch, which all steps share; computed once per batch. */
function keysOfBatch(root: Key): (batch: Pick<NoiseRequest, "first" | "count">) => Keys {
  let last: { readonly first: number; readonly keys: Keys } | undefined;
  return ({ first, count }) => {
    if (last?.first !== first || last.keys.count !== count)
      last = { first, keys: sampleKeys(root, count, first) };
    return last.keys;
  };
}

/** The key of the noise that is independent for every sample, step and request. */
export const noiseRoot = (key: Key): Key => fold(key, "noise");

/** Independent noise for every sample, step and request. */
export function independentNoise(key: Key): NoiseSource {
  const keysOf = keysOfBatch(noiseRoot(key));
  return ({ step, index, shape, dtype, ...batch }) => {
    const own = fold(keysOf(batch), step);
    return normal(index === 0 ? own : fold(own, index), shape, { dtype }).data;
  };
}

/**
 * The increments of one Brownian motion per sample, on the grid `times` and every coarser grid of
 * its times. Further requests of a step (index above 0) are independent of it.
 */
export function brownianPath(key: Key, times: readonly number[]): NoiseSource {
  const keysOf = keysOfBatch(fold(key, "path"));
  const rest = independentNoise(key);
  const indexOf = new Map(times.map((t, i) => [t, i]));
  return (draw) => {
    if (draw.index > 0) return rest(draw);
    const [a, b] = [draw.from, draw.to].map(
      (t) =>
        indexOf.get(t) ??
        fail(
          "usage",
          `brownianPath: t = ${t} is not one of its times`,
          "use a grid of the path's times",
        ),
    );
    if (a >= b)
      fail(
        "usage",
        `brownianPath: its times start at t = ${times[0]} and do not run from ${draw.from} ` +
          `to ${draw.to}`,
        "reverse the times",
      );
    const keys = keysOf(draw);
    const total = allocate("float64", draw.count * sizeOf(draw.shape)) as Float64Array;
    const whole = Math.abs(draw.to - draw.from);
    for (let k = a; k < b; k++) {
      const share = Math.sqrt(Math.abs(times[k + 1] - times[k]) / whole);
      const { data } = normal(fold(keys, k), draw.shape, { dtype: "float64" });
      for (let i = 0; i < total.length; i++) total[i] += share * data[i];
    }
    return draw.dtype === "float64" ? total : Float32Array.from(total);
  };
}
