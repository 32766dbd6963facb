/** The network that the training options describe, with random parameters. */
import {
  freshModel as fresh,
  type Model,
  type ModelSpec,
  type Parameterisation,
  parameterisations,
} from "diffeo/categorical";
import { fail } from "diffeo/graph";
import type { NetworkSpec, TransformerOptions } from "diffeo/model";
import { fold, key } from "diffeo/random";
import { CLASSES, chessSpec, type Positions } from "diffeo-chess";

/** Networks that take a board of 8×8, each with its own options. */
export const boardNetworks = {
  unet: ["multipliers", "blocks", "attention"],
  transformer: ["layers", "heads", "activation"],
} as const satisfies Partial<Record<NetworkSpec["kind"], readonly string[]>>;

export interface NetworkOptions {
  readonly network: keyof typeof boardNetworks;
  readonly width: number;
  /** Options of a transformer. */
  readonly layers: number;
  readonly heads: number;
  readonly activation: NonNullable<TransformerOptions["activation"]>;
  /** Options of a U-Net. */
  readonly multipliers: readonly number[];
  readonly blocks: number;
  readonly attention: readonly number[];
  readonly predict: Parameterisation;
  readonly seed: number;
}

/** Groups of every normalisation: the width of each level is a multiple of it. */
const GROUPS = 8;
/**
 * Maximum number of parameters: with gradients, moments and the average, more do not fit into
 * memory.
 */
const MOST_PARAMETERS = 5e8;

/**
 * A lower bound on the number of parameters: a U-Net's convolutions of 3×3, a transformer's
 * products.
 */
const leastOf = ({ network, width, multipliers, blocks, layers }: NetworkOptions): number =>
  network === "transformer"
    ? layers * 12 * width ** 2
    : multipliers.reduce((n, m) => n + 2 * blocks * 2 * 9 * (width * m) ** 2, 0);

/** Throws if the options of the network are wrong, before anything is computed. */
export function checkNetwork(options: NetworkOptions): void {
  const { network, width, heads } = options;
  if (network === "unet") checkLevels(options);
  else if (width % heads !== 0)
    fail(
      "usage",
      `--width ${width} is not a multiple of --heads ${heads}`,
      "choose --heads that divide --width",
    );
  const least = leastOf(options);
  if (least > MOST_PARAMETERS)
    fail(
      "usage",
      `the network has more than ${Math.round(least / 1e6).toLocaleString("en")} million ` +
        "parameters",
      "choose a smaller " +
        `--width${network === "unet" ? ", --multipliers or --blocks" : " or --layers"}`,
    );
}

function checkLevels({ width, multipliers, attention }: NetworkOptions): void {
  const odd = multipliers.find((m) => (width * m) % GROUPS !== 0);
  if (odd !== undefined)
    fail(
      "usage",
      `a level of the network has ${width} × ${odd} channels, which is not a multiple of 8`,
      "choose --width and --multipliers that give multiples of 8",
    );
  if (multipliers.length > 4)
    fail(
      "usage",
      `--multipliers has ${multipliers.length} levels, but a board of 8×8 allows four: 8, 4, 2, 1`,
      "give at most four --multipliers",
    );
  const level = attention.find((l) => l >= multipliers.length);
  if (level !== undefined)
    fail(
      "usage",
      `--attention ${level}: the network has ${multipliers.length} levels`,
      `give levels from 0 to ${multipliers.length - 1}`,
    );
}

export function freshModel(options: NetworkOptions, positions: Positions): Model {
  const {
    network,
    width,
    multipliers,
    blocks,
    attention,
    layers,
    heads,
    activation,
    predict,
    seed,
  } = options;
  const channels = CLASSES - 1;
  const sizes = { channels, outputs: parameterisations[predict].outputs(CLASSES, channels), width };
  const own: NetworkSpec =
    network === "unet"
      ? { kind: "unet", ...sizes, multipliers, blocks, groups: GROUPS, attention, position: [8, 8] }
      : { kind: "transformer", ...sizes, grid: [8, 8], layers, heads, activation };
  const spec: ModelSpec = {
    network: own,
    parameterisation: predict,
    encoding: chessSpec(positions),
  };
  return fresh(spec, fold(key(seed), "parameters"));
}
