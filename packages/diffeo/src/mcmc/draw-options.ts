/** Options of a call that draws chains, and how chains underway are kept. */
import type { Key } from "../random/index.ts";
import type { ChainState } from "./chain-state.ts";
import type { ChainInputs } from "./chain-step.ts";

/** Where chains keep what they have reached, to go on from there. */
export interface ChainStore {
  /** All chains as they were when last saved; undefined where they never were. */
  load(): Promise<readonly ChainState[] | undefined>;
  /** Keeps them, whole or not at all. */
  save(chains: readonly ChainState[]): Promise<void>;
  /** Seconds between two of them. Default 10. */
  readonly every?: number;
}

/** What a call may choose. */
export interface DrawChainsOptions {
  readonly key: Key;
  /**
   * The number of the first chain, a multiple of `block`: chains 4 and 5 are those of a run with
   * `first` 4.
   */
  readonly first?: number;
  /** What the target depends on besides the point. */
  readonly inputs?: ChainInputs;
  /** Called after every transition. */
  readonly onDraw?: (chain: number, done: number, of: number) => void;
  readonly store?: ChainStore;
  readonly signal?: AbortSignal;
}

/** Keeps chains that are underway. */
export interface Keeper {
  keep(): Promise<void>;
  /** Keeps them where the store has waited long enough. */
  keepIfDue(): Promise<void>;
  /** Keeps them and throws where the signal is aborted. */
  stopIfAborted(): Promise<void>;
}

export function keeperOf(
  { store, signal }: DrawChainsOptions,
  states: () => readonly ChainState[],
): Keeper {
  const every = 1000 * (store?.every ?? 10);
  let saved = performance.now();
  const keep = async (): Promise<void> => {
    await store?.save(states());
    saved = performance.now();
  };
  return {
    keep,
    keepIfDue: async () => {
      if (store && performance.now() - saved > every) await keep();
    },
    stopIfAborted: async () => {
      if (!signal?.aborted) return;
      await keep();
      signal.throwIfAborted();
    },
  };
}
