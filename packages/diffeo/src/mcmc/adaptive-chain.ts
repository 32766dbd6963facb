/**
 * The state of one chain between transitions: its position, its draws, and during the warm-up the
 * adaptation of ε (step-size.ts) and M⁻¹ (warmup.ts). Transitions are computed elsewhere: step by
 * step on the host (stepped-chain.ts), or whole in a module (compiled-chains.ts). Before a
 * transition the chain may search for a step size by trying single steps.
 *
 * The randomness of a transition is a function of the chain's key and of the transition's number.
 * The `state` after the last complete transition therefore determines all later draws.
 */
import { fold, type Key } from "../random/index.ts";
import type { ChainSettings } from "./chain-settings.ts";
import type { Chain, ChainState } from "./chain-state.ts";
import { EuclideanMetric, formOf, type MetricForm, type MetricName } from "./metric.ts";
import { comparisonOf, placesToTake, Region } from "./restart.ts";
import { DualAverage } from "./step-size.ts";
import type { EndedTransition } from "./trajectory.ts";
import { type MetricLearner, metricLearner, shortWindows, windows } from "./warmup.ts";

/** The search for a first step size: whether the size grows, and the number of the current try. */
interface Search {
  grows: boolean | undefined;
  tries: number;
}

/** Allocates arrays for all draws and copies the existing ones into them. */
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
    restart: state.restart ?? undefined,
  };
}

const windowsOf = (metric: MetricName, warmup: number): ReturnType<typeof windows> => {
  if (metric === "unit") return { from: warmup, ends: [] };
  return metric === "low-rank" ? shortWindows(warmup) : windows(warmup);
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class AdaptiveChain {
  readonly key: Key;
  readonly settings: ChainSettings;
  readonly #n: number;
  readonly #windows: ReturnType<typeof windows>;
  readonly #average: DualAverage;
  readonly #chain: Mutable<Chain>;
  metric: EuclideanMetric;
  #learner: MetricLearner;
  readonly #form: MetricForm;
  at: ChainState["at"];
  /** ε */
  size: number;
  /** ε before the search. */
  #sizeBefore = 1;
  /** Completed transitions, including the warm-up. */
  done: number;
  readonly #comparison: number | undefined;
  #region: Region;
  /** Whether the chain was compared with the other chains. */
  #compared: boolean;
  #looks: boolean;
  #search: Search | undefined;

  constructor(key: Key, state: ChainState, settings: ChainSettings) {
    const { draws, warmup, targetAcceptance, metric } = settings;
    const n = state.at.x.length;
    this.key = key;
    this.#n = n;
    this.settings = settings;
    this.#windows = windowsOf(metric, warmup);
    this.at = state.at;
    this.done = state.done;
    this.#looks = state.looks;
    this.#average = new DualAverage(targetAcceptance, state.average);
    this.size = state.size;
    this.#form = formOf(metric);
    this.metric = new EuclideanMetric(state.inverseMass, n, this.#form);
    this.#learner = metricLearner(n, this.#form, state.covariance);
    this.#chain = roomFor(state, draws, n);
    this.#comparison = settings.restart ? comparisonOf(warmup) : undefined;
    this.#region = new Region(n, state.region);
    this.#compared = state.compared;
    this.#prepare();
  }

  get finished(): boolean {
    return this.done === this.settings.warmup + this.settings.draws;
  }

  /** Whether the chain waits for the comparison with the other chains. */
  get waits(): boolean {
    return this.done === this.#comparison && !this.#compared;
  }

  /** The region the chain visited in the quarter of the warm-up before the comparison. */
  get region(): Pick<Region, "level" | "logMass" | "isStuck"> {
    return this.#region;
  }

  get chain(): Chain {
    return { ...this.#chain, stepSize: this.size, inverseMass: this.metric.inverse };
  }

  /** The state after the last complete transition. */
  get state(): ChainState {
    const drawn = Math.max(0, this.done - this.settings.warmup);
    const {
      x,
      value,
      energy,
      acceptance,
      depth,
      leaves,
      diverged,
      undefinedAt = null,
      restart = null,
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
      restart,
      compared: this.#compared,
      region: this.#region.state,
      done: this.done,
      at: this.at,
      // A search is not a transition: it is repeated from its initial size.
      size: this.#looks ? this.#sizeBefore : this.size,
      looks: this.#looks,
      average: this.#average.state,
      covariance: this.#learner.state,
    };
  }

  /** Counts points after the warm-up where log p or its slope is NaN, and keeps the first one. */
  note(count: number, x: Float64Array): void {
    if (count === 0 || this.done < this.settings.warmup) return;
    this.#chain.undefinedCount += count;
    this.#chain.undefinedAt ??= x;
  }

  /** Begins the search for a step size if one is due. */
  #prepare(): void {
    if (this.finished || !this.#looks) return;
    this.#sizeBefore = this.size;
    this.#search = { grows: undefined, tries: 1 };
  }

  /** The stream of the next try of a search for a size whose step has acceptance 0.8. */
  get search(): Key | undefined {
    return this.#search && fold(fold(fold(this.key, "size"), this.done), this.#search.tries);
  }

  /** Receives H₀ − H of the step that was tried. */
  judge(change: number): void {
    const search = this.#search as Search;
    const good = change > Math.log(0.8);
    search.grows ??= good;
    if (good === search.grows && search.tries < 100) {
      this.size *= search.grows ? 2 : 0.5;
      search.tries++;
      return;
    }
    this.#search = undefined;
    this.#looks = false;
    this.#average.restart(this.size);
  }

  /** Continues from its own position after the comparison. */
  stay(): void {
    this.#compared = true;
    this.#region = new Region(this.#n);
  }

  /** Continues from the position of another chain of the block, with that chain's adaptation. */
  takePlaceOf(other: AdaptiveChain, number: number): void {
    const { level: logDensity } = this.#region;
    const { level: logDensityThere } = other.#region;
    const { at, size, looks, average, covariance } = other.state;
    this.#chain.restart = { done: this.done, from: number, logDensity, logDensityThere };
    this.at = at;
    this.size = size;
    this.metric = other.metric;
    this.#looks = looks;
    this.#average.state = average;
    this.#learner = metricLearner(this.#n, this.#form, covariance);
    this.#search = undefined;
    this.stay();
    this.#prepare();
  }

  /** The stream of the next transition. */
  get stream(): Key {
    return fold(fold(this.key, "transition"), this.done);
  }

  /** Records a completed transition. */
  settle(ended: EndedTransition): void {
    const { warmup } = this.settings;
    const { x, slope, value } = ended.leaf;
    this.at = { x, slope, value };
    this.done++;
    if (this.done <= warmup) this.#learn(ended);
    else this.#keep(ended, this.done - warmup - 1);
    this.#prepare();
  }

  #learn({ acceptance, diverged, leaf }: EndedTransition): void {
    const { warmup } = this.settings;
    const { from, ends } = this.#windows;
    if (diverged) this.#chain.divergedInWarmup++;
    const half = this.#comparison ?? 0;
    if (this.done <= half && 2 * this.done > half) this.#region.add(leaf.x, leaf.value, diverged);
    this.#average.add(acceptance);
    this.size = this.#average.size;
    if (this.done > from && this.done <= (ends.at(-1) ?? 0)) this.#learner.add(leaf.x, leaf.slope);
    if (ends.includes(this.done)) {
      const learned = this.#learner.estimate();
      if (learned) this.metric = new EuclideanMetric(learned, this.#n, this.#form);
      this.#learner = metricLearner(this.#n, this.#form);
      this.size = this.#average.settled;
      this.#looks = this.done < warmup;
    }
    if (this.done === warmup) this.size = this.#average.settled;
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

/**
 * Compares the chains of a block when all of them wait (restart.ts).
 *
 * @param first the number of the first chain
 * @returns the chains that continue from another chain's position; undefined while some have not
 * yet reached the comparison
 */
export function compareChains(
  chains: readonly AdaptiveChain[],
  first: number,
): readonly number[] | undefined {
  const waiting = chains.find((chain) => chain.waits);
  if (!waiting || chains.some(({ done }) => done < waiting.done)) return undefined;
  // A damaged file may hold chains that are beyond the comparison; they are not compared.
  const places = chains.every((chain) => chain.waits)
    ? placesToTake(
        chains.map(({ region }) => region),
        waiting.at.x.length,
      )
    : chains.map(() => undefined);
  const moved = [...places.keys()].filter((c) => places[c] !== undefined);
  for (const c of moved) {
    const from = places[c] as number;
    chains[c].takePlaceOf(chains[from], first + from);
  }
  chains.forEach((chain, c) => {
    if (places[c] === undefined) chain.stay();
  });
  return moved;
}
