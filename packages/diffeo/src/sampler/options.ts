/** What a sampler is opened with, what it is called with, and what it gives. */
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

/** What decides the graphs. */
export interface OpenOptions extends Omit<CompileOptions, "keep"> {
  /** The shape of one event in x. */
  readonly shape: Shape;
  /**
   * A solver by its name, or one with options of its own, as in `rungeKutta({ tolerance: 1e-7 })`.
   * Default domainPreserving.
   */
  readonly solver?: SolverName | Solver;
  /**
   * Ends with the mean of x₀ given x at the last time, (x + σ²s)/m: removes the noise left at
   * `tEnd`. Default false.
   */
  readonly denoise?: boolean;
  /**
   * E(y, t), one number an event: `guidance` times its gradient is taken off the score. t has the
   * shape of the batch.
   */
  readonly energy?: (y: Tensor, t: Tensor) => Tensor;
  /**
   * log p(known | x_t = x), one number an event, for calls with `known`. Its gradient joins the
   * score, so that the unknown hears of the known. t has the shape of the batch.
   */
  readonly likelihood?: (x: Tensor, t: Tensor, known: KnownPoints) => Tensor;
  /**
   * The process given what is known, for calls with `known`, in place of the one that is opened:
   * of a network that is shown what is known. Its SDE and map are those of the process.
   */
  readonly given?: (known: KnownPoints) => Process;
  /**
   * log ψ(x, t) of the numbers that a call gives as `aims`, one number an event. Its gradient joins
   * the score, so that samples are led to what ψ stands for. t has the shape of the batch. Which
   * names there are decides a graph, the numbers are fed to it.
   */
  readonly aim?: (x: Tensor, t: Tensor, aims: Readonly<Record<string, Tensor>>) => Tensor;
}

/** What a call may choose: all of it is fed to graphs that are there. */
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
  /** What `aim` leads to. Default: nowhere. */
  readonly aims?: Readonly<Record<string, number>>;
  /** Coordinates whose value is known (inpainting). */
  readonly known?: Known;
  /** Another source of noise: a Brownian path shared with another sampler. */
  readonly noise?: NoiseSource;
  readonly onStep?: (progress: Progress) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** Both at once, for one call; the shape may be that of `start`. */
export interface SampleOptions extends Omit<OpenOptions, "shape">, DrawOptions {
  readonly shape?: Shape;
}

/** Options of which every one is known: TypeScript lets a generic have others. */
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
   * How often each step is repeated so that the unknown agrees with the known. Default 10, with a
   * likelihood 1.
   */
  readonly resample?: number;
  /**
   * What the gradient of the likelihood is multiplied by. 1, the default, is Bayes' rule; 0 leaves
   * it out.
   */
  readonly strength?: number;
}

/**
 * What is known as a graph sees it, one event a sample: the values in x and where they are known.
 */
export interface KnownPoints {
  readonly points: Tensor;
  readonly mask: Tensor;
}

/** How far a sampler is, with the points as they are then. */
export interface Progress {
  /** Steps done. */
  readonly step: number;
  /** Steps in all; unknown to an adaptive solver. */
  readonly steps: number | undefined;
  readonly t: number;
  /** The samples that are being made: from `first`, `count` of them. */
  readonly first: number;
  readonly count: number;
  /** Where they are now, in the space of the process. */
  readonly points: () => Promise<NdArray>;
}

/** Points of a float type, in the array that belongs to it. */
export interface Samples<T extends FloatType = FloatType> extends NdArray {
  readonly dtype: T;
  readonly data: T extends "float64" ? Float64Array : Float32Array;
}

/** The float type that options ask for. */
export type TypeOf<O> = O extends { readonly type: infer T extends FloatType }
  ? T
  : O extends { readonly device: "reference" }
    ? "float64"
    : "float32";

/** Samples, and the report of how they were computed. */
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
