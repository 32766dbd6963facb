/**
 * The interface of solvers: one step of a motion as a graph. The motion is the process in the
 * coordinates of the steps; a solver uses its drift, diffusion and velocity.
 */
import {
  constant,
  type FloatType,
  fail,
  input,
  neg,
  type Shape,
  type Tensor,
} from "../graph/index.ts";
import { inChart, type Motion, noiseShape, type Process } from "../sde/index.ts";
import type { GridName } from "./grid.ts";

/**
 * The coordinates of the steps: x, whose results are mapped and so are always in the domain, or y,
 * the space of the process.
 */
export type StepIn = "x" | "y";

/**
 * What happens if a step in y leaves the domain; exits are always counted. `fail` throws an error.
 * `hold` undoes the step for that sample. A function, such as a projection, moves points back; the
 * points it changes are counted as clamps.
 */
export type OnExit = "fail" | "hold" | ((y: Tensor) => Tensor);

/** Options of the solvers that can step in x or in y. */
export interface SteppingOptions {
  /** The coordinates of the steps. The default depends on the solver. */
  readonly stepIn?: StepIn;
  /** What happens if a step leaves the domain. Default `fail`. */
  readonly onExit?: OnExit;
}

/** The process with its controls, and its motion in the coordinates of the steps. */
export interface Stage {
  readonly process: Process;
  readonly motion: Motion;
}

/** The inputs of a step. */
export interface StepInputs {
  readonly point: Tensor;
  readonly t: Tensor;
  readonly dt: Tensor;
  readonly noise: readonly Tensor[];
  /**
   * The memory of the previous step, and the time at which it started; t itself for the first step.
   */
  readonly memory?: { readonly value: Tensor; readonly since: Tensor };
}

/** A solver: one step of a process as a graph. */
export interface Solver {
  /** The name of the solver in errors. */
  readonly name: string;
  readonly stepIn: StepIn;
  readonly onExit: OnExit;
  /** The default time grid. */
  readonly grid: GridName;
  /**
   * Whether the linear part of the drift is integrated exactly, so that `fittedGrid` is a good
   * grid. Default false.
   */
  readonly takesFitted?: boolean;
  /** Score evaluations per step. */
  readonly evaluations: number;
  /**
   * Whether step k of n uses the memory of the previous step, which has the shape of a point.
   * Absent for solvers without memory.
   */
  readonly remembers?: (k: number, steps: number) => boolean;
  /** The tolerance of adaptive steps, which are used if neither `steps` nor `grid` is given. */
  readonly tolerance?: number;
  /** Whether `driftScale` and `timeDilation` can be used. Default true. */
  readonly scalable?: boolean;
  /** Throws for a process that the solver cannot run. */
  readonly require?: (stage: Stage) => void;
  /**
   * The shapes of the standard normals of a step, for one event in the coordinates of the steps.
   */
  readonly draws: (stage: Stage, event: Shape, dtype: FloatType) => readonly Shape[];
  readonly step: (
    stage: Stage,
    step: StepInputs,
  ) => { readonly next: Tensor; readonly memory?: Tensor };
}

/** The process in the coordinates of the steps. */
export const stageOf = (process: Process, stepIn: StepIn): Stage => ({
  process,
  motion: stepIn === "x" ? inChart(process) : process,
});

/** The shape of one event's noise in the coordinates of a motion. */
export function drawnShape({ process, motion }: Stage, event: Shape, dtype: FloatType): Shape {
  const x = input("x", [1, ...event], dtype);
  const g = motion.diffusion(x, constant(process.horizon, x.dtype));
  return noiseShape(g, event);
}

/** |dt|, the variance of a step's dW. */
export const duration = ({ reversed }: Process, dt: Tensor): Tensor => (reversed ? neg(dt) : dt);

/** The velocity of a motion; throws if it has none. */
export function velocityOf(
  { motion, process }: Stage,
  solver: string,
): (x: Tensor, t: Tensor) => Tensor {
  return (
    motion.velocity ??
    fail(
      "usage",
      `${solver}: ${process.name} has no probability flow`,
      "make it with reverse or reversePush",
    )
  );
}
