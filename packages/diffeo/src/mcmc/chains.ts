/**
 * Runs many chains, each with its own trajectory, ε and M⁻¹ (adaptive-chain.ts), in one of two
 * ways:
 *
 *   in a module     complete transitions of a chain run in a WebAssembly module (chain-module.ts),
 *                   one chain after another; used on the devices `cpu` and `wasm`
 *   step by step    every run of a graph moves every chain by one leapfrog step (chain-step.ts). A
 *                   chain that ends a transition starts the next at once and does not wait for
 *                   others. Used on other devices, on a worker, if the compiler lacks an operation,
 *                   and if rows of the data belong to chains
 *
 * In a module the draws of chain i are a function of (key, i). Graphs run on blocks of a fixed
 * number of chains, with chain i in row i mod `block`. The rounding of a runtime may depend on the
 * number of rows, so there the draws are a function of (key, i, block).
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

/** The options on which the compiled graph depends. */
export interface OpenChainsOptions
  extends ChainOptions,
    Pick<CompileOptions, "device" | "threads" | "worker"> {
  /**
   * Chains per run of the graph. Default: the smallest of 4, 8, 16, 32 and 64 that holds all
   * chains, or 64.
   */
  readonly block?: number;
}

/** Options of `drawChains`. */
export interface ChainsOptions extends OpenChainsOptions, Omit<DrawChainsOptions, "inputs"> {}

/** log p and its gradient at a point. */
type Looked = Pick<Leaf, "x" | "slope" | "value">;

/** Compiled chains; `dispose` frees the graph. */
export interface OpenChains extends Closable {
  readonly settings: ChainSettings;
  /** log p and its gradient at rows of n numbers. */
  look(rows: Float64Array, inputs?: ChainInputs): Promise<readonly Looked[]>;
  /**
   * Samples chains that start at rows of n numbers where log p is finite. Saved chains continue
   * from their state.
   */
  draw(rows: Float64Array, options: DrawChainsOptions): Promise<Chain[]>;
  dispose(): Promise<void>;
}

/** The default of `block`. */
export const usualBlock = (count: number): number =>
  Math.min(64, 2 ** Math.max(2, Math.ceil(Math.log2(count))));

/** The most numbers of all draws: 4 GB of float64, and as much again for the parameters' values. */
const MOST_NUMBERS = 2 ** 29;

/** Devices on which complete transitions may run in a module of the compiler. */
const compilerDevices: readonly (string | undefined)[] = [undefined, "cpu", "wasm"];

/**
 * Compiles the step of `count` chains, and their transitions if the compiler supports all
 * operations.
 */
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
      `${count} chains with ${settings.draws} draws of ${target.size} coordinates are ` +
        `${numbers} numbers, the limit is ${MOST_NUMBERS}`,
      "use fewer `draws` or `chains`; a few thousand effective draws are enough for most purposes",
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

/** Opens modules for inputs. A module is compiled once per shape of the inputs. */
function moduleOpener(target: ChainTarget, rows: number, form: MetricForm): OpenModule {
  const modules = new Map<string, ChainModule | undefined>();
  let last: { readonly inputs: ChainInputs; readonly session: Promise<ChainSession> } | undefined;
  return async (inputs) => {
    const shapes = mapValues(inputs, ({ shape }) => shape);
    const name = JSON.stringify(shapes);
    if (!modules.has(name)) {
      const { chainModule } = await import("./chain-module.ts");
      // Rows of the inputs may belong to chains, and the target then cannot be evaluated for one
      // chain.
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
 * Chains whose step has `rows` rows.
 *
 * @param step undefined if `open` always gives a module
 * @param open opens a module for complete transitions; without one the chains are moved step by
 * step
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
          `\`first\` is ${first}, with blocks of ${rows} chains`,
          "give a multiple of `block`",
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
      // If rows of the inputs belong to chains, the chains have different targets and are not
      // compared.
      const alike = !Object.values(inputs).some(({ shape: [size] }) => size === rows);
      const walk = { ...settings, restart: settings.restart && alike };
      return session
        ? drawInModule(states, session, walk, rows, call)
        : drawInBlocks(states, () => openBlock(inputs), walk, call);
    },
    ...disposable(async () => step?.dispose()),
  };
}

/**
 * Throws if the log-density mixes chains. A single chain is evaluated together with a copy of
 * itself.
 */
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
      `chain ${chain + 1} starts where the log-density is ` +
        `${leaf.value}${bad === undefined ? "" : ` and its gradient ${bad}`}`,
      "start it where the log-density is finite",
    );
  return leaf;
}

/** Samples from the density e^{log p} on Rⁿ, with one chain per row of `start` [chains, n]. */
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
