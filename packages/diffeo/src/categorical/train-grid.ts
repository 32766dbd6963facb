/**
 * Trains a model of grids or sequences of classes. Defaults are chosen from the data: the encoding
 * from the shares of the classes, the size of the network from the number of sites, and the
 * learning rate from its width. With `groups` the network is symmetric in the classes, and connects
 * the sites of groups.
 */
import type { CompileOptions } from "../engine/index.ts";
import { fail, type Shape, sizeOf } from "../graph/index.ts";
import { type NetworkSpec, parameterCount } from "../model/index.ts";
import { fold, key } from "../random/index.ts";
import {
  type Checkpoint,
  memoryStore,
  type RunStore,
  stateOf,
  type TrainReport,
} from "../train/index.ts";
import { gridCount, standardise } from "./categorical.ts";
import type { ClassArray } from "./class-array.ts";
import type { Groups } from "./groups.ts";
import { freshModel, type Model, type ModelSpec, modelOf } from "./model.ts";
import { trainDenoiser } from "./train-denoiser.ts";
import { type Focus, gridsOf } from "./training.ts";

/**
 * Sizes of a transformer by name. A step of 64 grids of 16 sites takes the small one 17 ms of
 * processor time.
 */
const gridNetworks = {
  small: { width: 32, layers: 3, heads: 4 },
  medium: { width: 64, layers: 4, heads: 4 },
  large: { width: 128, layers: 6, heads: 8 },
} as const;

/** The name of a network of grids. */
export type GridNetwork = keyof typeof gridNetworks;

/** Sizes of an exchangeable network by the same names. */
const exchangeableNetworks = {
  small: { width: 24, layers: 6 },
  medium: { width: 32, layers: 8 },
  large: { width: 48, layers: 12 },
} as const satisfies Readonly<Record<GridNetwork, unknown>>;

/** The size for the number of sites of a grid. */
export const suggestedNetwork = (grid: Shape): GridNetwork =>
  sizeOf(grid) <= 36 ? "small" : sizeOf(grid) <= 100 ? "medium" : "large";

/** Options of `trainGrid`. */
export interface TrainGridOptions extends Omit<CompileOptions, "keep" | "type" | "checkFinite"> {
  /**
   * The number of classes; the data have classes 0 to `classes` − 1. The last class should be the
   * most frequent one.
   */
  readonly classes: number;
  /** Names of the classes, in their order; stored with the model. */
  readonly symbols?: readonly string[];
  /** The sizes of the grid: [8, 8] for a board, [length] for a sequence. */
  readonly grid: Shape;
  /** The name of a size, or a custom network. Default: by the number of sites. */
  readonly network?: GridNetwork | NetworkSpec;
  /**
   * Kinds of groups of sites, such as the rows, columns and boxes of a Sudoku. For classes that
   * differ only in their names; networks by name are then exchangeable.
   */
  readonly groups?: readonly Groups[];
  /** With `groups`: the share of grids of a step with some known sites. Default 0.5. */
  readonly shown?: number;
  /** The number of steps. Default 1,000. */
  readonly steps?: number;
  /** Grids per step. Default 64. */
  readonly batch?: number;
  /** The highest learning rate. Default 0.1/width for a network by name, else 10⁻³. */
  readonly rate?: number;
  /**
   * The rate of Muon for the matrices of the network, as a multiple of `rate`; 0 is Adam for all.
   * Default 4 for exchangeable networks, 0 for others.
   */
  readonly muon?: number;
  /** The seed of weights, batches and noise. Default 0. */
  readonly seed?: number;
  /**
   * The store of checkpoints. If it has a checkpoint of this run, the run continues from it.
   * Default: memory.
   */
  readonly store?: RunStore;
  /** Steps between checkpoints. Default: a fifth of all steps. */
  readonly saveEvery?: number;
  /** Called about twenty times. */
  readonly onReport?: (report: TrainReport) => void | Promise<void>;
  /** Stops after the current step, with a checkpoint. */
  readonly signal?: AbortSignal;
  /** Stops with a checkpoint after this number of seconds. */
  readonly seconds?: number;
}

/**
 * The times at which standardised classes are decided under VP: later all is noise, earlier all is
 * known.
 */
const FOCUS: Focus = { from: 0.1, to: 0.7, share: 0.8 };

const isWhole = (value: unknown, least: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least;

/** Throws if the options do not describe grids of classes. */
function checkGrids(
  data: ClassArray,
  { classes, grid, network }: Pick<TrainGridOptions, "classes" | "grid" | "network">,
): void {
  if (!(data instanceof Uint8Array || data instanceof Uint16Array))
    fail(
      "type",
      "the data are not a Uint8Array or Uint16Array",
      "make one, with one class per site",
    );
  if (!isWhole(classes, 2))
    fail("usage", `\`classes\` is ${classes}`, "give the number of classes, at least 2");
  if (!Array.isArray(grid) || grid.length === 0 || !grid.every((d) => isWhole(d, 1)))
    fail(
      "usage",
      `\`grid\` is ${JSON.stringify(grid)}`,
      "give its sizes: [8, 8] for a board, [length] for a sequence",
    );
  if (typeof network === "string" && !Object.hasOwn(gridNetworks, network))
    fail(
      "usage",
      `unknown \`network\` "${network}"`,
      `use one of ${Object.keys(gridNetworks).join(", ")}`,
    );
}

/** Throws if the numbers of a run are out of range. */
function checkRun({
  steps,
  batch,
  rate,
  saveEvery,
}: Record<"steps" | "batch" | "rate" | "saveEvery", number>): void {
  for (const [name, value] of Object.entries({ steps, batch, saveEvery }))
    if (!isWhole(value, 1)) fail("usage", `\`${name}\` is ${value}`, "give an integer, at least 1");
  if (!(rate > 0 && rate < Infinity))
    fail("usage", `\`rate\` is ${rate}`, "give a positive number");
}

/** Sites per string of the digest. */
const CHUNK = 8192;

/**
 * Identifies the data: a key that depends on every site, as 32 hexadecimal digits.
 */
function digestOf(data: ClassArray): string {
  let digest = key(data.length);
  for (let at = 0; at < data.length; at += CHUNK)
    digest = fold(digest, String.fromCharCode(...data.subarray(at, at + CHUNK)));
  return digest.words.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** The share of each class. */
function sharesOf(data: ClassArray, classes: number): number[] {
  const counts = new Array<number>(classes).fill(0);
  data.forEach((k, i) => {
    if (k >= classes)
      fail("data", `site ${i} has class ${k} of ${classes}`, `use classes 0 to ${classes - 1}`);
    counts[k]++;
  });
  return counts.map((n) => n / data.length);
}

/** The specification of the model that a run with these data and options trains. */
export function gridSpec(
  data: ClassArray,
  options: Pick<TrainGridOptions, "classes" | "symbols" | "grid" | "network" | "groups">,
): ModelSpec {
  checkGrids(data, options);
  const { classes, symbols, grid, network = suggestedNetwork(grid), groups } = options;
  const named = symbols && { symbols };
  if (data.length === 0 || gridCount(data.length, grid) < 2)
    fail(
      "data",
      `the data have ${data.length} sites, less than two grids [${grid.join(", ")}]`,
      "give more data",
    );
  if (groups !== undefined && typeof network !== "string")
    fail(
      "usage",
      "`groups` is set together with a custom network",
      "put the groups into its options, or use the name of a size",
    );
  if (groups !== undefined)
    return {
      parameterisation: "posterior",
      sees: "likelihoods",
      encoding: {
        ...standardise(sharesOf(data, classes), { grid, map: "isometricLogRatio" }),
        ...named,
      },
      network: {
        kind: "exchangeable",
        channels: classes,
        grid,
        groups,
        ...exchangeableNetworks[network as GridNetwork],
      },
    };
  const sizes = { channels: classes - 1, outputs: classes, grid };
  return {
    parameterisation: "posterior",
    encoding: { ...standardise(sharesOf(data, classes), { grid }), ...named },
    network:
      typeof network === "string"
        ? { kind: "transformer", ...gridNetworks[network], ...sizes }
        : network,
  };
}

/** The checkpoint of a store, if it is one of this run. */
async function latestOf(store: RunStore, run: string): Promise<Checkpoint | undefined> {
  const reached = await store.latest();
  if (reached && reached.metadata.run !== run)
    fail(
      "usage",
      "the store contains another run",
      "use the options and data of that run, or another store",
    );
  return reached;
}

/** The optimiser of a run: Adam or Muon, and an average of the weights over the last twentieth. */
function stepOf(options: TrainGridOptions, steps: number, muon: number, width: number) {
  // Several threads make such small graphs slower.
  const { device, threads = width <= gridNetworks.small.width ? 1 : undefined, worker } = options;
  const emaDecay = 1 - 1 / Math.max(2, steps / 20);
  return { beta2: 0.99, muon, emaDecay, device, threads, worker };
}

/**
 * Trains a diffusion of grids. If `signal` or `seconds` stops it, it returns the model so far;
 * another call with the same store continues to the numbers of an uninterrupted run.
 *
 * @param data the classes of the grids, concatenated: bytes, or a `Uint16Array` for more than 256
 *   classes
 */
export async function trainGrid(data: ClassArray, options: TrainGridOptions): Promise<Model> {
  const {
    steps = 1000,
    batch = 64,
    seed = 0,
    store = memoryStore(),
    onReport,
    signal,
    seconds,
    shown,
    muon = options.groups === undefined ? 0 : 4,
  } = options;
  const spec = gridSpec(data, options);
  const every = (share: number): number => Math.max(1, Math.round(steps * share));
  // Networks by name have a width; a custom one may have none.
  const { width = Number.POSITIVE_INFINITY }: { readonly kind: string; readonly width?: number } =
    spec.network;
  const { rate = typeof options.network === "object" ? 1e-3 : 0.1 / width } = options;
  const { saveEvery = every(1 / 5) } = options;
  checkRun({ steps, batch, rate, saveEvery });
  const root = key(seed);
  const fresh = freshModel(spec, fold(root, "parameters"));
  const settings = JSON.stringify({
    spec,
    steps,
    batch,
    seed,
    rate,
    shown,
    muon: muon || undefined,
    data: digestOf(data),
  });
  const reached = await latestOf(store, settings);
  const { state } = await trainDenoiser(fresh, gridsOf(fresh.encoding, data), {
    batch,
    key: root,
    schedule: { peak: rate, warmup: Math.max(1, Math.ceil(steps / 20)), steps },
    focus: FOCUS,
    shown,
    start: reached && {
      state: stateOf(reached, parameterCount(fresh.parameters), "the store"),
      step: reached.step,
    },
    step: stepOf(options, steps, muon, width),
    reportEvery: every(1 / 20),
    saveEvery,
    store,
    metadata: { run: settings },
    onReport,
    signal,
    seconds,
  });
  return modelOf(spec, state.ema.data as Float32Array);
}
