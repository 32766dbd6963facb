/** Options of opening and calling a sampler, and its result. */
import type { CompileOptions } from "../engine/index.ts";
import { type FloatType, fail, type NdArray, type Shape, type Tensor } from "../graph/index.ts";
import type { Key } from "../random/index.ts";
import type { Process } from "../sde/index.ts";
import {
  checkedGrid,
  type GridName,
  grids,
  karrasGrid,
  logSnrGrid,
  quadraticGrid,
  uniformGrid,
} from "./grid.ts";
import type { NoiseSource } from "./noise.ts";
import type { Solver } from "./solver.ts";
import type { SolverName } from "./solvers.ts";

/** Options of `openSampler`, which determine its graphs. */
export interface OpenOptions extends Omit<CompileOptions, "keep"> {
  /** The shape of one event in x. */
  readonly shape: Shape;
  /**
   * The name of a solver, or a solver with options, as in `rungeKutta({ tolerance: 1e-7 })`.
   * Default `domainPreserving`.
   */
  readonly solver?: SolverName | Solver;
  /**
   * Whether to return the mean of x₀ given x at the last time, (x + σ²s)/m, which removes the noise
   * left at `tEnd`. Default false.
   */
  readonly denoise?: boolean;
  /**
   * An energy E(y, t), one number per event. `guidance` times its gradient is subtracted from the
   * score. t has the shape of the batch.
   */
  readonly energy?: (y: Tensor, t: Tensor) => Tensor;
  /**
   * log p(known | x_t = x), one number per event, for calls with `known`. Its gradient is added to
   * the score, so that the unknown coordinates depend on the known ones. t has the shape of the
   * batch.
   */
  readonly likelihood?: (x: Tensor, t: Tensor, known: KnownPoints) => Tensor;
  /**
   * For calls with `known`: makes the process given the known values, which replaces the opened
   * process. For networks whose inputs include known values. Its SDE and map must be those of the
   * process.
   */
  readonly given?: (known: KnownPoints) => Process;
  /**
   * log ψ(x, t) for the numbers that a call passes as `aims`, one number per event. Its gradient is
   * added to the score, which guides samples towards large ψ. t has the shape of the batch. The
   * names in `aims` determine a graph; the numbers are its inputs.
   */
  readonly aim?: (x: Tensor, t: Tensor, aims: Readonly<Record<string, Tensor>>) => Tensor;
}

/** Options of a call of an open sampler. */
export interface DrawOptions {
  /** The number of samples. Default: the number of points of `start`. */
  readonly count?: number;
  /** The random key. The noise of sample i at step s is a function of (key, i, s) alone. */
  readonly key: Key;
  /**
   * The number of steps. Default 250; `rungeKutta` has adaptive steps if neither `steps` nor `grid`
   * is given.
   */
  readonly steps?: number;
  /**
   * The spacing of times, or the times themselves. Default `uniform`, or `logSnr` for the
   * exponential solvers.
   */
  readonly grid?: GridName | readonly number[];
  /**
   * The end time. Default T/1000 for a reverse process, because scores may be unbounded at 0, and T
   * for a forward process.
   */
  readonly tEnd?: number;
  /**
   * Starting points in the space of the process, [count, ...event]. Default: samples of the prior.
   */
  readonly start?: NdArray;
  /**
   * The number of the first sample. With `first: 64` the samples are those from number 64 on of a
   * run without it. Default 0.
   */
  readonly first?: number;
  /**
   * The number of samples per batch. Default: all. It affects memory and speed, not the samples.
   */
  readonly batch?: number;
  /** w: scales the drift of the process in its own coordinates y. Default 1. */
  readonly driftScale?: number;
  /** c: multiplies the drift by c and the noise by √c. Default 1. */
  readonly timeDilation?: number;
  /** The strength of `energy`. Default 1. */
  readonly guidance?: number;
  /** Numbers by name for `aim`. Default none. */
  readonly aims?: Readonly<Record<string, number>>;
  /** Coordinates with known values (inpainting). */
  readonly known?: Known;
  /** Another source of noise, such as a `brownianPath` shared with another sampler. */
  readonly noise?: NoiseSource;
  readonly onStep?: (progress: Progress) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Options of `sample`: those of `openSampler` and of one call. `shape` may be omitted if `start` is
 * given.
 */
export interface SampleOptions extends Omit<OpenOptions, "shape">, DrawOptions {
  readonly shape?: Shape;
}

/** Options without unknown names, which TypeScript would allow for a generic. */
export type Exactly<O, Known> = O & { readonly [K in Exclude<keyof O, keyof Known>]: never };

/**
 * Known values in y (inpainting). The map must not mix known and unknown coordinates, so mask whole
 * sites of a grid of simplices.
 */
export interface Known {
  /** 1 for known coordinates of y, else 0. Its shape is that of an event, or [count, ...event]. */
  readonly mask: NdArray;
  /**
   * The values, in the shape of an event or [count, ...event]. Unknown coordinates must be in the
   * domain, but are not used.
   */
  readonly value: NdArray;
  /**
   * How often each step is repeated, so that unknown coordinates adapt to the known ones. Default 1
   * if the sampler has `given`, or `likelihood` with a strength other than 0; else 10.
   */
  readonly resample?: number;
  /** A factor of the gradient of `likelihood`. 1 (default) is Bayes' rule, 0 turns it off. */
  readonly strength?: number;
}

/** Known values in a graph, one event per sample: the values in x and their mask. */
export interface KnownPoints {
  readonly points: Tensor;
  readonly mask: Tensor;
}

/** The progress of a sampler, with the current points. */
export interface Progress {
  /** Completed steps. */
  readonly step: number;
  /** Total number of steps; undefined for adaptive steps. */
  readonly steps: number | undefined;
  readonly t: number;
  /** The current batch: `count` samples from number `first`. */
  readonly first: number;
  readonly count: number;
  /** The current points, in the space of the process. */
  readonly points: () => Promise<NdArray>;
}

/** Samples in a typed array of their float type. */
export interface Samples<T extends FloatType = FloatType> extends NdArray {
  readonly dtype: T;
  readonly data: T extends "float64" ? Float64Array : Float32Array;
}

/** The float type that options select. */
export type TypeOf<O> = O extends { readonly type: infer T extends FloatType }
  ? T
  : O extends { readonly device: "reference" }
    ? "float64"
    : "float32";

/** The result of a sampler. */
export interface SampleResult<T extends FloatType = FloatType> {
  /** The samples, [count, ...event], in the space of the process. */
  readonly samples: Samples<T>;
  /** The number of steps; for adaptive steps, the most of any batch. */
  readonly steps: number;
  /** Rejected adaptive steps. */
  readonly rejected: number;
  /** Score evaluations per sample. */
  readonly scoreEvaluations: number;
  /** How often a step took a sample out of the domain. Always 0 for steps in x. */
  readonly exits: number;
  /** How often `onExit` changed a point. */
  readonly clamps: number;
  /** The times of the steps. */
  readonly times: readonly number[];
}

/** The ends of the integration: T and `tEnd` in reverse, 0 and `tEnd` forward. */
export function timeSpan({ reversed, horizon }: Process, { tEnd }: DrawOptions): [number, number] {
  return reversed ? [horizon, tEnd ?? horizon / 1000] : [0, tEnd ?? horizon];
}

/** The times of the steps. */
export function gridOf(process: Process, options: DrawOptions, usual: GridName): readonly number[] {
  const { grid = usual, steps = 250 } = options;
  const [from, to] = timeSpan(process, options);
  const { transition, name, reversed, horizon } = process;
  if (grid === "uniform") return checkedGrid(uniformGrid(from, to, steps), reversed, horizon);
  if (grid === "quadratic") return checkedGrid(quadraticGrid(from, to, steps), reversed, horizon);
  if (Array.isArray(grid)) return checkedGrid(grid, reversed, horizon);
  if (grid !== "logSnr" && grid !== "karras")
    fail(
      "usage",
      `unknown \`grid\` "${String(grid)}"`,
      `use one of ${grids.join(", ")}, or a list of times`,
    );
  if (!transition)
    fail(
      "usage",
      `${name} has no Gaussian transition, and the ${grid} grid needs one`,
      "use another grid, or give a list of times",
    );
  const make = grid === "karras" ? karrasGrid : logSnrGrid;
  return checkedGrid(make(transition, from, to, steps), reversed, horizon);
}
