/**
 * What a transition is made of: points in phase space that leapfrog went through, H = ½pᵀM⁻¹p − log
 * p(x), and how it ended.
 */

/** A point in phase space, with what is known there. */
export interface Leaf {
  readonly x: Float64Array;
  /** ∇ log p(x) */
  readonly slope: Float64Array;
  /** p */
  readonly momentum: Float64Array;
  /** p♯ = M⁻¹p */
  readonly velocity: Float64Array;
  /** log p(x) */
  readonly value: number;
  /** H, with its constant. */
  readonly energy: number;
}

/** A difference of energies beyond which a trajectory has diverged. */
export const DIVERGED = 1000;

/** How a transition ended. */
export interface EndedTransition {
  readonly leaf: Pick<Leaf, "x" | "slope" | "value">;
  readonly depth: number;
  /** Leapfrog steps. */
  readonly leaves: number;
  readonly diverged: boolean;
  /**
   * min(1, e^{H₀−H}), for the no-U-turn sampler its mean over the leaves: what the step size is
   * adapted to.
   */
  readonly acceptance: number;
  /** H of the leaf that was drawn. */
  readonly energy: number;
}

/** A transition under way: it names its next leapfrog step. */
export interface Trajectory {
  /** Where the next leapfrog step starts, and in which direction of time. */
  readonly next: { readonly from: Leaf; readonly direction: 1 | -1 };
  /** Takes the leaf that step led to; the transition, once it is over. */
  add(leaf: Leaf): EndedTransition | undefined;
}
