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

/** Options of opening a sampler: they determine its graphs. */
export interface OpenOptions extends Omit<CompileOptions, "keep"> {
  /** The shape of one event in x. */
  readonly shape: Shape;
  /**
   * A solver by its name, or a solver with options, as in `rungeKutta({ tolerance: 1e-7 })`.
   * Default domainPreserving.
   */
  readonly solver?: SolverName | Solver;
  /**
   * Ends with the mean of x₀ given x at the last time, (x + σ²s)/m: removes the noise left at
   * `tEnd`. Default false.
   */
  readonly denoise?: boolean;
  /**
   * E(y, t), one number per event: `guidance` times its gradient is subtracted from the score. t
   * has the shape of the batch.
   */
  readonly energy?: (y: Tensor, t: Tensor) => Tensor;
  /**
   * log p(known | x_t = x), one number per event, for calls with `known`. Its gradient is added to
   * the score, so that the unknown coordinates depend on the known ones. t has the shape of the
   * batch.
   */
  readonly likelihood?: (x: Tensor, t: Tensor, known: KnownPoints) => Tensor;
  /**
   * The process given the known values, for calls with `known`, instead of the opened process: for
   * a network that takes known values as inputs. Its SDE and map are those of the process.
   */
  readonly given?: (known: KnownPoints) => Process;
  /**
   * log ψ(x, t) for the numbers that a call passes as `aims`, one number per event. Its gradient is
   * added to the score, which guides samples to large ψ. t has the shape of the batch. The names of
   * `aims` determine a graph; the numbers are its inputs.
   */
  readonly aim?: (x: Tensor, t: Tensor, aims: Readonly<Record<string, Tensor>>) => Tensor;
}

/** Options of a call: inputs of graphs that are already compiled. */
export interface DrawOptions {
  /** How many samples; those of `start` if that is given. */
  readonly count?: number;
  /** Sample i at step s sees noise that is a function of (key, i, s) alone. */
  readonly key: Key;
  /** How many steps. Default 250; a `rungeKutta` without steps and grid chooses its own. */
  readonly steps?: number;
  /**
   * How times are spaced, or the times themselves. Default uniform; logSnr for the exponential
   * solvers.
   */
  readonly grid?: GridName | readonly number[];
  /**
   * Where a reverse process stops. Default T/1000: learned scores grow without bound at 0. Forward:
   * where it ends, T.
   */
  readonly tEnd?: number;
  /**
   * Points to start from, in the space of the process, [count, ...event]. Default: draws from the
   * SDE's prior.
   */
  readonly start?: NdArray;
  /**
   * The number of the first sample: samples 64 … 127 of a run are those of a run with `first` 64.
   */
  readonly first?: number;
  /** How many samples run at once. Default: all. It changes memory and speed, not the samples. */
  readonly batch?: number;
  /** w: scales the drift of the process in its own space. Default 1. */
  readonly driftScale?: number;
  /** c: scales drift and noise together. Default 1. */
  readonly timeDilation?: number;
  /** The strength of `energy`. Default 1. */
  readonly guidance?: number;
  /** Numbers by name for `aim`. Default: none. */
  readonly aims?: Readonly<Record<string, number>>;
  /** Coordinates whose value is known (inpainting). */
  readonly known?: Known;
  /** Another source of noise: a Brownian path shared with another sampler. */
  readonly noise?: NoiseSource;
  readonly onStep?: (progress: Progress) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** Options of opening and of one call; the shape may be that of `start`. */
export interface SampleOptions extends Omit<OpenOptions, "shape">, DrawOptions {
  readonly shape?: Shape;
}

/** Options without unknown names: TypeScript lets a generic have others. */
export type Exactly<O, Known> = O & { readonly [K in Exclude<keyof O, keyof Known>]: never };

/**
 * Values known in y. The map must not mix known and unknown coordinates: mask whole sites of a grid
 * of simplices.
 */
export interface Known {
  /**
   * 1 where the coordinate of y is known, 0 elsewhere; of the event's shape or [count, ...event].
   */
  readonly mask: NdArray;
  /**
   * The values, of the event's shape or [count, ...event]. Those not masked must lie in the domain
   * and are not used.
   */
  readonly value: NdArray;
  /**
   * How often each step is repeated so that unknown coordinates adapt to the known ones. Default
   * 10, with a likelihood 1.
   */
  readonly resample?: number;
  /**
   * What the gradient of the likelihood is multiplied by. 1, the default, is Bayes' rule; 0 leaves
   * it out.
   */
  readonly strength?: number;
}

/**
 * Known values as a graph sees them, one event per sample: the values in x and where they are
 * known.
 */
export interface KnownPoints {
  readonly points: Tensor;
  readonly mask: Tensor;
}

/** How far a sampler is, with the current points. */
export interface Progress {
  /** Steps done. */
  readonly step: number;
  /** Total steps; undefined for an adaptive solver. */
  readonly steps: number | undefined;
  readonly t: number;
  /** The current batch of samples: `count` samples from number `first`. */
  readonly first: number;
  readonly count: number;
  /** The current points, in the space of the process. */
  readonly points: () => Promise<NdArray>;
}

/** Points of a float type, in the array that belongs to it. */
export interface Samples<T extends FloatType = FloatType> extends NdArray {
  readonly dtype: T;
  readonly data: T extends "float64" ? Float64Array : Float32Array;
}

/** The float type that options set. */
export type TypeOf<O> = O extends { readonly type: infer T extends FloatType }
  ? T
  : O extends { readonly device: "reference" }
    ? "float64"
    : "float32";

/** Samples, and how they were computed. */
export interface SampleResult<T extends FloatType = FloatType> {
  /** [count, ...event], in the space of the process. */
  readonly samples: Samples<T>;
  /** Steps taken; for an adaptive solver, the most that any batch took. */
  readonly steps: number;
  /** Steps that an adaptive solver tried and refused. */
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

/** The ends of the integration: T and tEnd in reverse, 0 and tEnd forward. */
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
      `there is no grid "${String(grid)}"`,
      `use ${grids.join(", ")}, or a list of times`,
    );
  if (!transition)
    fail(
      "usage",
      `${name} has no Gaussian transition, and the ${grid} grid needs one`,
      "use another grid, or give times",
    );
  const make = grid === "karras" ? karrasGrid : logSnrGrid;
  return checkedGrid(make(transition, from, to, steps), reversed, horizon);
}
