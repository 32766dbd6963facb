/** The options and parameters of a U-Net (`unet.ts`). */
import * as v from "valibot";
import { fail, type NdArray } from "../graph/index.ts";
import { whole } from "../host/named.ts";
import type { Key } from "../random/index.ts";
import {
  type Affine,
  convInit,
  initialise,
  linearInit,
  type Norm,
  normInit,
  type Source,
  times,
} from "./layers.ts";

export const unetSchema = v.strictObject({
  channels: whole,
  width: whole,
  multipliers: v.array(v.pipe(v.number(), v.minValue(0))),
  blocks: whole,
  groups: whole,
  attention: v.optional(v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(0)))),
  heads: v.optional(whole),
  position: v.optional(v.tuple([whole, whole])),
  outputs: v.optional(whole),
});

/** Options of the U-Net, as plain data. */
export interface UNetOptions {
  /** The channels of the image. */
  readonly channels: number;
  /** The number of channels at full resolution. */
  readonly width: number;
  /** The width of every level as a multiple of `width`; each level halves the size of the image. */
  readonly multipliers: readonly number[];
  /** Residual blocks per level and direction. */
  readonly blocks: number;
  /** Groups of the group normalisation, which must divide the channels of every level. */
  readonly groups: number;
  /** Levels (0 is full resolution) whose blocks are followed by self-attention. Default none. */
  readonly attention?: readonly number[];
  /** Attention heads. Default 4. */
  readonly heads?: number;
  /** Height and width of the image, for a learned offset at every pixel. Default none. */
  readonly position?: readonly [number, number];
  /** The number of outputs. Default `channels`. */
  readonly outputs?: number;
}

export interface ResidualBlock<T> {
  readonly norm1: Norm<T>;
  readonly conv1: Affine<T>;
  readonly time: Affine<T>;
  readonly norm2: Norm<T>;
  readonly conv2: Affine<T>;
  /** A 1×1 convolution if the number of channels changes. */
  readonly skip: readonly Affine<T>[];
  /** Self-attention over the pixels, at the levels that have it. */
  readonly attention: readonly Attention<T>[];
}

export interface Attention<T> {
  readonly norm: Norm<T>;
  readonly query: Affine<T>;
  readonly key: Affine<T>;
  readonly value: Affine<T>;
  readonly out: Affine<T>;
}

/** The parameters of a U-Net. */
export interface UNet<T> {
  readonly time1: Affine<T>;
  readonly time2: Affine<T>;
  readonly stem: Affine<T>;
  readonly position: readonly T[];
  readonly down: readonly (readonly ResidualBlock<T>[])[];
  readonly middle: readonly ResidualBlock<T>[];
  readonly up: readonly (readonly ResidualBlock<T>[])[];
  readonly norm: Norm<T>;
  readonly head: Affine<T>;
}

const embeddingSize = (width: number): number => 4 * width;

const attentionInit = <T>(source: Source<T>, channels: number): Attention<T> => ({
  norm: normInit(source, channels),
  query: linearInit(source.at("query"), channels, channels),
  key: linearInit(source.at("key"), channels, channels),
  value: linearInit(source.at("value"), channels, channels),
  out: linearInit(source.at("out"), channels, channels, 0),
});

function residualInit<T>(
  source: Source<T>,
  inputs: number,
  outputs: number,
  embedding: number,
  attends: boolean,
): ResidualBlock<T> {
  return {
    norm1: normInit(source, inputs),
    conv1: convInit(source.at("conv1"), 3, inputs, outputs),
    time: linearInit(source.at("time"), embedding, outputs),
    norm2: normInit(source, outputs),
    // Initially 0, so that an untrained block is the identity.
    conv2: convInit(source.at("conv2"), 3, outputs, outputs, 0),
    skip: inputs === outputs ? [] : [convInit(source.at("skip"), 1, inputs, outputs)],
    attention: attends ? [attentionInit(source.at("attention"), outputs)] : [],
  };
}

/**
 * The input and output channels of every block of the upward path, mirrored from the downward path.
 */
function upChannels({ width, multipliers, blocks }: UNetOptions): [number, number][][] {
  let current = width * multipliers[multipliers.length - 1];
  return multipliers.toReversed().map((m) =>
    Array.from({ length: blocks }, (): [number, number] => {
      const pair: [number, number] = [current + width * m, width * m];
      current = width * m;
      return pair;
    }),
  );
}

/** Throws for inconsistent options. */
function check({
  channels,
  width,
  multipliers,
  blocks,
  groups,
  attention = [],
  heads = 4,
  ...rest
}: UNetOptions): void {
  const counts = { channels, width, blocks, groups, heads, outputs: rest.outputs ?? channels };
  for (const [name, value] of Object.entries(counts))
    if (!(Number.isInteger(value) && value > 0))
      fail("usage", `U-Net: \`${name}\` is ${value}`, "give an integer of at least 1");
  if (width % 2 !== 0)
    fail(
      "usage",
      `U-Net: \`width\` is ${width}`,
      "give an even number, because half of the time features are sines",
    );
  if (multipliers.length === 0) fail("usage", "U-Net: `multipliers` is empty", "give at least one");
  for (const m of multipliers)
    if (!(m > 0 && (width * m) % groups === 0))
      fail(
        "usage",
        `U-Net: a level has ${width} × ${m} channels, which ${groups} groups do not divide`,
        "use channels that are multiples of `groups`",
      );
  for (const level of attention) {
    const m = multipliers[level];
    if (m === undefined)
      fail(
        "usage",
        `U-Net: \`attention\` has the level ${level}, but there are ${multipliers.length} levels`,
        `use levels 0 to ${multipliers.length - 1}`,
      );
    if ((width * m) % heads !== 0)
      fail(
        "usage",
        `U-Net: level ${level} has ${width * m} channels, which ${heads} heads do not divide`,
        "use `heads` that divide the channels",
      );
  }
}

/** The parameters of a U-Net. */
export function unetFrom<T>(source: Source<T>, options: UNetOptions): UNet<T> {
  check(options);
  const {
    channels,
    width,
    multipliers,
    blocks,
    attention = [],
    position,
    outputs: out = channels,
  } = options;
  const embedding = embeddingSize(width);
  let current = width;
  const down = multipliers.map((m, level) =>
    times(blocks, (i) => {
      const block = residualInit(
        source.at(`down.${level}.${i}`),
        current,
        width * m,
        embedding,
        attention.includes(level),
      );
      current = width * m;
      return block;
    }),
  );
  return {
    time1: linearInit(source.at("time1"), width, embedding),
    time2: linearInit(source.at("time2"), embedding, embedding),
    stem: convInit(source.at("stem"), 3, channels, width),
    position: position ? [source.at("position").normal([...position, width], 0.01)] : [],
    down,
    middle: [0, 1].map((i) =>
      residualInit(
        source.at(`middle.${i}`),
        current,
        current,
        embedding,
        attention.includes(multipliers.length - 1),
      ),
    ),
    up: upChannels(options).map((level, l) =>
      level.map(([inputs, outputs], i) =>
        residualInit(
          source.at(`up.${l}.${i}`),
          inputs,
          outputs,
          embedding,
          attention.includes(multipliers.length - 1 - l),
        ),
      ),
    ),
    norm: normInit(source, width * multipliers[0]),
    head: convInit(source.at("head"), 3, width * multipliers[0], out, 0),
  };
}

/** Initial parameters of a U-Net. */
export const unetInit = (key: Key, options: UNetOptions): UNet<NdArray> =>
  unetFrom(initialise(key), options);
