/**
 * How much of the gradient of a training step is the chance of its slices. At parameters θ and one
 * batch of points, over draws of the slices v alone,
 *
 *   noise = Σᵢ Var_v[gᵢ]        signal = ‖E_v g‖²        g = ∇_θ of the loss of a step, through its α
 *
 * Exact score matching has no slices and no noise; what variance reduction takes away is what two
 * losses differ by here.
 */
import { fail } from "diffeo/graph";
import { fold, permutation } from "diffeo/random";
import type { Prepared } from "../table/prepare.ts";
import { openFitting, pickRows } from "./fitting.ts";
import { type FitOptions, settingsOf } from "./settings.ts";

export interface GradientNoise {
  readonly noise: number;
  /**
   * Without the share of the noise that the mean of so many draws keeps; 0 where nothing else is
   * left.
   */
  readonly signal: number;
}

export interface OpenGradientNoise {
  /** At the parameters of a step, by so many draws of the slices. */
  at(theta: Float32Array, draws?: number): Promise<GradientNoise>;
  dispose(): Promise<void>;
}

/** The gradients of the fit that the same data and options give, at a batch of its own. */
export function openGradientNoise(data: Prepared, options: FitOptions): OpenGradientNoise {
  const settings = settingsOf(options, data.train.shape[0]);
  const { batch } = settings;
  const { steps, root, draws: drawn } = openFitting(data, settings);
  const order = permutation(fold(root, "noise"), data.train.shape[0]).data;
  const x = pickRows(data.train, order.subarray(0, batch));
  return {
    at: async (theta, draws = 16) => {
      if (!(Number.isInteger(draws) && draws >= 2))
        fail(
          "usage",
          `a variance of ${draws} draws of the slices`,
          "give a whole number of them, at least 2",
        );
      const sum = new Float64Array(theta.length);
      let squares = 0;
      for (let i = 0; i < draws; i++) {
        const own = [
          drawn("noise alpha", i, batch / 2),
          drawn("noise loss", i, batch / 2),
        ] as const;
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
    dispose: () => steps.dispose(),
  };
}
