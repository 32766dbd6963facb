/**
 * How a chain moves: the no-U-turn sampler, and for comparison and teaching those it comes from.
 */
import { FixedLengthTrajectory, lengthFrom } from "./hmc.ts";
import { NutsTrajectory } from "./nuts.ts";
import type { Leaf, Trajectory } from "./trajectory.ts";

export interface MethodSettings {
  /** A trajectory of the no-U-turn sampler has at most 2 to the power of this many leaves. */
  readonly maxDepth: number;
  /** Leapfrog steps of a transition of Hamiltonian Monte Carlo, on average. */
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

/** The name of how chains move. */
export type ChainMethodName = "nuts" | "hmc" | "mala" | "ula";

/** How chains move, by name. */
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
  // The best for many independent coordinates (G. Roberts and J. Rosenthal, 1998).
  mala: {
    targetAcceptance: 0.574,
    begin: (start, draw) => new FixedLengthTrajectory(start, 1, draw()),
  },
  // Nothing is refused, so this is a bound on the bias: the closer to 1, the smaller.
  ula: { targetAcceptance: 0.95, begin: (start) => new FixedLengthTrajectory(start, 1, undefined) },
};
