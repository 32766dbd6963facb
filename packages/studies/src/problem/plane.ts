/** Distributions in the plane with a known density, of mean near 0 and variances near 1. */
import { banana, sampleFrom } from "diffeo/distribution";
import { constant, mul, type NdArray, sub, type Tensor } from "diffeo/graph";
import type { Key } from "diffeo/random";
import { threeGaussians } from "./mixture.ts";

/** Samples [count, 2] and a log-density of points. */
export interface Known {
  readonly sample: (key: Key, count: number, dtype?: "float32" | "float64") => NdArray;
  readonly logDensity: (w: Tensor) => Tensor;
}

/** The standard deviation of w₂ given w₁. */
const WIDTH = 0.36;

/** w₁ = ε₁, w₂ = 0.66 (ε₁² − 1) + 0.36 ε₂: a Gaussian that one affine coupling bends. */
function curve(): Known {
  const bent = banana({ length: 1, bend: 0.66 / WIDTH });
  return {
    sample: (key, count, dtype) => {
      const samples = sampleFrom(bent, key, count, dtype);
      for (let i = 1; i < samples.data.length; i += 2)
        samples.data[i] = WIDTH * Number(samples.data[i]);
      return samples;
    },
    logDensity: (w) =>
      sub(bent.logDensity(mul(w, constant([1, 1 / WIDTH], w.dtype))), Math.log(WIDTH)),
  };
}

/** Three Gaussians that hardly overlap. */
function modes(): Known {
  const law = threeGaussians();
  return {
    sample: (key, count, dtype) => sampleFrom(law, key, count, dtype),
    logDensity: (w) => law.logDensity(w),
  };
}

export const knownDistributions = { curve, modes } as const;

/** The name of a known distribution. */
export type KnownName = keyof typeof knownDistributions;
