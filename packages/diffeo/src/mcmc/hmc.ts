/**
 * Transitions of fixed length: leapfrog steps from (x, p), p ~ N(0, M), to (x′, p′), then
 *
 *   Hamiltonian Monte Carlo   x′ with probability min(1, e^{H−H′}), else x (S. Duane, A. Kennedy,
 *                             B. Pendleton, D. Roweth, 1987)
 *   MALA                      the same after one step (J. Besag, 1994)
 *   unadjusted Langevin       one step, x′ always: x′ = x + ½ε²M⁻¹∇log p(x) + εM^{−½}z
 *
 * The last is an Euler–Maruyama step of the Langevin diffusion dx = ½M⁻¹∇log p dt + M^{−½}dW over
 * dt = ε²; it has the distribution p up to a bias that vanishes with ε. The number of steps may be
 * random if it does not depend on the chain's position. It is uniform on 1, …, 2L − 1, with mean L,
 * so that trajectories do not keep meeting a period of the motion.
 */
import { DIVERGED, type EndedTransition, type Leaf, type Trajectory } from "./trajectory.ts";

/** A uniform integer from 1 to 2L − 1, from one uniform number. */
export const lengthFrom = (u: number, mean: number): number => 1 + Math.floor(u * (2 * mean - 1));

export class FixedLengthTrajectory implements Trajectory {
  readonly #start: Leaf;
  readonly #steps: number;
  /** The uniform number of the Metropolis test; undefined if there is no test. */
  readonly #u: number | undefined;
  #at: Leaf;
  #taken = 0;

  constructor(start: Leaf, steps: number, u: number | undefined) {
    this.#start = start;
    this.#steps = steps;
    this.#u = u;
    this.#at = start;
  }

  get next(): { readonly from: Leaf; readonly direction: 1 } {
    return { from: this.#at, direction: 1 };
  }

  add(leaf: Leaf): EndedTransition | undefined {
    this.#at = leaf;
    this.#taken++;
    const change = this.#start.energy - leaf.energy;
    const diverged = !(change > -DIVERGED);
    if (!diverged && this.#taken < this.#steps) return undefined;
    const acceptance = diverged ? 0 : Math.min(1, Math.exp(change));
    const drawn = !diverged && (this.#u === undefined || this.#u < acceptance) ? leaf : this.#start;
    return {
      leaf: drawn,
      depth: 0,
      leaves: this.#taken,
      diverged,
      acceptance,
      energy: drawn.energy,
    };
  }
}
