/**
 * Which weights are kept. They are measured when checkpoints are saved, and stored next to the
 * state. Later weights have had a smaller rate and a longer average, so they replace earlier ones
 * unless they are clearly worse than the best that was measured.
 */
import { fail, type NdArray } from "diffeo/graph";
import { mean, sumOfSquares } from "diffeo/host";
import type { Checkpoint, RunStore } from "diffeo/train";

/** What a checkpoint says of a run next to its state. */
interface Kept {
  readonly steps: number;
  /** The step of the chosen weights, and the measurements since. */
  readonly chosen?: number;
  readonly since: number;
  /** The lowest losses, one per batch. */
  readonly lowest: readonly number[];
}

export function keptIn({ metadata }: Checkpoint): Kept {
  const { steps, since, lowest, ...chosen } = JSON.parse(metadata.run ?? "{}") as Partial<Kept>;
  if (steps === undefined || since === undefined || lowest === undefined)
    return fail("data", "the run in this folder is not of a table", "begin another run elsewhere");
  return { steps, since, lowest, ...chosen };
}

/**
 * Whether losses are higher than others of the same batches by more than twice the error of their
 * mean difference.
 */
function isWorse(losses: readonly number[], others: readonly number[]): boolean {
  const gaps = losses.map((l, i) => l - others[i]);
  const average = mean(gaps);
  const variance = sumOfSquares(gaps, average) / (gaps.length - 1);
  return average > 2 * Math.sqrt(variance / gaps.length);
}

export interface Plan {
  readonly steps: number;
  /** Steps between measurements. */
  readonly every: number;
  readonly patience: number;
  /** Whether the last weights are kept, whatever was measured. */
  readonly isLast: boolean;
  /** The losses of weights, one per batch of held-out rows. */
  readonly measure: (weights: NdArray) => Promise<readonly number[]>;
  readonly onWeights: (weights: NdArray) => Promise<void> | void;
}

/** The choice of the weights of a run, and a store that also keeps this choice. */
export function choiceOf(store: RunStore, before: Checkpoint | undefined, plan: Plan) {
  const { steps, every, patience, isLast, measure, onWeights } = plan;
  const kept = before && keptIn(before);
  let [chosen, since, lowest] = [kept?.chosen, kept?.since ?? 0, kept?.lowest ?? []];
  let weights = before?.arrays.chosen;
  let last = lowest.length > 0 ? mean(lowest) : Number.NaN;
  const enough = new AbortController();
  // A run that had ended early stays ended.
  if (since >= patience) enough.abort();
  const look = async (step: number, ema: NdArray): Promise<void> => {
    const losses = await measure(ema);
    last = mean(losses);
    if (isLast || lowest.length === 0 || last < mean(lowest)) lowest = losses;
    if (!isWorse(losses, lowest)) [chosen, weights, since] = [step, ema, 0];
    else if (++since >= patience) enough.abort();
    await onWeights(ema);
  };
  let seen = before?.step;
  return {
    enough: enough.signal,
    last: () => last,
    best: async (step: number, ema: NdArray) => {
      // Interrupted before the first measurement.
      if (chosen === undefined) await look(step, ema);
      return { best: chosen as number, validation: mean(lowest), weights: weights as NdArray };
    },
    store: {
      reached: () => store.reached(),
      latest: () => store.latest(),
      log: (record) => store.log(record),
      save: async ({ step, arrays, metadata }) => {
        // Weights are not measured where a run was interrupted: it would end otherwise than one
        // that was not.
        if ((step % every === 0 || step === steps) && step !== seen) await look(step, arrays.ema);
        seen = step;
        const run: Kept = { steps, since, lowest, chosen };
        await store.save({
          step,
          arrays: { ...arrays, ...(weights && { chosen: weights }) },
          metadata: { ...metadata, run: JSON.stringify(run) },
        });
      },
    } satisfies RunStore,
  };
}
