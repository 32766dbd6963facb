/** The samplers: the no-U-turn sampler, and for comparison and teaching its predecessors. */
import { FixedLengthTrajectory, lengthFrom } from "./hmc.ts";
import { NutsTrajectory } from "./nuts.ts";
import type { Leaf, Trajectory } from "./trajectory.ts";

export interface MethodSettings {
  /** The most doublings of a trajectory of `nuts`, which then has 2^maxDepth leaves. Default 10. */
  readonly maxDepth: number;
  /** Mean number of leapfrog steps per transition of `hmc`. Default 10. */
  readonly steps: number;
}

interface ChainMethod {
  /** The default of `targetAcceptance`. */
  readonly targetAcceptance: number;
  /**
   * A transition from a leaf with a fresh momentum; `draw()` gives the next uniform number of its
   * stream.
   */
  readonly begin: (start: Leaf, draw: () => number, settings: MethodSettings) => Trajectory;
}

/**
 * The name of a sampler: the no-U-turn sampler, Hamiltonian Monte Carlo, the Metropolis-adjusted
 * Langevin algorithm, or the unadjusted one.
 */
export type ChainMethodName = "nuts" | "hmc" | "mala" | "ula";

/** The samplers by name. */
export const methods: Readonly<Record<ChainMethodName, ChainMethod>> = {
  nuts: {
    targetAcceptance: 0.8,
    begin: (start, draw, { maxDepth }) => new NutsTrajectory(start, maxDepth, draw),
  },
  hmc: {
    targetAcceptance: 0.8,
    begin: (start, draw, { steps }) =>
      new FixedLengthTrajectory(start, lengthFrom(draw(), steps), draw()),
  },
  // Optimal for many independent coordinates (G. Roberts and J. Rosenthal, 1998).
  mala: {
    targetAcceptance: 0.574,
    begin: (start, draw) => new FixedLengthTrajectory(start, 1, draw()),
  },
  // All moves are accepted, so this bounds the bias: the closer to 1, the smaller.
  ula: { targetAcceptance: 0.95, begin: (start) => new FixedLengthTrajectory(start, 1, undefined) },
};
