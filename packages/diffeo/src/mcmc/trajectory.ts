/** The points of a transition in phase space, with H = ½pᵀM⁻¹p − log p(x), and its result. */

/** A point in phase space, with log p, its gradient and H. */
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
  /** H. */
  readonly energy: number;
}

/** The energy difference above which a trajectory has diverged. */
export const DIVERGED = 1000;

/** The result of a transition. */
export interface EndedTransition {
  readonly leaf: Pick<Leaf, "x" | "slope" | "value">;
  readonly depth: number;
  /** The number of leapfrog steps. */
  readonly leaves: number;
  readonly diverged: boolean;
  /**
   * min(1, e^{H₀−H}), for the no-U-turn sampler its mean over the leaves; the step size is adapted
   * to it.
   */
  readonly acceptance: number;
  /** H of the sampled leaf. */
  readonly energy: number;
}

/** A transition in progress. */
export interface Trajectory {
  /** Where the next leapfrog step starts, and in which direction of time. */
  readonly next: { readonly from: Leaf; readonly direction: 1 | -1 };
  /** Takes the leaf after that step; returns the transition's result when it has ended. */
  add(leaf: Leaf): EndedTransition | undefined;
}
