/**
 * Training a denoiser on positions. The batch of a step, its times and its noise are functions of (seed, step) alone.
 * Noise comes in antithetic pairs (ε, −ε) on different boards and times are stratified over (0, T]: both lower the
 * variance of the gradient, and the first halves the numbers to be drawn.
 */

import { type Denoiser, denoiserLoss, type LossOptions } from "../categorical/index.ts";
import type { NdArray, Tensor } from "../graph/index.ts";
import type { UNet } from "../model/unet.ts";
import { fold, integers, type Key, key, normal, uniform } from "../random/index.ts";
import { compileStep, type Step, type StepOptions } from "../train/index.ts";
import { type Positions, SQUARES, select, unpack } from "./position.ts";

/** Training stays this far from t = 0, where the score of a point mass is infinite. */
const T_MIN = 1e-3;

const GOLDEN = (Math.sqrt(5) - 1) / 2;

export type DenoiserBatch<T> = readonly [classes: T, t: T, noise: T];

export const compileDenoiserStep = (
  denoiser: Denoiser,
  parameters: UNet<NdArray>,
  options: StepOptions & LossOptions,
): Step<DenoiserBatch<Tensor>> => {
  const n = denoiser.codes.shape[1];
  return compileStep(
    (p: UNet<Tensor>, ...[classes, t, noise]: DenoiserBatch<Tensor>) =>
      denoiserLoss(denoiser, p, classes, t, noise, options),
    parameters,
    [{ shape: [null, 8, 8], dtype: "int32" }, [null], [null, 8, 8, n]],
    options,
  );
};

/** ε for the first half of a batch, −ε for the second. */
function antithetic(k: Key, count: number, event: readonly number[]): NdArray {
  const half = Math.ceil(count / 2);
  const { data } = normal(k, [half, ...event]);
  const size = data.length / half;
  const all = new Float32Array(count * size);
  all.set(data);
  for (let i = half * size; i < all.length; i++) all[i] = -data[i - half * size];
  return { shape: [count, ...event], dtype: "float32", data: all };
}

/** A part of (0, T] and the share of times that is drawn from it on top of those drawn from all of (0, T]. */
export interface Focus {
  readonly from: number;
  readonly to: number;
  readonly share: number;
}

/** The u-th time, u in [0, 1): any density of times has the same best network, and less to learn where it is low. */
const timeAt = (u: number, horizon: number, focus: Focus = { from: T_MIN, to: horizon, share: 0 }): number =>
  u < focus.share
    ? focus.from + (focus.to - focus.from) * (u / focus.share)
    : T_MIN + (horizon - T_MIN) * ((u - focus.share) / (1 - focus.share));

/** The batch of a step. */
export function denoiserBatch(
  positions: Positions,
  denoiser: Denoiser,
  size: number,
  seed: number,
  step: number,
  focus?: Focus,
): DenoiserBatch<NdArray> {
  const k = fold(key(seed), step);
  const chosen = integers(fold(k, "boards"), [size], 0, positions.count);
  const classes = Int32Array.from(unpack(select(positions, chosen.data)));
  const offset = uniform(fold(k, "time"), [1], { dtype: "float64" }).data[0];
  const { horizon } = denoiser.sde;
  // Multiples of the golden ratio fill the interval evenly in any order, so partners get unlike times.
  const t = Float32Array.from({ length: size }, (_, i) => timeAt((i * GOLDEN + offset) % 1, horizon, focus));
  return [
    { shape: [size, 8, SQUARES / 8], dtype: "int32", data: classes },
    { shape: [size], dtype: "float32", data: t },
    antithetic(fold(k, "noise"), size, [8, 8, denoiser.codes.shape[1]]),
  ];
}
