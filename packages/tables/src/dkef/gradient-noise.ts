/**
 * The noise of the gradient of a training step. At parameters θ,
 *
 *   noise = Σᵢ Var[gᵢ]        signal = ‖E g‖²        g = ∇_θ of the loss of a step, through its α
 *
 * over the slices of one batch of points, or over points and slices together. Exact score matching
 * has no slices and therefore none of the first noise. Losses with and without variance reduction
 * differ only in this noise.
 */

import { fail } from "diffeo/graph";
import { type Closable, disposable } from "diffeo/host";
import { fold, permutation } from "diffeo/random";
import type { Prepared } from "../table/prepare.ts";
import { openFitting, pickRows } from "./fitting.ts";
import { type FitOptions, settingsOf } from "./settings.ts";

/** The noise of a gradient relative to its length. */
export interface GradientNoise {
  readonly noise: number;
  /**
   * Removes the part of the noise that remains in the mean of this many draws; 0 if nothing else is
   * left.
   */
  readonly signal: number;
}

/** The random numbers that are resampled for each gradient. */
type NoiseOver = "slices" | "points and slices";

/** Measures the noise of gradients; compiled once. */
export interface OpenGradientNoise extends Closable {
  /**
   * At the parameters of a step, from this many gradients. Default: over 16 draws of the slices.
   */
  at(theta: Float32Array, draws?: number, over?: NoiseOver): Promise<GradientNoise>;
  dispose(): Promise<void>;
}

/** Noise of the gradients of a fit with the same data and options, on a separate batch. */
export function openGradientNoise(data: Prepared, options: FitOptions): OpenGradientNoise {
  const settings = settingsOf(options, data.train.shape[0]);
  const { batch } = settings;
  const { steps, root, draws: drawn } = openFitting(data, settings);
  const batchOf = (i: number) => {
    const own = i === 0 ? fold(root, "noise") : fold(fold(root, "noise"), i);
    return pickRows(data.train, permutation(own, data.train.shape[0]).data.subarray(0, batch));
  };
  const first = batchOf(0);
  return {
    at: async (theta, draws = 16, over = "slices") => {
      if (!(Number.isInteger(draws) && draws >= 2))
        fail(
          "usage",
          `${draws} gradients are too few for a variance`,
          "give an integer, at least 2",
        );
      const sum = new Float64Array(theta.length);
      let squares = 0;
      for (let i = 0; i < draws; i++) {
        const own = [
          drawn("noise alpha", i, batch / 2),
          drawn("noise loss", i, batch / 2),
        ] as const;
        const x = over === "slices" ? first : batchOf(i);
        const gradient = (await steps.gradient(theta, x, ...own)).data as Float32Array;
        gradient.forEach((g, k) => {
          sum[k] += g;
          squares += g * g;
        });
      }
      const mean = sum.reduce((total, s) => total + (s / draws) ** 2, 0);
      const noise = Math.max(0, (squares - draws * mean) / (draws - 1));
      return { noise, signal: Math.max(0, mean - noise / draws) };
    },
    ...disposable(() => steps.dispose()),
  };
}
