/** Stores of training runs: the interface, and a store in memory. */
import type { Tensors } from "./safetensors.ts";

/** The state of a training run after a step. */
export interface Checkpoint extends Tensors {
  readonly step: number;
}

/** A store of the checkpoints of a training run, from which it can be continued. */
export interface RunStore {
  /** Saves the state after a step. The write must be atomic. */
  save(checkpoint: Checkpoint): Promise<void>;
  /** The step of the newest checkpoint, if there is one. */
  reached(): Promise<number | undefined>;
  /** The newest checkpoint, if there is one. */
  latest(): Promise<Checkpoint | undefined>;
  /** Adds a line to the run's metrics. */
  log(record: { readonly step: number }): Promise<void>;
}

/** A store in memory, which lasts as long as the page or the program. */
export function memoryStore(): RunStore & {
  readonly records: readonly { readonly step: number }[];
} {
  const records: { readonly step: number }[] = [];
  let newest: Checkpoint | undefined;
  return {
    records,
    save: async (checkpoint) => {
      newest = checkpoint;
    },
    reached: async () => newest?.step,
    latest: async () => newest,
    log: async (record) => {
      records.push(record);
    },
  };
}
