/** The network that the options of training describe, with fresh parameters. */
import { denoiserOf, type Model, type ModelSpec, type Parameterisation, parameterisations } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { unetInit } from "diffeo/model";
import { fold, key } from "diffeo/random";
import { CLASSES, chessSpec, type Positions } from "diffeo-chess";

export interface NetworkOptions {
  readonly width: number;
  readonly multipliers: readonly number[];
  readonly blocks: number;
  readonly attention: readonly number[];
  readonly predict: Parameterisation;
  readonly seed: number;
}

/** Groups of every normalisation: each level's width must divide into them. */
const GROUPS = 8;
/** Parameters, with their gradients, moments and average, beyond what a machine holds. */
const MOST_PARAMETERS = 5e8;

/** Raises what is wrong with the options, before any number is drawn. */
export function checkNetwork({ width, multipliers, blocks, attention }: NetworkOptions): void {
  const odd = multipliers.find((m) => (width * m) % GROUPS !== 0);
  if (odd !== undefined)
    fail("usage", `a level of ${width} × ${odd} channels`, "choose --width and --multipliers that give multiples of 8");
  if (multipliers.length > 4)
    fail("usage", `${multipliers.length} levels of a board of 8×8`, "give --multipliers at most four: 8, 4, 2, 1");
  const level = attention.find((l) => l >= multipliers.length);
  if (level !== undefined)
    fail(
      "usage",
      `attention at level ${level} of a network of ${multipliers.length}`,
      `give --attention levels from 0 to ${multipliers.length - 1}`,
    );
  // Two convolutions of 3×3 a block, on the way down and on the way up: the least there is.
  const least = multipliers.reduce((n, m) => n + 2 * blocks * 2 * 9 * (width * m) ** 2, 0);
  if (least > MOST_PARAMETERS)
    fail(
      "usage",
      `a network of more than ${Math.round(least / 1e6).toLocaleString("en")} million parameters`,
      "choose a smaller --width, --multipliers or --blocks",
    );
}

export function freshModel(options: NetworkOptions, positions: Positions): Model {
  const { width, multipliers, blocks, attention, predict, seed } = options;
  const channels = CLASSES - 1;
  const spec: ModelSpec = {
    network: {
      channels,
      width,
      multipliers,
      blocks,
      groups: GROUPS,
      attention,
      position: [8, 8],
      outputs: parameterisations[predict].outputs(CLASSES, channels),
    },
    parameterisation: predict,
    encoding: chessSpec(positions),
  };
  return { spec, parameters: unetInit(fold(key(seed), "parameters"), spec.network), ...denoiserOf(spec) };
}
