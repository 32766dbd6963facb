/** Options of a call that samples chains, and how unfinished chains are saved. */
import type { Key } from "../random/index.ts";
import type { ChainState } from "./chain-state.ts";
import type { ChainInputs } from "./chain-step.ts";

/** Storage for the state of chains, so that an interrupted run can continue. */
export interface ChainStore {
  /** Resolves to the chains as last saved; undefined if none were saved. */
  load(): Promise<readonly ChainState[] | undefined>;
  /** Saves all chains. The write must be atomic. */
  save(chains: readonly ChainState[]): Promise<void>;
  /** Seconds between saves. Default 10. */
  readonly every?: number;
}

/** Options of a call that samples chains. */
export interface DrawChainsOptions {
  readonly key: Key;
  /**
   * The number of the first chain, a multiple of `block`. Two chains with `first: 4` are chains 4
   * and 5 of a run of more chains. Default 0.
   */
  readonly first?: number;
  /** Values of the target's inputs. */
  readonly inputs?: ChainInputs;
  /** Called after every transition. */
  readonly onDraw?: (chain: number, done: number, of: number) => void;
  /** Where the state of the chains is saved during the run. */
  readonly store?: ChainStore;
  /** Stops the run; the chains are saved before. */
  readonly signal?: AbortSignal;
}

/** Saves unfinished chains. */
export interface Keeper {
  keep(): Promise<void>;
  /** Saves them if `every` seconds have passed. */
  keepIfDue(): Promise<void>;
  /** If the signal is aborted, saves them and throws. */
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
