/**
 * Step sizes that settle by themselves (stochastic approximation, H. Robbins and S. Monro, 1951):
 *
 *   log ε ← log ε + gain·(accepted share − wanted share)
 *
 * A size that depends on the chains' past does not leave p as it is: `run` lets it settle in the warm-up and then fixes it.
 */
import type { NdArray } from "../graph/index.ts";
import { fold } from "../random/index.ts";
import type { Chains } from "./hamiltonian.ts";
import type { Move, Walk } from "./walk.ts";

export interface SizeRule {
  /** The share of accepted moves to settle at. Default 0.75. */
  readonly acceptance?: number;
  /** Default 0.4. */
  readonly gain?: number;
  /** Bounds of ε. Default 0 and ∞. */
  readonly least?: number;
  readonly most?: number;
}

export function adaptedSize(size: number, share: number, rule: SizeRule = {}): number {
  const { acceptance = 0.75, gain = 0.4, least = 0, most = Number.POSITIVE_INFINITY } = rule;
  return Math.min(most, Math.max(least, size * Math.exp(gain * (share - acceptance))));
}

export interface WalkRunOptions extends Move, SizeRule {
  /** Transitions of every chain. */
  readonly steps: number;
  /** After how many of them ε stays as it is. Default all. */
  readonly warmup?: number;
  readonly signal?: AbortSignal;
}

/** Transition i has the key `fold(key, i)`. Where the chains are in the end, and the last ε. */
export async function run(
  walk: Walk,
  start: Chains<NdArray>,
  options: WalkRunOptions,
): Promise<{ readonly chains: Chains<NdArray>; readonly size: number }> {
  const { steps, warmup = steps, key, signal, weights } = options;
  let chains = start;
  let { size } = options;
  for (let i = 0; i < steps; i++) {
    signal?.throwIfAborted();
    const moved = await walk.move(chains, { size, key: fold(key, i), ...(weights && { weights }) });
    chains = moved.chains;
    if (i < warmup) size = adaptedSize(size, moved.share, options);
  }
  return { chains, size };
}
