/**
 * The process of T. Karras et al., "Elucidating the design space of diffusion-based generative
 * models" (NeurIPS 2022), whose time is the standard deviation of its noise:
 *
 *   dX = √(2t) dW,   X_t | x₀ ~ N(x₀, t² I),   0 ≤ t ≤ σ_max
 */
import { fail, mul, onesLike, sqrt, zerosLike } from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { GaussianSde } from "./sde.ts";

/** Options of `edm`. */
export interface EdmOptions {
  /** σ_max, the horizon. Default 80. */
  readonly sigmaMax?: number;
  /** The number of trailing axes of one event. Default 1. */
  readonly eventRank?: number;
}

/**
 * The process of EDM: noise without drift, whose standard deviation is the time t.
 *
 * @example
 * import { key } from "diffeo/random";
 *
 * const score = await fromOnnx(bytes, { predicts: "edm", sde: edm() });
 * await sample(reverse(edm(), score), { shape: [3], count: 500, key: key(1), grid: "karras" });
 */
export function edm({ sigmaMax = 80, eventRank = 1 }: EdmOptions = {}): GaussianSde {
  if (!(sigmaMax > 0 && sigmaMax < Infinity))
    fail("usage", `EDM: sigmaMax is ${sigmaMax}`, "use a positive number");
  return {
    name: "EDM",
    eventRank,
    horizon: sigmaMax,
    drift: (x) => zerosLike(x),
    diffusion: (_, t) => ({ kind: "scalar", value: sqrt(mul(t, 2)) }),
    transition: { meanFactor: (t) => onesLike(t), std: (t) => t, timeAt: (ratio) => ratio },
    prior: gaussianPrior(sigmaMax, eventRank),
  };
}
