/**
 * One chain of a posterior as a state machine: its owner computes the leapfrog step `step`, and
 * passes the point that it leads to to `take`. First the chain searches a step size, then transitions
 * (method.ts) follow each other; in the warm-up it learns ε (step-size.ts) and M⁻¹ (warmup.ts).
 *
 * What is random in a transition is a function of the chain's key and of its number. So a chain is
 * known by what it was after its last whole transition, its `state`, and goes on from there to the
 * same draws.
 */
import { fold, type Key, normal, uniform } from "../random/index.ts";
import type { ChainSettings } from "./chain-settings.ts";
import type { Chain, ChainState } from "./chain-state.ts";
import { methods } from "./method.ts";
import { EuclideanMetric } from "./metric.ts";
import { DualAverage } from "./step-size.ts";
import type { EndedTransition, Leaf, Trajectory } from "./trajectory.ts";
import { RunningCovariance, windows } from "./warmup.ts";

/** One leapfrog step to take. */
interface Step {
  readonly from: Leaf;
  /** ε, negative where time runs backwards. */
  readonly size: number;
}

const half = (a: Float64Array, b: Float64Array): number =>
  0.5 * a.reduce((total, v, i) => total + v * b[i], 0);

/**
 * While a first step size is looked for: whether it grows, how many tries there were, and where the
 * next one starts.
 */
interface Search {
  grows: boolean | undefined;
  readonly tries: number;
  readonly start: Leaf;
}

/** Room for all draws, with those there are in it. */
function roomFor(state: ChainState, draws: number, n: number): Chain {
  const { x, value, energy, acceptance, depth, leaves, diverged } = state;
  const widened = <T extends Float64Array | Uint8Array | Uint32Array>(into: T, from: T): T => {
    into.set(from);
    return into;
  };
  return {
    x: widened(new Float64Array(draws * n), x),
    value: widened(new Float64Array(draws), value),
    energy: widened(new Float64Array(draws), energy),
    acceptance: widened(new Float64Array(draws), acceptance),
    depth: widened(new Uint8Array(draws), depth),
    leaves: widened(new Uint32Array(draws), leaves),
    diverged: widened(new Uint8Array(draws), diverged),
    stepSize: state.size,
    inverseMass: state.inverseMass,
    divergedInWarmup: state.divergedInWarmup,
    undefinedCount: state.undefinedCount,
    undefinedAt: state.undefinedAt ?? undefined,
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class AdaptiveChain {
  readonly #key: Key;
  readonly #settings: ChainSettings;
  readonly #n: number;
  readonly #windows: ReturnType<typeof windows>;
  readonly #average: DualAverage;
  readonly #chain: Mutable<Chain>;
  metric: EuclideanMetric;
  #covariance: RunningCovariance;
  #at: ChainState["at"];
  #size: number;
  /** ε before it was looked for. */
  #sizeBefore = 1;
  /** Transitions done, warm-up included. */
  done: number;
  #looks: boolean;
  #trajectory: Trajectory | undefined;
  #search: Search | undefined;

  constructor(key: Key, state: ChainState, settings: ChainSettings) {
    const { draws, warmup, targetAcceptance, metric } = settings;
    const n = state.at.x.length;
    this.#key = key;
    this.#n = n;
    this.#settings = settings;
    this.#windows = metric === "unit" ? { from: warmup, ends: [] } : windows(warmup);
    this.#at = state.at;
    this.done = state.done;
    this.#looks = state.looks;
    this.#average = new DualAverage(targetAcceptance, state.average);
    this.#size = state.size;
    this.metric = new EuclideanMetric(state.inverseMass, n, metric === "dense");
    this.#covariance = new RunningCovariance(n, metric === "dense", state.covariance);
    this.#chain = roomFor(state, draws, n);
    this.#go();
  }

  get finished(): boolean {
    return this.done === this.#settings.warmup + this.#settings.draws;
  }

  get chain(): Chain {
    return { ...this.#chain, stepSize: this.#size, inverseMass: this.metric.inverse };
  }

  /** What the chain was after its last whole transition. */
  get state(): ChainState {
    const drawn = Math.max(0, this.done - this.#settings.warmup);
    const {
      x,
      value,
      energy,
      acceptance,
      depth,
      leaves,
      diverged,
      undefinedAt = null,
      stepSize: _,
      ...rest
    } = this.chain;
    return {
      ...rest,
      x: x.subarray(0, drawn * this.#n),
      value: value.subarray(0, drawn),
      energy: energy.subarray(0, drawn),
      acceptance: acceptance.subarray(0, drawn),
      depth: depth.subarray(0, drawn),
      leaves: leaves.subarray(0, drawn),
      diverged: diverged.subarray(0, drawn),
      undefinedAt,
      done: this.done,
      at: this.#at,
      // A search is not a transition: it is made again, from the size it began with.
      size: this.#looks ? this.#sizeBefore : this.#size,
      looks: this.#looks,
      average: this.#average.state,
      covariance: this.#covariance.state,
    };
  }

  get step(): Step {
    if (this.#search) return { from: this.#search.start, size: this.#size };
    const { from, direction } = (this.#trajectory as Trajectory).next;
    return { from, size: direction * this.#size };
  }

  /** Takes the point the step led to; whether a transition ended with it. */
  take(leaf: Leaf): boolean {
    if (this.#search) {
      this.#judge(leaf);
      return false;
    }
    const ended = (this.#trajectory as Trajectory).add(leaf);
    if (!ended) return false;
    // What is no number ends a transition, so it is the last leaf or none.
    if (this.done >= this.#settings.warmup) this.#note(leaf);
    this.#settle(ended);
    return true;
  }

  /**
   * Remembers a point where log p or its slope is no number; one that overflowed itself says
   * nothing.
   */
  #note({ x, value, slope }: Leaf): void {
    if (!(Number.isNaN(value) || slope.some(Number.isNaN)) || !x.every(Number.isFinite)) return;
    this.#chain.undefinedCount++;
    this.#chain.undefinedAt ??= x;
  }

  /** The chain's point with a momentum drawn for it. */
  #kicked(stream: Key): Leaf {
    const z = Float64Array.from(
      normal(fold(stream, "momentum"), [this.#n], { dtype: "float64" }).data,
    );
    const { momentum, velocity } = this.metric.momentum(z);
    return { ...this.#at, momentum, velocity, energy: half(momentum, velocity) - this.#at.value };
  }

  /** What comes after a whole transition: a search, the next transition, or nothing. */
  #go(): void {
    if (this.finished) this.#trajectory = undefined;
    else if (this.#looks) {
      this.#sizeBefore = this.#size;
      this.#look();
    } else this.#begin();
  }

  /** One try for a step size at which one step is accepted with probability 0.8. */
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
    this.#looks = false;
    this.#average.restart(this.#size);
    this.#begin();
  }

  #begin(): void {
    const stream = fold(fold(this.#key, "transition"), this.done);
    let [block, at] = [new Float64Array(0), 0];
    let blocks = 0;
    const draw = (): number => {
      if (at === block.length) {
        block = Float64Array.from(
          uniform(fold(fold(stream, "tree"), blocks++), [32], { dtype: "float64" }).data,
        );
        at = 0;
      }
      return block[at++];
    };
    this.#trajectory = methods[this.#settings.method].begin(
      this.#kicked(stream),
      draw,
      this.#settings,
    );
  }

  #settle(ended: EndedTransition): void {
    const { warmup } = this.#settings;
    const { x, slope, value } = ended.leaf;
    this.#at = { x, slope, value };
    this.done++;
    if (this.done <= warmup) this.#learn(ended);
    else this.#keep(ended, this.done - warmup - 1);
    this.#go();
  }

  #learn({ acceptance, diverged, leaf }: EndedTransition): void {
    const { warmup, metric } = this.#settings;
    const { from, ends } = this.#windows;
    if (diverged) this.#chain.divergedInWarmup++;
    this.#average.add(acceptance);
    this.#size = this.#average.size;
    if (this.done > from && this.done <= (ends.at(-1) ?? 0)) this.#covariance.add(leaf.x);
    if (ends.includes(this.done)) {
      const dense = metric === "dense";
      this.metric = new EuclideanMetric(this.#covariance.estimate(), this.#n, dense);
      this.#covariance = new RunningCovariance(this.#n, dense);
      this.#size = this.#average.settled;
      this.#looks = this.done < warmup;
    }
    if (this.done === warmup) this.#size = this.#average.settled;
  }

  #keep({ leaf, depth, leaves, diverged, acceptance, energy }: EndedTransition, i: number): void {
    const chain = this.#chain;
    chain.x.set(leaf.x, i * this.#n);
    chain.value[i] = leaf.value;
    chain.energy[i] = energy;
    chain.acceptance[i] = acceptance;
    chain.depth[i] = depth;
    chain.leaves[i] = leaves;
    chain.diverged[i] = diverged ? 1 : 0;
  }
}
