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
import { fail, type NdArray, type Tensor } from "../graph/index.ts";
import {
  type Closable,
  disposable,
  mapValues,
  moveOtherRows,
  requireIndependentRows,
} from "../host/index.ts";
import { blockOpener, drawInBlocks, lookInBlocks } from "./chain-blocks.ts";
import type { ChainModule } from "./chain-module.ts";
import { type ChainOptions, type ChainSettings, settingsOf } from "./chain-settings.ts";
import { type Chain, type ChainState, requireOwn, requireRoom, stateAt } from "./chain-state.ts";
import { type ChainInputs, type ChainStep, type ChainTarget, stepOf } from "./chain-step.ts";
import { ChainSession, drawInModule } from "./compiled-chains.ts";
import type { DrawChainsOptions } from "./draw-options.ts";
import { formOf, type MetricForm } from "./metric.ts";
import type { Leaf } from "./trajectory.ts";

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

/** How `drawChains` samples. */
export interface ChainsOptions extends OpenChainsOptions, Omit<DrawChainsOptions, "inputs"> {}

/** What is known at a point. */
type Looked = Pick<Leaf, "x" | "slope" | "value">;

/** Compiled chains; `dispose` frees the graph. */
export interface OpenChains extends Closable {
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

/** The default number of chains that run together. */
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
  const { step, shapes } = stepOf(target, rows, formOf(settings.metric));
  const compiled = compile(step, shapes, {
    type: "float64",
    threads,
    device,
    worker,
  });
  const open =
    compilerDevices.includes(device) && !worker
      ? moduleOpener(target, rows, formOf(settings.metric))
      : undefined;
  return chainsBy(compiled, target.size, rows, settings, open);
}

export type OpenModule = (inputs: ChainInputs) => Promise<ChainSession | undefined>;

/** Opens modules for inputs, which are compiled once for each of their shapes. */
function moduleOpener(target: ChainTarget, rows: number, form: MetricForm): OpenModule {
  const modules = new Map<string, ChainModule | undefined>();
  let last: { readonly inputs: ChainInputs; readonly session: Promise<ChainSession> } | undefined;
  return async (inputs) => {
    const shapes = mapValues(inputs, ({ shape }) => shape);
    const name = JSON.stringify(shapes);
    if (!modules.has(name)) {
      const { chainModule } = await import("./chain-module.ts");
      // Rows of the inputs may belong to chains: then one chain alone is not what the target takes.
      const own = Object.values(shapes).some(([size]) => size === rows);
      modules.set(name, own ? undefined : chainModule(target, shapes, form));
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
  const form = formOf(settings.metric);
  const openBlock = blockOpener(step, n, rows, form);
  const lookInStep = (places: Float64Array, inputs: ChainInputs): Promise<Leaf[]> =>
    lookInBlocks(() => openBlock(inputs), n, form, places);
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
      // Where rows of the inputs may belong to chains, so may log p: nothing to compare.
      const alike = !Object.values(inputs).some(({ shape: [size] }) => size === rows);
      const walk = { ...settings, restart: settings.restart && alike };
      return session
        ? drawInModule(states, session, walk, rows, call)
        : drawInBlocks(states, () => openBlock(inputs), walk, call);
    },
    ...disposable(async () => step?.dispose()),
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
