/**
 * An upper bound on −log₂ P(grid), the code length of grids under a model, for the distribution of
 * classes that its reverse process and the final decoding define (D. Kingma et al., "Variational
 * diffusion models", 2021). With r = m²/σ² and e(r) = ‖x₀ − x̂₀(x_t)‖² of a whole grid,
 *
 *   −log P(k) ≤ m_T²‖x₀‖²/2σ_T² + ½ ∫ E e(r) dr − E Σ_s log p̂(k_s | x_t₀),
 *
 * the integral over the ratios between those at T and at t₀ = T/1000. With the true posterior means
 * it is an equality, by the relation of information and mean-square error: the bound is then the
 * entropy of the data. Unlike a density on the simplices, which grows without end as ε decreases,
 * it is a code length, and can be compared with that of any other model of the classes.
 */
import { sumEvent } from "../bijector/index.ts";
import { type CompileOptions, compile } from "../engine/index.ts";
import { add, constant, dot, mul, oneHot, square, sub, type Tensor, take } from "../graph/index.ts";
import { batches } from "../host/index.ts";
import { asConstants, type Parameters } from "../model/index.ts";
import { fold, type Key, normal, sampleKeys } from "../random/index.ts";
import { logSnr, logSnrGrid } from "../sampler/index.ts";
import { gridCount } from "./categorical.ts";
import type { ClassArray } from "./class-array.ts";
import { denoiserLogPosterior, denoiserMean } from "./denoiser.ts";
import type { Model } from "./model.ts";

/** Options of `bitsPerGrid`. */
export interface BitsOptions extends Omit<CompileOptions, "keep" | "type"> {
  readonly key: Key;
  /** The number of times, at equal steps of the log signal-to-noise ratio. Default 128. */
  readonly times?: number;
  /** Grids per batch. Default 64. */
  readonly batch?: number;
  /** Called after every time of every batch. */
  readonly onStep?: () => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Computes an upper bound on the bits of each grid under a model, −log₂ P(grid), with one noise
 * sample per time. The number of one grid is noisy; compare models by the mean over grids.
 *
 * @param classes the classes of the grids, concatenated
 * @returns one number per grid
 */
export async function bitsPerGrid(
  model: Model,
  classes: ClassArray,
  { key, times: count = 128, batch = 64, onStep, signal, ...engine }: BitsOptions,
): Promise<Float64Array> {
  const { denoiser, encoding } = model;
  const { grid, channels } = encoding;
  const { transition, horizon } = denoiser.sde;
  const parameters = asConstants<Parameters<Tensor>>(model.parameters);
  const [meanOf, logPosterior] = [denoiserMean, denoiserLogPosterior].map((of) =>
    of(denoiser, parameters),
  );
  const look = compile(
    (k: Tensor, t: Tensor, noise: Tensor) => {
      const x0 = take(constant(denoiser.codes, noise.dtype), k);
      const x = add(mul(x0, transition.meanFactor(t)), mul(noise, transition.std(t)));
      const log = logPosterior(x, t);
      return {
        error: sumEvent(square(sub(meanOf(x, t), x0)), grid.length + 1),
        log: sumEvent(dot(oneHot(k, encoding.classes, log.dtype), log), grid.length),
        size: sumEvent(square(x0), grid.length + 1),
      };
    },
    [{ shape: [null, ...grid], dtype: "int32" }, [], [null, ...grid, channels]],
    { ...engine, type: "float32" },
  );
  // From T/1000, where the ratio is greatest, to T.
  const times = logSnrGrid(transition, horizon / 1000, horizon, count - 1);
  const lambda = logSnr(transition)(times);
  const total = gridCount(classes.length, grid);
  const size = classes.length / total;
  const nats = new Float64Array(total);
  try {
    for (const [first, rows] of batches(total, batch)) {
      const own = classes.subarray(first * size, (first + rows) * size);
      const k = { shape: [rows, ...grid], dtype: "int32", data: Int32Array.from(own) } as const;
      for (const [i, t] of times.entries()) {
        signal?.throwIfAborted();
        const keys = sampleKeys(fold(fold(key, "bits"), i), rows, first);
        const { error, log, size: norm } = await look(k, t, normal(keys, [...grid, channels]));
        // The trapezoidal rule in λ = log r, dr = r dλ.
        const step = (lambda[Math.max(0, i - 1)] - lambda[Math.min(count - 1, i + 1)]) / 2;
        const ratio = Math.exp(lambda[i]);
        for (let row = 0; row < rows; row++) {
          nats[first + row] += 0.5 * ratio * step * Number(error.data[row]);
          if (i === 0) nats[first + row] -= Number(log.data[row]);
          if (i === count - 1) nats[first + row] += 0.5 * ratio * Number(norm.data[row]);
        }
        await onStep?.();
      }
    }
  } finally {
    await look.dispose();
  }
  return nats.map((n) => n / Math.LN2);
}
