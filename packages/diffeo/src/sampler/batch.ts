/** What the calls of a sampler share, and what each batch of a call works with. */
import type { FloatType, Shape } from "../graph/index.ts";
import type { Process } from "../sde/index.ts";
import type { Build, BuildSteps } from "./compiler.ts";
import type { Controls, Leads } from "./controls.ts";
import type { DrawOptions } from "./options.ts";
import type { Solver } from "./solver.ts";

/** What all calls share. */
export interface OpenedSampler extends Leads {
  readonly process: Process;
  readonly solver: Solver;
  readonly type: FloatType;
  /** The shape of one event in x. */
  readonly event: Shape;
  readonly denoise: boolean;
  /** Whether graphs run on a thread of their own. */
  readonly worker: boolean;
  readonly build: Build;
  readonly buildSteps: BuildSteps;
}

/** What one batch of a call works with. */
export interface Batch extends OpenedSampler {
  readonly options: DrawOptions;
  readonly controls: Controls;
  /** Samples first … first + count. */
  readonly first: number;
  readonly count: number;
}
