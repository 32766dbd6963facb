/** Where a training run keeps what it has reached: the contract, and the store that a page has. */
import type { Tensors } from "./safetensors.ts";

/** The state of a training run after a step. */
export interface Checkpoint extends Tensors {
  readonly step: number;
}

/** Where a training run keeps its state, to be continued from there. */
export interface RunStore {
  /** Keeps the state after a step, whole or not at all. */
  save(checkpoint: Checkpoint): Promise<void>;
  /** The step of the newest checkpoint, if there is one. */
  reached(): Promise<number | undefined>;
  /** The newest checkpoint, if there is one. */
  latest(): Promise<Checkpoint | undefined>;
  /** Adds a line to the run's metrics. */
  log(record: { readonly step: number }): Promise<void>;
}

/** A run that lives as long as the page or the program does. */
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
