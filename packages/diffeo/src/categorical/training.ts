/**
 * Training a denoiser of grids. The batch of a step, its times and its noise are functions of (key,
 * step) alone. Noise is in antithetic pairs (ε, −ε) on different grids, and times are stratified
 * over (0, T]. Both reduce the variance of the gradient; the pairs also halve the random numbers.
 */
import { type NdArray, sizeOf, type Tensor } from "../graph/index.ts";
import type { Parameters } from "../model/index.ts";
import { fold, integers, type Key, normal, uniform } from "../random/index.ts";
import { compileStep, type Step, type StepOptions } from "../train/step.ts";
import { type Categorical, gridCount } from "./categorical.ts";
import { type ClassArray, classArray } from "./class-array.ts";
import { denoiserLoss, type LossOptions } from "./denoiser.ts";
import type { Model } from "./model.ts";

/** Training stays this far from t = 0, where the score of a point mass is infinite. */
const T_MIN = 1e-3;

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The last entry, the mask of shown sites, exists for networks that see likelihoods. */
export type DenoiserBatch<T> = readonly [classes: T, t: T, noise: T, ...known: T[]];

/** Compiles the training step of a model. */
export const compileDenoiserStep = (
  { denoiser, encoding: { grid, channels }, parameters }: Model,
  options: StepOptions & LossOptions = {},
): Step<DenoiserBatch<Tensor>> =>
  compileStep(
    (p: Parameters<Tensor>, ...[classes, t, noise, known]: DenoiserBatch<Tensor>) =>
      denoiserLoss(denoiser, p, classes, t, noise, options, known),
    parameters,
    [
      { shape: [null, ...grid], dtype: "int32" },
      [null],
      [null, ...grid, channels],
      ...(denoiser.sees === "likelihoods"
        ? [{ shape: [null, ...grid], dtype: "bool" } as const]
        : []),
    ],
    options,
  );

/** Grids to train on. */
export interface Grids {
  readonly count: number;
  /** The classes of the grids with these numbers, concatenated. */
  select(chosen: ArrayLike<number>): ClassArray;
}

/** Grids whose classes are concatenated. */
export function gridsOf({ grid, channels }: Categorical, classes: ClassArray): Grids {
  const size = sizeOf(grid);
  return {
    count: gridCount(classes.length, grid),
    select: (chosen) => {
      const out = classArray(chosen.length * size, channels);
      for (let i = 0; i < chosen.length; i++)
        out.set(classes.subarray(chosen[i] * size, (chosen[i] + 1) * size), i * size);
      return out;
    },
  };
}

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

/**
 * A part of (0, T] and the share of times that is sampled from it; the others are sampled from all
 * of (0, T].
 */
export interface Focus {
  readonly from: number;
  readonly to: number;
  readonly share: number;
}

/**
 * The u-th time, u in [0, 1). The best network is the same for every density of times.
 */
const timeAt = (
  u: number,
  horizon: number,
  focus: Focus = { from: T_MIN, to: horizon, share: 0 },
): number =>
  u < focus.share
    ? focus.from + (focus.to - focus.from) * (u / focus.share)
    : T_MIN + (horizon - T_MIN) * ((u - focus.share) / (1 - focus.share));

/** Options of `denoiserBatch`. */
export interface BatchOptions {
  /** Grids per batch. */
  readonly size: number;
  readonly key: Key;
  /** The number of the step, from 1. */
  readonly step: number;
  readonly focus?: Focus;
  /**
   * The share of grids with some known sites, for networks that see likelihoods. Every number of
   * known sites is equally likely. Default 0.5.
   */
  readonly shown?: number;
}

/** The batch of a step. */
export function denoiserBatch(
  { denoiser, encoding: { grid, channels } }: Pick<Model, "denoiser" | "encoding">,
  grids: Grids,
  { size, key, step, focus, shown = 0.5 }: BatchOptions,
): DenoiserBatch<NdArray> {
  const k = fold(key, step);
  const chosen = integers(fold(k, "boards"), [size], 0, grids.count);
  const classes = Int32Array.from(grids.select(chosen.data));
  const offset = uniform(fold(k, "time"), [1], { dtype: "float64" }).data[0];
  const { horizon } = denoiser.sde;
  // Multiples of the golden ratio fill the interval evenly, and antithetic partners get different
  // times.
  const t = Float32Array.from({ length: size }, (_, i) =>
    timeAt((i * GOLDEN + offset) % 1, horizon, focus),
  );
  return [
    { shape: [size, ...grid], dtype: "int32", data: classes },
    { shape: [size], dtype: "float32", data: t },
    antithetic(fold(k, "noise"), size, [...grid, channels]),
    ...(denoiser.sees === "likelihoods" ? [shownSites(fold(k, "shown"), size, grid, shown)] : []),
  ];
}

/** The mask of shown sites: in a share of the grids, each site with a probability per grid. */
function shownSites(k: Key, size: number, grid: readonly number[], share: number): NdArray {
  const sites = sizeOf(grid);
  const own = uniform(fold(k, "grids"), [size]).data;
  const each = uniform(fold(k, "sites"), [size, sites]).data;
  const data = Uint8Array.from(each, (u, i) => {
    const grid = Math.floor(i / sites);
    return grid < share * size && u < own[grid] ? 1 : 0;
  });
  return { shape: [size, ...grid], dtype: "bool", data };
}
