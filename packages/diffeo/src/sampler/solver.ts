/**
 * The contract of an integrator: one step of a motion as a graph. A motion is the process in the
 * coordinates that the steps are taken in; a solver reads its drift, diffusion and velocity and
 * computes none of them.
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
 * Where steps are taken: x, then mapped and so always inside the domain, or y, the space of the
 * process.
 */
export type StepIn = "x" | "y";

/**
 * What happens to a point that a step in y takes out of the domain; it is counted in any case.
 * `fail`: an error. `hold`: the point stays where it was before the step. A function: puts points
 * back, such as a projection; the points it changes are counted as clamps.
 */
export type OnExit = "fail" | "hold" | ((y: Tensor) => Tensor);

/** Options of the solvers that may step in either space. */
export interface SteppingOptions {
  readonly stepIn?: StepIn;
  /** Default fail. */
  readonly onExit?: OnExit;
}

/** The process that is run, with all that controls it, and how it moves where steps are taken. */
export interface Stage {
  readonly process: Process;
  readonly motion: Motion;
}

/** What a step is computed from. */
export interface StepInputs {
  readonly point: Tensor;
  readonly t: Tensor;
  readonly dt: Tensor;
  readonly noise: readonly Tensor[];
  /** What the last step left for this one, and the time it began at: t itself if there was none. */
  readonly memory?: { readonly value: Tensor; readonly since: Tensor };
}

/** An integrator: one step of a process as a graph. */
export interface Solver {
  /** What errors call it. */
  readonly name: string;
  readonly stepIn: StepIn;
  readonly onExit: OnExit;
  /** How times are spaced by default. */
  readonly grid: GridName;
  /**
   * Whether it steps over all but the network exactly, so that times fitted to the network's errors
   * are its best. Default false.
   */
  readonly takesFitted?: boolean;
  /** Score evaluations a step. */
  readonly evaluations: number;
  /**
   * Whether step k of so many uses what the last one left it, of the shape of a point. Absent:
   * steps leave nothing.
   */
  readonly remembers?: (k: number, steps: number) => boolean;
  /**
   * The error allowed to a step whose length is chosen by it, where neither steps nor a grid are
   * given.
   */
  readonly tolerance?: number;
  /** Whether driftScale and timeDilation may change the process. Default true. */
  readonly scalable?: boolean;
  /** Refuses a process that the solver cannot run. */
  readonly require?: (stage: Stage) => void;
  /**
   * The shapes of the standard normals that a step takes, for one event of the space it is taken
   * in.
   */
  readonly draws: (stage: Stage, event: Shape, dtype: FloatType) => readonly Shape[];
  readonly step: (
    stage: Stage,
    step: StepInputs,
  ) => { readonly next: Tensor; readonly memory?: Tensor };
}

/** The process as a solver steps it. */
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

/** The velocity of a motion that has one. */
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
