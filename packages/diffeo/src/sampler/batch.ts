/** The state shared by all calls of a sampler, and that of one batch. */
import type { FloatType, Shape } from "../graph/index.ts";
import type { Process } from "../sde/index.ts";
import type { Build, BuildSteps } from "./compiler.ts";
import type { Controls, Leads } from "./controls.ts";
import type { DrawOptions } from "./options.ts";
import type { Solver } from "./solver.ts";

/** The state shared by all calls. */
export interface OpenedSampler extends Leads {
  readonly process: Process;
  readonly solver: Solver;
  readonly type: FloatType;
  /** The shape of one event in x. */
  readonly event: Shape;
  readonly denoise: boolean;
  /** Whether graphs run on a separate thread. */
  readonly worker: boolean;
  readonly build: Build;
  readonly buildSteps: BuildSteps;
}

/** The state of one batch of a call. */
export interface Batch extends OpenedSampler {
  readonly options: DrawOptions;
  readonly controls: Controls;
  /** The batch has the samples `first`, …, `first + count − 1`. */
  readonly first: number;
  readonly count: number;
}
