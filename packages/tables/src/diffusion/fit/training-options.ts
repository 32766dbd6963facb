/** How networks of tables are trained, and what training returns. */

import type { NdArray } from "diffeo/graph";
import type { NetworkSpec, Parameters } from "diffeo/model";
import type { RunStore } from "diffeo/train";
import type { EngineOptions, NetworkKind, Weights } from "../network/index.ts";

/** A step of training with its losses. */
export interface TrainingProgress {
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  /** The loss on rows held out, of the averaged weights; the last that was measured. */
  readonly validation: number;
  readonly seconds: number;
  /** Until the last step, at the pace so far. */
  readonly secondsLeft: number;
}

/** How long and on what a network is trained. */
export interface TrainingOptions extends EngineOptions {
  readonly seed?: number;
  /**
   * The network that learns whole rows: that of diffusion, a transformer for diffusion, or one of
   * masked cells, which also samples given cells. Default diffusion.
   */
  readonly network?: NetworkKind;
  /**
   * Default 128, or 256 for many rows and outputs, and 3; of a transformer 64 and 2, of masked
   * cells 192 and 2.
   */
  readonly width?: number;
  readonly blocks?: number;
  /**
   * Steps of 512 rows, of masked cells 256. Default: 400 passes over the rows, from 2,000 to 20,000
   * steps; of masked cells 150 passes, from 1,000 to 40,000.
   */
  readonly steps?: number;
  /**
   * About how long training may take: the number of steps follows from the pace at the beginning.
   * Default: no limit.
   */
  readonly minutes?: number;
  /**
   * Training ends after so many of its 40 measurements in a row are clearly worse than the best.
   * Default 6.
   */
  readonly patience?: number;
  /** The largest learning rate. Default 2e-3, of masked cells 4e-3. */
  readonly rate?: number;
  /** Where the run is kept, and continued from if something is there. Default: memory. */
  readonly store?: RunStore;
  readonly onProgress?: (progress: TrainingProgress) => void;
  /** Called after each measurement with the current averaged weights. Training waits for it. */
  readonly onWeights?: (weights: Weights) => Promise<void> | void;
  readonly signal?: AbortSignal;
}

/** How a network of a table is trained, beyond what users set. */
export interface NetworkTraining extends TrainingOptions {
  /** How often weights are measured on rows held out. Default 40. */
  readonly measurements?: number;
  /**
   * What weights are chosen by: numbers, one for each of some rows or batches. Default: the losses.
   */
  readonly score?: (weights: Weights) => Promise<readonly number[]>;
  /** Which weights are kept: the best that were measured, by default, or the last. */
  readonly keep?: "best" | "last";
}

export interface TrainedParameters {
  /** The averaged weights of the best measurement. */
  readonly parameters: Parameters<NdArray>;
  /** The step that they are of, the last one taken, and the one that was planned. */
  readonly best: number;
  readonly step: number;
  readonly steps: number;
  readonly validation: number;
  readonly seconds: number;
}

export interface Trained extends TrainedParameters {
  readonly network: NetworkSpec;
}
