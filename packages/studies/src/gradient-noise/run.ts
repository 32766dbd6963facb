/**
 * How noisy the gradient of a training step is under each loss on a UCI set, at the parameters that
 * exact score matching passes through, the same for all losses, and at those that the loss itself
 * passes through. Over draws of the slices of one batch, and over batches and slices,
 *
 *   noise = √(Σᵢ Var[gᵢ]) / ‖E g‖
 *
 * A ratio does not change when a loss is multiplied by a number, as raw losses of different slices
 * are.
 */
import { type ObjectiveName, paperObjectives } from "diffeo/matching";
import {
  fitDensity,
  openGradientNoise,
  type Prepared,
  preparedUci,
  type UciName,
} from "diffeo-tables/density";
import { rounded } from "../study/records.ts";
import type { TaskContext } from "../study/study.ts";

/** Steps after which noise is measured. */
export const AT_STEPS = [50, 200] as const;
const DRAWS = 16;
/** Losses that are measured along their own path too. */
const OWN: readonly ObjectiveName[] = ["ssm-vr", "gssm-vr"];

export interface GradientNoiseTask {
  readonly dataset: UciName;
  readonly seed: number;
}

/** Whose parameters: those of exact score matching, or of the loss itself. */
export type Along = "sm" | "own";

interface NoiseAt {
  readonly loss: ObjectiveName;
  readonly along: Along;
  readonly step: number;
  /**
   * Over slices, and over points and slices: noise/signal as above; null where there is no signal.
   */
  readonly slices: number | null;
  readonly both: number | null;
}

export interface GradientNoiseResult {
  readonly noise: readonly NoiseAt[];
}

export const losses = [
  ...paperObjectives,
  "gssm-normalised-vr",
] as const satisfies readonly ObjectiveName[];

const ratio = ({ noise, signal }: { readonly noise: number; readonly signal: number }) =>
  signal > 0 ? Math.sqrt(noise / signal) : null;

/** Parameters that a fit by a loss passes through, by step. */
async function passedBy(
  loss: ObjectiveName,
  data: Prepared,
  { seed }: GradientNoiseTask,
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, Float32Array>> {
  const last = Math.max(...AT_STEPS);
  const epochs = Math.ceil(last / Math.floor(data.train.shape[0] / 200));
  const passed = new Map<number, Float32Array>();
  await fitDensity(data, {
    ...{ loss, seed, epochs, patience: last, ridgeSteps: 0, signal },
    onStep: ({ step, fitted }) => {
      if ((AT_STEPS as readonly number[]).includes(step)) passed.set(step, fitted().theta);
    },
  });
  return passed;
}

export async function gradientNoise(
  task: GradientNoiseTask,
  { file, report, signal }: TaskContext,
): Promise<GradientNoiseResult> {
  const { dataset, seed } = task;
  const data = preparedUci(dataset, seed, await file());
  const common = await passedBy("sm", data, task, signal);
  const noise: NoiseAt[] = [];
  for (const [i, loss] of losses.entries()) {
    const open = openGradientNoise(data, { loss, seed });
    const measure = async (along: Along, passed: ReadonlyMap<number, Float32Array>) => {
      for (const [step, theta] of passed) {
        signal?.throwIfAborted();
        const slices = loss === "sm" ? 0 : ratio(await open.at(theta, DRAWS));
        const both = ratio(await open.at(theta, DRAWS, "points and slices"));
        noise.push({ loss, along, step, slices, both });
      }
    };
    await measure("sm", common);
    if (OWN.includes(loss)) await measure("own", await passedBy(loss, data, task, signal));
    await open.dispose();
    report((i + 1) / losses.length);
  }
  return rounded({ noise });
}
