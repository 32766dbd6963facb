/**
 * The one signature of all samplers, (process, options) → Promise<SampleResult>, and what its two sides hold.
 */
import type { CompileOptions } from "../engine/index.ts";
import { fail, type NdArray, type Shape, type Tensor } from "../graph/index.ts";
import type { Key } from "../random/index.ts";
import type { Process } from "../sde/index.ts";
import type { Control } from "./control.ts";
import { checkedGrid, logSnrGrid, quadraticGrid, uniformGrid } from "./grid.ts";
import type { NoiseSource } from "./noise.ts";

export interface SampleOptions extends Omit<CompileOptions, "keep"> {
  /** How many samples; those of `start` if that is given. */
  readonly count?: number;
  /** The shape of one event in x, unless `start` shows it. */
  readonly shape?: Shape;
  /** Sample i at step s sees noise that is a function of (key, i, s) alone. */
  readonly key: Key;
  /** How many steps. Default 250. */
  readonly steps?: number;
  /** How times are spaced, or the times themselves. Default uniform. */
  readonly grid?: "uniform" | "quadratic" | "logSnr" | readonly number[];
  /** Where a reverse process stops. Default T/1000: learned scores grow without bound at 0. Forward: where it ends, T. */
  readonly tEnd?: number;
  /** Points to start from, in the space of the process, [count, ...event]. Default: draws from the SDE's prior. */
  readonly start?: NdArray;
  /** The number of the first sample: samples 64 … 127 of a run are those of a run with `first` 64. */
  readonly first?: number;
  /** How many samples run at once. Default: all. It changes memory and speed, not the samples. */
  readonly batch?: number;
  /** w: scales the drift of the process in its own space. Default 1. */
  readonly driftScale?: number;
  /** c: scales drift and noise together. Default 1. */
  readonly timeDilation?: number;
  /** Where steps are taken: `x`, then mapped and so always inside the domain, or `y`, the space of the process. */
  readonly space?: Space;
  /** What happens to a point that a step in y takes out of the domain. It is counted in any case. Default `fail`. */
  readonly onExit?: OnExit;
  /** Coordinates whose value is known (inpainting). */
  readonly known?: Known;
  /** Ends with the mean of x₀ given x at the last time, (x + σ²s)/m: removes the noise left at `tEnd`. Default false. */
  readonly denoise?: boolean;
  /** Langevin steps after each step, for `predictorCorrector`. */
  readonly corrector?: { readonly steps?: number; readonly ratio?: number };
  /** Error allowed to a step of the adaptive `rungeKutta`, relative and absolute. Default 1e-5. */
  readonly tolerance?: number;
  /** Another source of noise: a Brownian path shared with another sampler. */
  readonly noise?: NoiseSource;
  readonly onStep?: (progress: Progress) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

export type Space = "x" | "y";

/**
 * `fail`: an error. `hold`: the point stays where it was before the step. A function: puts points back, such as a
 * projection; the points it changes are counted as clamps.
 */
export type OnExit = "fail" | "hold" | ((y: Tensor) => Tensor);

/** Values known in y. The map must not mix known and unknown coordinates: mask whole sites of a grid of simplices. */
export interface Known {
  /** 1 where the coordinate of y is known, 0 elsewhere; of the event's shape or [count, ...event]. */
  readonly mask: NdArray;
  /** The values, of the event's shape or [count, ...event]. Those not masked must lie in the domain and are not used. */
  readonly value: NdArray;
  /** How often each step is repeated so that the unknown agrees with the known. Default 10, with a likelihood 1. */
  readonly resample?: number;
  /** log p(known | x_t = x), one number an event. Its gradient joins the score, so that the unknown hears of the known. */
  readonly likelihood?: (x: Tensor, t: Tensor, known: KnownPoints) => Tensor;
}

/** What is known as a graph sees it: the values in x and where they are known, of one shape that spreads over x's. */
export interface KnownPoints {
  readonly points: Tensor;
  readonly mask: Tensor;
}

export interface Progress {
  /** Steps done. */
  readonly step: number;
  /** Steps in all; unknown to an adaptive method. */
  readonly steps: number | undefined;
  readonly t: number;
  /** The samples that are being made: from `first`, `count` of them. */
  readonly first: number;
  readonly count: number;
  /** Where they are now, in the space of the process. */
  readonly points: () => Promise<NdArray>;
}

export interface SampleResult {
  /** [count, ...event], in the space of the process. */
  readonly samples: NdArray;
  /** Steps taken; for an adaptive method, the most that any batch took. */
  readonly steps: number;
  /** Steps that an adaptive method tried and refused. */
  readonly rejected: number;
  /** Score evaluations for each sample. */
  readonly scoreEvaluations: number;
  /** How often a step took a sample out of the domain. Zero by construction for steps in x. */
  readonly exits: number;
  /** How often `onExit` changed a point. */
  readonly clamps: number;
  /** The times between which steps were taken. */
  readonly times: readonly number[];
}

export type Sampler = (process: Process, options: SampleOptions) => Promise<SampleResult>;

/** w and c, checked. */
export function controlOf({ driftScale = 1, timeDilation = 1 }: SampleOptions): Control {
  if (!Number.isFinite(driftScale))
    fail("usage", `driftScale is ${driftScale}`, "give a finite number; 1 leaves the process as it is");
  if (!(timeDilation > 0 && timeDilation < Infinity))
    fail("usage", `timeDilation is ${timeDilation}`, "give a positive number; 1 leaves the process as it is");
  return { driftScale, timeDilation };
}

/** The ends of the integration: T and tEnd in reverse, 0 and tEnd forward. */
export function timeSpan({ reversed, horizon }: Process, { tEnd }: SampleOptions): [number, number] {
  return reversed ? [horizon, tEnd ?? horizon / 1000] : [0, tEnd ?? horizon];
}

/** The times of the steps. */
export function gridOf(process: Process, options: SampleOptions): readonly number[] {
  const { grid = "uniform", steps = 250 } = options;
  const [from, to] = timeSpan(process, options);
  const { transition, name } = process.sde;
  if (grid === "uniform") return checkedGrid(uniformGrid(from, to, steps), process.reversed, process.horizon);
  if (grid === "quadratic") return checkedGrid(quadraticGrid(from, to, steps), process.reversed, process.horizon);
  if (grid !== "logSnr") return checkedGrid(grid, process.reversed, process.horizon);
  if (!transition)
    fail("usage", `${name} has no Gaussian transition, hence no log-SNR grid`, "use another grid, or give times");
  return checkedGrid(logSnrGrid(transition, from, to, steps), process.reversed, process.horizon);
}
