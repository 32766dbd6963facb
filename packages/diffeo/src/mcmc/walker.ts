/**
 * One chain of the no-U-turn sampler, told by the leapfrog steps it asks for: whoever runs it takes `step`, and gives `take`
 * the point that it led to. First a step size is looked for, then trajectories (tree.ts) follow each other; in the warm-up
 * they teach ε and M⁻¹ (warmup.ts).
 */
import { fold, type Key, normal, uniform } from "../random/index.ts";
import { Metric, unitMatrix } from "./metric.ts";
import { type Leaf, Trajectory, type Transition } from "./tree.ts";
import { Covariance, DualAverage, windows } from "./warmup.ts";

/** How a chain is drawn. */
export interface ChainOptions {
  /** Draws of every chain that count. Default 1,000. */
  readonly draws?: number;
  /** Transitions before them, in which ε and M⁻¹ are learned. Default 1,000. */
  readonly warmup?: number;
  /** The acceptance that ε is adapted to: larger means smaller steps and fewer divergences. Default 0.8. */
  readonly acceptance?: number;
  /** Whether M⁻¹ is a full matrix or a diagonal. Default diagonal. */
  readonly dense?: boolean;
  /** A trajectory has at most 2 to the power of this many leaves. Default 10. */
  readonly maxDepth?: number;
  /** ε to begin with, kept as it is where there is no warm-up. Default: looked for. */
  readonly size?: number;
}

/** The same with nothing left open but ε. */
export type ChainSettings = Required<Omit<ChainOptions, "size">> & Pick<ChainOptions, "size">;

/** What one chain drew, and how. */
export interface Chain {
  /** [draws, n] */
  readonly x: Float64Array;
  readonly value: Float64Array;
  readonly energy: Float64Array;
  readonly acceptance: Float64Array;
  readonly depth: Uint8Array;
  readonly leaves: Uint32Array;
  readonly diverged: Uint8Array;
  /** ε and M⁻¹ of the draws. */
  readonly size: number;
  readonly inverseMass: Float64Array;
  /** Of the warm-up. */
  readonly divergedInWarmup: number;
}

/** One leapfrog step to take. */
interface Step {
  readonly from: Leaf;
  /** ε, negative where time runs backwards. */
  readonly size: number;
}

const half = (a: Float64Array, b: Float64Array): number => 0.5 * a.reduce((total, v, i) => total + v * b[i], 0);

/** While a first step size is looked for: whether it grows, how many tries there were, and where the next one starts. */
interface Search {
  grows: boolean | undefined;
  readonly tries: number;
  readonly start: Leaf;
}

/** One chain, told by the leapfrog steps it asks for. */
export class Walker {
  readonly #key: Key;
  readonly #options: ChainSettings;
  readonly #n: number;
  readonly #windows: ReturnType<typeof windows>;
  readonly #average: DualAverage;
  readonly chain: Chain & { size: number; inverseMass: Float64Array; divergedInWarmup: number };
  metric: Metric;
  #covariance: Covariance;
  #at: Leaf;
  #size = 1;
  /** Transitions done, warm-up included. */
  done = 0;
  #trajectory: Trajectory | undefined;
  #search: Search | undefined;

  constructor(key: Key, n: number, start: Leaf, options: ChainSettings) {
    const { draws, warmup, acceptance, dense } = options;
    this.#key = key;
    this.#n = n;
    this.#options = options;
    this.#at = start;
    this.#windows = windows(warmup);
    this.#average = new DualAverage(acceptance, 1);
    this.metric = new Metric(unitMatrix(n, dense), n, dense);
    this.#covariance = new Covariance(n, dense);
    this.chain = {
      x: new Float64Array(draws * n),
      value: new Float64Array(draws),
      energy: new Float64Array(draws),
      acceptance: new Float64Array(draws),
      depth: new Uint8Array(draws),
      leaves: new Uint32Array(draws),
      diverged: new Uint8Array(draws),
      size: 1,
      inverseMass: this.metric.inverse,
      divergedInWarmup: 0,
    };
    if (options.size === undefined) this.#look();
    else {
      this.#size = options.size;
      this.chain.size = options.size;
      this.#average.restart(options.size);
      this.#begin();
    }
  }

  get finished(): boolean {
    return this.done === this.#options.warmup + this.#options.draws;
  }

  get step(): Step {
    if (this.#search) return { from: this.#search.start, size: this.#size };
    if (!this.#trajectory) return { from: this.#at, size: 0 };
    const { from, direction } = this.#trajectory.next;
    return { from, size: direction * this.#size };
  }

  /** Takes the point the step led to; whether a transition ended with it. */
  take(leaf: Leaf): boolean {
    if (this.#search) this.#judge(leaf);
    else {
      const ended = this.#trajectory?.add(leaf);
      if (!ended) return false;
      this.#settle(ended);
      return true;
    }
    return false;
  }

  /** The chain's point with a momentum drawn for it. */
  #kicked(stream: Key): Leaf {
    const z = Float64Array.from(normal(fold(stream, "momentum"), [this.#n], { dtype: "float64" }).data);
    const { momentum, velocity } = this.metric.momentum(z);
    return { ...this.#at, momentum, velocity, energy: half(momentum, velocity) - this.#at.value };
  }

  /** Begins the search for a step size at which one step is accepted with probability 0.8. */
  #look(): void {
    const tries = (this.#search?.tries ?? 0) + 1;
    const stream = fold(fold(fold(this.#key, "size"), this.done), tries);
    this.#search = { grows: this.#search?.grows, tries, start: this.#kicked(stream) };
  }

  #judge(leaf: Leaf): void {
    const search = this.#search as Search;
    const change = search.start.energy - leaf.energy;
    const good = change > Math.log(0.8);
    search.grows ??= good;
    if (good === search.grows && search.tries < 100) {
      this.#size *= search.grows ? 2 : 0.5;
      this.#look();
      return;
    }
    this.#search = undefined;
    this.#average.restart(this.#size);
    this.#begin();
  }

  #begin(): void {
    if (this.finished) {
      this.#trajectory = undefined;
      return;
    }
    const stream = fold(fold(this.#key, "transition"), this.done);
    let [block, at] = [new Float64Array(0), 0];
    let blocks = 0;
    const draw = (): number => {
      if (at === block.length) {
        block = Float64Array.from(uniform(fold(fold(stream, "tree"), blocks++), [32], { dtype: "float64" }).data);
        at = 0;
      }
      return block[at++];
    };
    this.#trajectory = new Trajectory(this.#kicked(stream), this.#options.maxDepth, draw);
  }

  #settle(ended: Transition): void {
    const { warmup } = this.#options;
    this.#at = ended.leaf;
    this.done++;
    if (this.done <= warmup) this.#learn(ended);
    else this.#keep(ended, this.done - warmup - 1);
    if (!this.#search) this.#begin();
  }

  #learn({ acceptance, diverged, leaf }: Transition): void {
    const { warmup, dense } = this.#options;
    const { from, ends } = this.#windows;
    if (diverged) this.chain.divergedInWarmup++;
    this.#average.add(acceptance);
    this.#size = this.#average.size;
    if (this.done > from && this.done <= (ends.at(-1) ?? 0)) this.#covariance.add(leaf.x);
    if (ends.includes(this.done)) {
      this.metric = new Metric(this.#covariance.estimate(), this.#n, dense);
      this.#covariance = new Covariance(this.#n, dense);
      this.#size = this.#average.settled;
      if (this.done < warmup) this.#look();
    }
    if (this.done === warmup) {
      this.#size = this.#average.settled;
      this.chain.size = this.#size;
      this.chain.inverseMass = this.metric.inverse;
    }
  }

  #keep({ leaf, depth, leaves, diverged, acceptance, energy }: Transition, i: number): void {
    const { chain } = this;
    chain.x.set(leaf.x, i * this.#n);
    chain.value[i] = leaf.value;
    chain.energy[i] = energy;
    chain.acceptance[i] = acceptance;
    chain.depth[i] = depth;
    chain.leaves[i] = leaves;
    chain.diverged[i] = diverged ? 1 : 0;
  }
}
