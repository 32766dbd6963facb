/**
 * A trajectory of the no-U-turn sampler as a binary tree (M. Hoffman and A. Gelman, 2014) with
 * multinomial sampling and the generalised criterion (M. Betancourt, "A conceptual introduction to
 * Hamiltonian Monte Carlo", 2017).
 *
 * A tree of depth d has 2^d leaves, the points of the leapfrog steps. With ρ = Σ p over its leaves
 * and p♯ = M⁻¹p, it grows while
 *
 *   p♯_first · ρ > 0   and   p♯_last · ρ > 0,
 *
 * and the same holds across the seam of its two halves (ρ of one half and the nearest leaf of the
 * other). A leaf is sampled with weight e^{−H}: within a new half in proportion to the weights,
 * between the old and the new half with probability min(1, w_new/w_old), which leaves the
 * distribution invariant and favours moves.
 *
 * Leaves are added one by one, outwards. Complete subtrees are on a stack, and two of the same
 * depth merge as in a binary counter. So there is no recursion, and a subtree that makes a U-turn
 * ends the trajectory at the leaf where that is found.
 */

import { DIVERGED, type EndedTransition, type Leaf, type Trajectory } from "./trajectory.ts";

/** Consecutive leaves; the first is nearest to the start of the trajectory. */
interface Subtree {
  readonly depth: number;
  readonly first: Leaf;
  readonly last: Leaf;
  /** ρ */
  readonly sum: Float64Array;
  /** log Σ e^{H₀−H} */
  readonly logWeight: number;
  /** The leaf that was sampled from it. */
  readonly drawn: Leaf;
}

const plus = (a: Float64Array, b: Float64Array): Float64Array => {
  const total = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) total[i] = a[i] + b[i];
  return total;
};

/** v · (a + b) */
const dotSum = (v: Float64Array, a: Float64Array, b: Float64Array): number => {
  let total = 0;
  for (let i = 0; i < v.length; i++) total += v[i] * (a[i] + b[i]);
  return total;
};

const logAdd = (a: number, b: number): number => {
  const most = Math.max(a, b);
  return most === Number.NEGATIVE_INFINITY
    ? most
    : most + Math.log1p(Math.exp(Math.min(a, b) - most));
};

/** Whether a stretch of leaves with momentum sum ρ = a + b has not made a U-turn. */
const straight = (from: Leaf, to: Leaf, a: Float64Array, b: Float64Array): boolean =>
  dotSum(from.velocity, a, b) > 0 && dotSum(to.velocity, a, b) > 0;

/** The same for two consecutive halves, with both seams. */
const straightOn = (a: Subtree, b: Subtree): boolean =>
  straight(a.first, b.last, a.sum, b.sum) &&
  straight(a.first, b.first, a.sum, b.first.momentum) &&
  straight(a.last, b.last, b.sum, a.last.momentum);

/**
 * One transition, from a leaf with a fresh momentum. `draw()` gives the next uniform number of its
 * stream.
 */
export class NutsTrajectory implements Trajectory {
  readonly #start: Leaf;
  readonly #draw: () => number;
  readonly #maxDepth: number;
  /** Subtrees of the half that is being built, by decreasing depth. */
  #stack: Subtree[] = [];
  #whole: Subtree;
  /** The ends of the trajectory, from which it grows backwards and forwards. */
  #ends: [Leaf, Leaf];
  #forward = true;
  #leaves = 0;
  #accepted = 0;
  #done: EndedTransition | undefined;

  constructor(start: Leaf, maxDepth: number, draw: () => number) {
    this.#start = start;
    this.#draw = draw;
    this.#maxDepth = maxDepth;
    this.#whole = {
      depth: 0,
      first: start,
      last: start,
      sum: start.momentum,
      logWeight: 0,
      drawn: start,
    };
    this.#ends = [start, start];
    this.#forward = draw() < 0.5;
  }

  get next(): { readonly from: Leaf; readonly direction: 1 | -1 } {
    return { from: this.#ends[this.#forward ? 1 : 0], direction: this.#forward ? 1 : -1 };
  }

  add(leaf: Leaf): EndedTransition | undefined {
    const change = this.#start.energy - leaf.energy;
    this.#leaves++;
    this.#accepted += Number.isNaN(change) ? 0 : Math.min(1, Math.exp(change));
    this.#ends[this.#forward ? 1 : 0] = leaf;
    if (!(change > -DIVERGED)) return this.#end(true);
    if (
      !this.#push({
        depth: 0,
        first: leaf,
        last: leaf,
        sum: leaf.momentum,
        logWeight: change,
        drawn: leaf,
      })
    )
      return this.#end(false);
    const [half] = this.#stack;
    if (this.#stack.length === 1 && half.depth === this.#whole.depth) return this.#double(half);
    return undefined;
  }

  /** Pushes a subtree onto the stack and merges; false if one makes a U-turn. */
  #push(subtree: Subtree): boolean {
    this.#stack.push(subtree);
    for (;;) {
      const [a, b] = [this.#stack[this.#stack.length - 2], this.#stack[this.#stack.length - 1]];
      if (a === undefined || a.depth !== b.depth) return true;
      if (!straightOn(a, b)) return false;
      const sum = plus(a.sum, b.sum);
      const logWeight = logAdd(a.logWeight, b.logWeight);
      const drawn = Math.log(this.#draw()) < b.logWeight - logWeight ? b.drawn : a.drawn;
      this.#stack.splice(-2, 2, {
        depth: a.depth + 1,
        first: a.first,
        last: b.last,
        sum,
        logWeight,
        drawn,
      });
    }
  }

  /** Joins the new half to the tree. */
  #double(half: Subtree): EndedTransition | undefined {
    this.#stack = [];
    const whole = this.#whole;
    const drawn =
      Math.log(this.#draw()) < half.logWeight - whole.logWeight ? half.drawn : whole.drawn;
    const sum = plus(whole.sum, half.sum);
    // The tree oriented towards the new half, so that its last leaf is the half's neighbour.
    const inner = this.#forward ? whole : { ...whole, first: whole.last, last: whole.first };
    const turned = !straightOn(inner, half);
    const [first, last] = this.#ends;
    const logWeight = logAdd(whole.logWeight, half.logWeight);
    this.#whole = { depth: whole.depth + 1, first, last, sum, logWeight, drawn };
    if (turned || this.#whole.depth >= this.#maxDepth) return this.#end(false);
    this.#forward = this.#draw() < 0.5;
    return undefined;
  }

  #end(diverged: boolean): EndedTransition {
    const { drawn, depth } = this.#whole;
    this.#done ??= {
      leaf: drawn,
      depth,
      leaves: this.#leaves,
      diverged,
      acceptance: this.#accepted / this.#leaves,
      energy: drawn.energy,
    };
    return this.#done;
  }
}
