/**
 * Many chains, each with its own trajectory, ε and M⁻¹ (adaptive-chain.ts), in one of two ways:
 *
 *   in a module     whole transitions of a chain run inside a WebAssembly module (chain-module.ts),
 *                   one chain after another: the rule on device `cpu` and `wasm`
 *   step by step    every run of a graph moves every chain by one leapfrog step (chain-step.ts); a
 *                   chain that ends a transition begins the next at once and does not wait for
 *                   others. On other devices, on a worker, where the compiler lacks an operation,
 *                   and where rows of the data belong to chains
 *
 * What chain i draws is in a module a function of (key, i). Graphs run on blocks of a fixed number
 * of chains, chain i always in row i mod `block`: the rounding of a runtime may depend on how many
 * rows there are, so there it is a function of (key, i, block).
 */
import { type CompileOptions, compile } from "../engine/index.ts";
import { internal } from "../graph/error.ts";
import { fail, type NdArray, type Tensor } from "../graph/index.ts";
import { mapValues, moveOtherRows, requireIndependentRows } from "../host/index.ts";
import { fold, type Key } from "../random/index.ts";
import { pauses } from "../sampler/pauses.ts";
import { AdaptiveChain } from "./adaptive-chain.ts";
import type { ChainModule } from "./chain-module.ts";
import { type ChainOptions, type ChainSettings, settingsOf } from "./chain-settings.ts";
import { type Chain, type ChainState, requireOwn, requireRoom, stateAt } from "./chain-state.ts";
import {
  type ChainInputs,
  type ChainStep,
  type ChainTarget,
  leafOf,
  rowWidths,
  stepOf,
} from "./chain-step.ts";
import { ChainSession, CompiledChain, TURN } from "./compiled-chains.ts";
import { SteppedChain } from "./stepped-chain.ts";
import type { Leaf } from "./trajectory.ts";

/** Where chains keep what they have reached, to go on from there. */
export interface ChainStore {
  /** All chains as they were when last saved; undefined where they never were. */
  load(): Promise<readonly ChainState[] | undefined>;
  /** Keeps them, whole or not at all. */
  save(chains: readonly ChainState[]): Promise<void>;
  /** Seconds between two of them. Default 10. */
  readonly every?: number;
}

/** What decides the graph. */
export interface OpenChainsOptions
  extends ChainOptions,
    Pick<CompileOptions, "device" | "threads" | "worker"> {
  /**
   * Chains a run of the graph takes. Default the least of 4, 8, 16, 32 and 64 that holds all, or
   * 64.
   */
  readonly block?: number;
}

/** What a call may choose. */
export interface DrawChainsOptions {
  readonly key: Key;
  /**
   * The number of the first chain, a multiple of `block`: chains 4 and 5 are those of a run with
   * `first` 4.
   */
  readonly first?: number;
  /** What the target depends on besides the point. */
  readonly inputs?: ChainInputs;
  /** Called after every transition. */
  readonly onDraw?: (chain: number, done: number, of: number) => void;
  readonly store?: ChainStore;
  readonly signal?: AbortSignal;
}

/** How `drawChains` samples. */
export interface ChainsOptions extends OpenChainsOptions, Omit<DrawChainsOptions, "inputs"> {}

const matrix = (shape: readonly number[]): NdArray & { readonly data: Float64Array } => ({
  shape,
  dtype: "float64",
  data: new Float64Array(shape.reduce((a, b) => a * b, 1)),
});

/** The rows of a block as a graph takes them, and a run of it. */
interface Block {
  readonly size: number;
  /** A step of chain c is put in its row. */
  put(
    c: number,
    from: Pick<Leaf, "x" | "momentum" | "slope">,
    size: number,
    inverse: Float64Array,
  ): void;
  /** Where all rows lead. */
  run(): Promise<(c: number) => Leaf>;
}

/** What is known at a point. */
type Looked = Pick<Leaf, "x" | "slope" | "value">;

export interface OpenChains {
  readonly settings: ChainSettings;
  /** log p and its slope at rows of n numbers. */
  look(rows: Float64Array, inputs?: ChainInputs): Promise<readonly Looked[]>;
  /**
   * Draws of chains from rows of n numbers where log p is finite; chains that were kept go on from
   * where they are.
   */
  draw(rows: Float64Array, options: DrawChainsOptions): Promise<Chain[]>;
  dispose(): Promise<void>;
}

/** The chains that run together where nothing else is said. */
export const usualBlock = (count: number): number =>
  Math.min(64, 2 ** Math.max(2, Math.ceil(Math.log2(count))));

/** What the draws of a call may hold: 4 GB of float64, and as much again where they are shown. */
const MOST_NUMBERS = 2 ** 29;

/** Devices on which transitions may run whole in a module of the compiler. */
const compilerDevices: readonly (string | undefined)[] = [undefined, "cpu", "wasm"];

/** Compiles the step of `count` chains, and their transitions where the compiler has all of them. */
export function openChains(
  target: ChainTarget,
  count: number,
  options: OpenChainsOptions,
): OpenChains {
  const { block: rows = usualBlock(count), device, threads = 1, worker } = options;
  const settings = settingsOf(options);
  const numbers = count * settings.draws * target.size;
  if (numbers > MOST_NUMBERS)
    fail(
      "usage",
      `${count} chains of ${settings.draws} draws of ${target.size} coordinates are ${numbers} numbers, more than ${MOST_NUMBERS}`,
      "ask for fewer `draws` or `chains`; more than some thousand effective ones tell little",
    );
  const { step, shapes } = stepOf(target, rows, settings.metric === "dense");
  const compiled = compile(step, shapes, {
    type: "float64",
    threads,
    device,
    worker,
  });
  const open =
    compilerDevices.includes(device) && !worker
      ? moduleOpener(target, rows, settings.metric === "dense")
      : undefined;
  return chainsBy(compiled, target.size, rows, settings, open);
}

export type OpenModule = (inputs: ChainInputs) => Promise<ChainSession | undefined>;

/** Opens modules for inputs, which are compiled once for each of their shapes. */
function moduleOpener(target: ChainTarget, rows: number, dense: boolean): OpenModule {
  const modules = new Map<string, ChainModule | undefined>();
  let last: { readonly inputs: ChainInputs; readonly session: Promise<ChainSession> } | undefined;
  return async (inputs) => {
    const shapes = mapValues(inputs, ({ shape }) => shape);
    const name = JSON.stringify(shapes);
    if (!modules.has(name)) {
      const { chainModule } = await import("./chain-module.ts");
      // Rows of the inputs may belong to chains: then one chain alone is not what the target takes.
      const own = Object.values(shapes).some(([size]) => size === rows);
      modules.set(name, own ? undefined : chainModule(target, shapes, dense));
    }
    const module = modules.get(name);
    if (!module) return undefined;
    const again = last && Object.keys(inputs).every((key) => last?.inputs[key] === inputs[key]);
    if (!(last && again)) last = { inputs, session: ChainSession.open(module, inputs) };
    return last.session;
  };
}

/**
 * Chains of a step that takes `rows` of them.
 *
 * @param step undefined where `open` always gives a module
 * @param open opens a module in which transitions run whole; without one the chains are moved step
 *   by step
 */
export function chainsBy(
  step: ChainStep | undefined,
  n: number,
  rows: number,
  settings: ChainSettings,
  open: OpenModule = async () => undefined,
): OpenChains {
  const dense = settings.metric === "dense";
  const [width] = rowWidths(n);
  const openBlock = (inputs: ChainInputs): Block => {
    const [state, inverse] = [matrix([rows, width]), matrix(dense ? [rows, n, n] : [rows, n])];
    const metricsPut: (Float64Array | undefined)[] = [];
    return {
      size: rows,
      put: (c, from, e, m) => {
        state.data.set(from.x, c * width);
        state.data.set(from.momentum, c * width + n);
        state.data.set(from.slope, c * width + 2 * n);
        state.data[c * width + 3 * n] = e;
        if (metricsPut[c] !== m) inverse.data.set(m, c * m.length);
        metricsPut[c] = m;
      },
      run: async () => {
        const { data } = await (step ?? internal("chains without a step"))(inputs, state, inverse);
        return (c) => leafOf(data as Float64Array, c, n);
      },
    };
  };
  const lookInStep = async (places: Float64Array, inputs: ChainInputs = {}): Promise<Leaf[]> => {
    const found: Leaf[] = [];
    const [none, still] = [new Float64Array(n), new Float64Array(dense ? n * n : n)];
    for (let from = 0; from < places.length / n; from += rows) {
      const to = Math.min(from + rows, places.length / n);
      const block = openBlock(inputs);
      // Rows without a chain stand where the first one begins. A step of no length shows what is
      // there.
      for (let c = 0; c < rows; c++) {
        const at = from + c < to ? from + c : from;
        block.put(
          c,
          { x: places.subarray(at * n, (at + 1) * n), momentum: none, slope: none },
          0,
          still,
        );
      }
      const leaf = await block.run();
      for (let c = from; c < to; c++) found.push(leaf(c - from));
    }
    return found;
  };
  const lookIn =
    (session: ChainSession | undefined) =>
    async (places: Float64Array, inputs: ChainInputs = {}): Promise<Looked[]> =>
      session
        ? Array.from({ length: places.length / n }, (_, c) =>
            session.look(places.subarray(c * n, (c + 1) * n)),
          )
        : lookInStep(places, inputs);
  return {
    settings,
    look: async (places, inputs = {}) => lookIn(await open(inputs))(places, inputs),
    draw: async (places, call) => {
      const { first = 0, inputs = {}, store } = call;
      if (first % rows !== 0)
        fail(
          "usage",
          `chains from number ${first} in blocks of ${rows}`,
          "begin at a multiple of block",
        );
      const session = await open(inputs);
      const begun = async (): Promise<ChainState[]> => {
        const leaves = await lookIn(session)(places, inputs);
        const states = leaves.map((leaf, c) => stateAt(requireFinite(leaf, first + c), settings));
        if (step) await requireOwnChains(places, n, (moved) => lookInStep(moved, inputs));
        return states;
      };
      const [kept, count] = [await store?.load(), places.length / n];
      if (kept) requireOwn(kept, count, n, settings);
      const ended = kept?.every(({ done }) => done === settings.warmup + settings.draws) ?? false;
      if (store && !ended) requireRoom(count, n, settings);
      const states = [...(kept ?? (await begun()))];
      return session
        ? drawInModule(states, session, settings, call)
        : drawAll(states, () => openBlock(inputs), settings, call);
    },
    dispose: async () => step?.dispose(),
  };
}

/** Refuses a log-density that mixes chains. A chain alone is looked at together with itself. */
async function requireOwnChains(
  places: Float64Array,
  n: number,
  look: (places: Float64Array) => Promise<readonly Looked[]>,
): Promise<void> {
  const points = places.length === n ? Float64Array.of(...places, ...places) : places;
  const valuesAt = async (at: Float64Array) => ({
    "the log-density": (await look(at)).map(({ value }) => value),
  });
  const [some, others] = moveOtherRows(points, n);
  requireIndependentRows(
    await valuesAt(points),
    [await valuesAt(some), await valuesAt(others)],
    points.length / n,
    "chain",
  );
}

function requireFinite<L extends Pick<Leaf, "slope" | "value">>(leaf: L, chain: number): L {
  const bad = leaf.slope.find((v) => !Number.isFinite(v));
  if (!Number.isFinite(leaf.value) || bad !== undefined)
    fail(
      "numerical",
      `chain ${chain} begins where the log-density is ${leaf.value}${bad === undefined ? "" : ` and its slope ${bad}`}`,
      "begin elsewhere, or see where the log-density is not a finite number",
    );
  return leaf;
}

/** Block after block from where its chains are to their last draw. */
async function drawAll(
  states: ChainState[],
  open: () => Block,
  settings: ChainSettings,
  { key, first = 0, onDraw, signal, store }: DrawChainsOptions,
): Promise<Chain[]> {
  const chains: Chain[] = [];
  const every = 1000 * (store?.every ?? 10);
  const pause = pauses();
  let saved = performance.now();
  for (let from = 0; from < states.length; ) {
    const block = open();
    const begun = states.slice(from, from + block.size);
    const walkers = begun.map(
      (state, c) =>
        new SteppedChain(new AdaptiveChain(fold(key, first + from + c), state, settings)),
    );
    const idle = {
      x: begun[0].at.x,
      momentum: begun[0].at.x.map(() => 0),
      slope: begun[0].at.slope,
    };
    for (let c = walkers.length; c < block.size; c++) block.put(c, idle, 0, begun[0].inverseMass);
    const keep = async (): Promise<void> => {
      walkers.forEach((walker, c) => {
        states[from + c] = walker.adaptive.state;
      });
      await store?.save(states);
      saved = performance.now();
    };
    while (walkers.some(({ adaptive }) => !adaptive.finished)) {
      if (signal?.aborted) {
        await keep();
        signal.throwIfAborted();
      }
      walkers.forEach((walker, c) => {
        const { finished, metric } = walker.adaptive;
        const { from: leaf, size } = finished ? { from: idle, size: 0 } : walker.step;
        block.put(c, leaf, size, metric.inverse);
      });
      await pause();
      const leaf = await block.run();
      walkers.forEach((walker, c) => {
        const { adaptive } = walker;
        if (!adaptive.finished && walker.take(leaf(c)))
          onDraw?.(first + from + c, adaptive.done, settings.warmup + settings.draws);
      });
      if (store && performance.now() - saved > every) await keep();
    }
    if (store) await keep();
    chains.push(...walkers.map(({ adaptive }) => adaptive.chain));
    from += block.size;
  }
  return chains;
}

/** All chains in turns, from where they are to their last draw. */
async function drawInModule(
  states: ChainState[],
  session: ChainSession,
  settings: ChainSettings,
  { key, first = 0, onDraw, signal, store }: DrawChainsOptions,
): Promise<Chain[]> {
  const every = 1000 * (store?.every ?? 10);
  const pause = pauses();
  let saved = performance.now();
  const chains = states.map(
    (state, c) =>
      new CompiledChain(new AdaptiveChain(fold(key, first + c), state, settings), session),
  );
  const keep = async (): Promise<void> => {
    await store?.save(chains.map(({ adaptive }) => adaptive.state));
    saved = performance.now();
  };
  const of = settings.warmup + settings.draws;
  /** Moves a chain until its turn is over; after each call the caller may stop it or keep it. */
  const turn = async (chain: CompiledChain, c: number): Promise<void> => {
    const until = performance.now() + TURN;
    while (!chain.adaptive.finished && performance.now() < until) {
      if (signal?.aborted) {
        await keep();
        signal.throwIfAborted();
      }
      const before = chain.adaptive.done;
      chain.advance();
      for (let done = before + 1; done <= chain.adaptive.done; done++)
        onDraw?.(first + c, done, of);
      if (store && performance.now() - saved > every) await keep();
    }
  };
  while (chains.some(({ adaptive }) => !adaptive.finished))
    for (const [c, chain] of chains.entries()) {
      await turn(chain, c);
      await pause();
    }
  if (store) await keep();
  return chains.map(({ adaptive }) => adaptive.chain);
}

/** Draws from e^{log p}, chains from the rows of `start` [chains, n]. */
export async function drawChains(
  logDensity: (x: Tensor) => Tensor,
  start: NdArray,
  options: ChainsOptions,
): Promise<Chain[]> {
  const [count, size] = start.shape;
  const chains = openChains({ size, logDensity }, count, options);
  return chains
    .draw(Float64Array.from(start.data as Float64Array), options)
    .finally(() => chains.dispose());
}
