/**
 * Runs complete transitions in a module (chain-module.ts), one chain after another. A call of the
 * module runs as many leapfrog steps as fit into some milliseconds, so that progress, signals and
 * other work of the thread are handled between calls. In the warm-up a call is one transition,
 * because the chain adapts after each.
 */
import type { NdArray } from "../graph/index.ts";
import { fold } from "../random/index.ts";
import { pauses } from "../sampler/pauses.ts";
import { AdaptiveChain, compareChains } from "./adaptive-chain.ts";
import { methodNumber } from "./chain-code.ts";
import { MOST_DEPTH, RECORD_HEAD } from "./chain-layout.ts";
import type { ChainModule } from "./chain-module.ts";
import type { ChainSettings } from "./chain-settings.ts";
import type { Chain, ChainState } from "./chain-state.ts";
import { type DrawChainsOptions, keeperOf } from "./draw-options.ts";
import type { EuclideanMetric, MetricForm } from "./metric.ts";
import type { Leaf } from "./trajectory.ts";

/**
 * Milliseconds that a chain runs before the next one's turn, and that a call takes approximately.
 */
const TURN = 20;

interface Exports {
  readonly memory: WebAssembly.Memory;
  /** log p and its gradient at the point in memory. */
  readonly run: () => void;
  readonly transitions: (leapfrogs: number, until: number) => number;
  readonly probe: () => number;
}

/** An instantiated module, which one chain at a time uses. */
export class ChainSession {
  readonly #module: ChainModule;
  readonly #exports: Exports;
  readonly #n: number;
  readonly #form: MetricForm;
  #user: CompiledChain | undefined;
  /** Leapfrog steps of a call, chosen so that it takes a turn. */
  #leapfrogs = 16;

  private constructor(module: ChainModule, exports: Exports) {
    this.#module = module;
    this.#exports = exports;
    this.#n = module.size;
    this.#form = module.form;
  }

  static async open(module: ChainModule, inputs: Readonly<Record<string, NdArray>>) {
    const { instance } = await WebAssembly.instantiate(module.bytes);
    const exports = instance.exports as unknown as Exports;
    for (const [name, address] of Object.entries(module.inputs)) {
      const { data } = inputs[name];
      if (address !== undefined)
        new Float64Array(exports.memory.buffer, address, data.length).set(data as Float64Array);
    }
    return new ChainSession(module, exports);
  }

  #vector(address: number, length = this.#n): Float64Array {
    return new Float64Array(this.#exports.memory.buffer, address, length);
  }

  #integers(address: number, length: number): Int32Array {
    return new Int32Array(this.#exports.memory.buffer, address, length);
  }

  #write(address: number, numbers: ArrayLike<number>): void {
    this.#vector(address, numbers.length).set(numbers);
  }

  #number(address: number): number {
    return this.#vector(address, 1)[0];
  }

  /** log p and its gradient at a point. */
  look(point: Float64Array): Pick<Leaf, "x" | "slope" | "value"> {
    const { x, slope, value } = this.#module.target;
    this.#write(x, point);
    this.#exports.run();
    return { x: point.slice(), slope: this.#vector(slope).slice(), value: this.#number(value) };
  }

  /** Writes rows, each at a multiple of 16 bytes. */
  #writeRows(address: number, rows: readonly Float64Array[]): void {
    rows.forEach((row, i) => {
      this.#write(address + i * this.#module.layout.vector, row);
    });
  }

  #writeMetric({ inverse, root, stretches }: EuclideanMetric): void {
    const { layout } = this.#module;
    const { vector, excess } = layout;
    const n = this.#n;
    const rowsOf = (matrix: Float64Array): Float64Array[] =>
      Array.from({ length: n }, (_, i) => matrix.subarray(i * n, (i + 1) * n));
    if (this.#form === "dense") {
      this.#writeRows(layout.inverse, rowsOf(inverse));
      this.#writeRows(layout.root, rowsOf(root));
      return;
    }
    for (const [address, numbers] of [
      [layout.inverse, inverse.subarray(0, n)],
      [layout.root, root],
    ] as const) {
      // The padding behind the last number must not be 0, because it is divided by.
      this.#vector(address, vector / 8).fill(1);
      this.#write(address, numbers);
    }
    this.#integers(layout.rank, 1)[0] = stretches.length;
    this.#writeRows(
      layout.scaled,
      stretches.map(({ scaled }) => scaled),
    );
    this.#writeRows(
      layout.directions,
      stretches.map(({ direction }) => direction),
    );
    for (const kind of ["square", "root", "inverse"] as const)
      this.#write(
        excess[kind],
        stretches.map((stretch) => stretch.excess[kind]),
      );
  }

  /** Loads the state of a chain into memory, and stores that of the previous chain. */
  #enter(chain: CompiledChain): void {
    if (this.#user === chain) return;
    const { state, stack, stackSize, subtree } = this.#module.layout;
    const memory = new Uint8Array(this.#exports.memory.buffer);
    if (this.#user) {
      const waiting = this.#integers(stackSize, 1)[0] * subtree.bytes;
      this.#user.kept = {
        state: memory.slice(state.address, state.address + state.bytes),
        stack: memory.slice(stack, stack + waiting),
      };
    }
    this.#user = chain;
    if (chain.kept) {
      memory.set(chain.kept.state, state.address);
      memory.set(chain.kept.stack, stack);
    } else this.#begin(chain);
  }

  #begin({ adaptive: { at, done, key, settings } }: CompiledChain): void {
    const { layout } = this.#module;
    this.#vector(layout.state.address, layout.state.bytes / 8).fill(0);
    this.#write(layout.x, at.x);
    this.#write(layout.slope, at.slope);
    this.#write(layout.value, [at.value]);
    this.#write(layout.meanSteps, [settings.steps]);
    this.#integers(layout.transitionKey, 4).set(fold(key, "transition").words);
    this.#integers(layout.done, 1)[0] = done;
    this.#integers(layout.method, 1)[0] = methodNumber(settings.method);
    this.#integers(layout.maxDepth, 1)[0] = Math.min(MOST_DEPTH, settings.maxDepth);
  }

  /** Forgets the memory of a chain that continues from another position. */
  forget(chain: CompiledChain): void {
    if (this.#user === chain) this.#user = undefined;
    chain.kept = undefined;
    chain.metric = undefined;
  }

  /**
   * Runs one step of a search, one transition of the warm-up, or as many draws as fit into a turn.
   */
  advance(chain: CompiledChain): void {
    const { layout } = this.#module;
    const { adaptive } = chain;
    this.#enter(chain);
    const { metric, search, size, done, settings } = adaptive;
    if (chain.metric !== metric) {
      this.#writeMetric(metric);
      chain.metric = metric;
    }
    this.#write(layout.stepSize, [size]);
    if (search) {
      this.#integers(layout.streamKey, 4).set(search.words);
      adaptive.judge(this.#exports.probe());
      return;
    }
    const { warmup, draws } = settings;
    const began = performance.now();
    const until = done < warmup ? done + 1 : warmup + draws;
    const count = this.#exports.transitions(this.#leapfrogs, until);
    if (count === 0 || done >= warmup) this.#adjust(performance.now() - began);
    this.#take(adaptive, count);
  }

  /** Adapts the number of steps so that a call takes between half a turn and a turn. */
  #adjust(milliseconds: number): void {
    if (milliseconds > TURN && this.#leapfrogs > 1) this.#leapfrogs = this.#leapfrogs >> 1;
    else if (milliseconds < TURN / 4) this.#leapfrogs = Math.min(2 ** 24, 2 * this.#leapfrogs);
  }

  /** Passes the completed transitions to the chain. */
  #take(adaptive: AdaptiveChain, count: number): void {
    const { layout } = this.#module;
    const missed = this.#integers(layout.undefinedCount, 1)[0];
    if (missed > 0) adaptive.note(missed, this.#vector(layout.undefinedAt).slice());
    const { numbers } = layout.record;
    const rows = this.#vector(layout.records, count * numbers);
    const slope = count === 0 ? rows : this.#vector(layout.slope).slice();
    for (let r = 0; r < count; r++) {
      const from = r * numbers;
      const [value, energy, acceptance, depth, leaves, diverged] = rows.subarray(from);
      const x = rows.subarray(from + RECORD_HEAD, from + numbers);
      adaptive.settle({
        // The chain keeps the last point and its gradient; it copies the others.
        leaf: { x: r === count - 1 ? x.slice() : x, slope, value },
        depth,
        leaves,
        diverged: diverged !== 0,
        acceptance,
        energy,
      });
    }
  }
}

/** A chain that a session moves. */
class CompiledChain {
  readonly adaptive: AdaptiveChain;
  readonly #session: ChainSession;
  /** Its state while the session moves another chain. */
  kept: { readonly state: Uint8Array; readonly stack: Uint8Array } | undefined;
  /** The metric in memory. */
  metric: AdaptiveChain["metric"] | undefined;

  constructor(adaptive: AdaptiveChain, session: ChainSession) {
    this.adaptive = adaptive;
    this.#session = session;
  }

  /** Continues from another position than the one in memory. */
  relocate(): void {
    this.#session.forget(this);
  }

  /** Runs one call of the module. */
  advance(): void {
    this.#session.advance(this);
  }
}

/**
 * Runs all chains in turns to their last draw.
 *
 * @param rows the number of chains of a block, which are compared with each other in the warm-up
 */
export async function drawInModule(
  states: readonly ChainState[],
  session: ChainSession,
  settings: ChainSettings,
  rows: number,
  options: DrawChainsOptions,
): Promise<Chain[]> {
  const { key, first = 0, onDraw, store } = options;
  const of = settings.warmup + settings.draws;
  const pause = pauses();
  const chains = states.map(
    (state, c) =>
      new CompiledChain(new AdaptiveChain(fold(key, first + c), state, settings), session),
  );
  const keeper = keeperOf(options, () => chains.map(({ adaptive }) => adaptive.state));
  /**
   * Moves a chain until its turn is over; after each call the caller may stop or save the chains.
   */
  const turn = async (chain: CompiledChain, c: number): Promise<void> => {
    const until = performance.now() + TURN;
    const { adaptive } = chain;
    while (!(adaptive.finished || adaptive.waits) && performance.now() < until) {
      await keeper.stopIfAborted();
      const before = adaptive.done;
      chain.advance();
      for (let done = before + 1; done <= adaptive.done; done++) onDraw?.(first + c, done, of);
      await keeper.keepIfDue();
    }
  };
  while (chains.some(({ adaptive }) => !adaptive.finished)) {
    for (let from = 0; from < chains.length; from += rows) {
      const block = chains.slice(from, from + rows);
      const moved = compareChains(
        block.map(({ adaptive }) => adaptive),
        first + from,
      );
      for (const c of moved ?? []) block[c].relocate();
    }
    for (const [c, chain] of chains.entries()) {
      await turn(chain, c);
      await pause();
    }
  }
  if (store) await keeper.keep();
  return chains.map(({ adaptive }) => adaptive.chain);
}
