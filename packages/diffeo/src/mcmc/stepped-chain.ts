/**
 * Runs a chain step by step. Its owner computes the leapfrog step `step`, possibly with those of
 * other chains in one graph, and passes the resulting point to `take`.
 */
import { fold, type Key, normal, uniform } from "../random/index.ts";
import type { AdaptiveChain } from "./adaptive-chain.ts";
import { methods } from "./method.ts";
import type { Leaf, Trajectory } from "./trajectory.ts";

/** The next leapfrog step. */
interface Step {
  readonly from: Leaf;
  /** ε, negative if time runs backwards. */
  readonly size: number;
}

const half = (a: Float64Array, b: Float64Array): number =>
  0.5 * a.reduce((total, v, i) => total + v * b[i], 0);

/** Whether log p or its gradient is NaN at a finite point. Points that overflowed do not count. */
const isUndefined = ({ x, value, slope }: Leaf): boolean =>
  (Number.isNaN(value) || slope.some(Number.isNaN)) && x.every(Number.isFinite);

export class SteppedChain {
  readonly adaptive: AdaptiveChain;
  #trajectory: Trajectory | undefined;
  /** The point where the step of a search starts. */
  #start: Leaf | undefined;

  constructor(adaptive: AdaptiveChain) {
    this.adaptive = adaptive;
    this.#prepare();
  }

  get step(): Step {
    const { size } = this.adaptive;
    if (this.#start) return { from: this.#start, size };
    const { from, direction } = (this.#trajectory as Trajectory).next;
    return { from, size: direction * size };
  }

  /** Takes the result of the step; true if it ended a transition. */
  take(leaf: Leaf): boolean {
    const chain = this.adaptive;
    if (this.#start) {
      chain.judge(this.#start.energy - leaf.energy);
      this.#prepare();
      return false;
    }
    const ended = (this.#trajectory as Trajectory).add(leaf);
    if (!ended) return false;
    // NaN ends a transition, so only the last leaf can be one.
    chain.note(isUndefined(leaf) ? 1 : 0, leaf.x);
    chain.settle(ended);
    this.#prepare();
    return true;
  }

  /** Continues after the comparison with other chains. */
  proceed(): void {
    this.#prepare();
  }

  /** Starts a step of a search or the next transition, if the chain is not finished. */
  #prepare(): void {
    const chain = this.adaptive;
    this.#start = undefined;
    if (chain.finished || chain.waits) return;
    const { search } = chain;
    if (search) this.#start = this.#kicked(search);
    else this.#begin();
  }

  /** The chain's point with a sampled momentum. */
  #kicked(stream: Key): Leaf {
    const { at, metric } = this.adaptive;
    const z = normal(fold(stream, "momentum"), [at.x.length], { dtype: "float64" }).data;
    const { momentum, velocity } = metric.momentum(z);
    return { ...at, momentum, velocity, energy: half(momentum, velocity) - at.value };
  }

  #begin(): void {
    const { stream, settings } = this.adaptive;
    let block: Float64Array = new Float64Array(0);
    let at = 0;
    let blocks = 0;
    const draw = (): number => {
      if (at === block.length) {
        block = uniform(fold(fold(stream, "tree"), blocks++), [32], { dtype: "float64" }).data;
        at = 0;
      }
      return block[at++];
    };
    this.#trajectory = methods[settings.method].begin(this.#kicked(stream), draw, settings);
  }
}
