/**
 * Trains a denoiser on grids from a state to the last step. The batch of a step is a function of
 * the key and the step, and the rate follows a schedule. `trainGrid` and the training on boards use
 * it.
 */
import type { NdArray } from "../graph/index.ts";
import type { Key } from "../random/index.ts";
import {
  initialState,
  rateAt,
  type Schedule,
  type StepOptions,
  type TrainOptions,
  type TrainState,
  train,
} from "../train/index.ts";
import type { LossOptions } from "./denoiser.ts";
import type { Model } from "./model.ts";
import { compileDenoiserStep, denoiserBatch, type Focus, type Grids } from "./training.ts";

/** Options of `trainDenoiser`. */
export interface TrainDenoiserOptions
  extends Omit<TrainOptions, "from" | "steps" | "batchSize" | "run" | "rate"> {
  /** Grids per batch. */
  readonly batch: number;
  readonly key: Key;
  /** The learning rate over the steps, and the number of steps. */
  readonly schedule: Schedule;
  /** A range of times from which most of a batch is sampled. Default: uniform times. */
  readonly focus?: Focus;
  /** The share of grids with some known sites, for networks that see likelihoods. */
  readonly shown?: number;
  /** The state of an earlier run and its step. Default: the weights of the model. */
  readonly start?: { readonly state: TrainState<NdArray>; readonly step: number };
  /** The optimiser, the loss, and where they run. */
  readonly step?: StepOptions & LossOptions;
}

/** Trains to the last step, the time limit or an interruption. */
export async function trainDenoiser(
  model: Model,
  grids: Grids,
  {
    batch,
    key,
    schedule,
    focus,
    shown,
    start,
    step: stepOptions,
    ...options
  }: TrainDenoiserOptions,
): Promise<{ readonly state: TrainState<NdArray>; readonly step: number }> {
  const step = compileDenoiserStep(model, stepOptions);
  const rate = (s: number): number => rateAt(s, schedule);
  try {
    return await train(start?.state ?? initialState(model.parameters), {
      ...options,
      from: start?.step ?? 0,
      steps: schedule.steps,
      batchSize: batch,
      rate,
      run: (state, s) =>
        step(
          state,
          denoiserBatch(model, grids, { size: batch, key, step: s, focus, shown }),
          s,
          rate(s),
        ),
    });
  } finally {
    await step.dispose();
  }
}
