/**
 * A transformer over the sites of a grid or sequence. Every site is a token, and attends to all
 * sites.
 *
 *   h ← x W_in + position
 *   h ← h + γ₁ ∘ A(α₁ ∘ norm(h) + β₁) W_out      A = softmax(QKᵀ/√d + B)V, with Q, K, V linear
 *   h ← h + γ₂ ∘ f((α₂ ∘ norm(h) + β₂) W_up) W_down
 *   y = (α ∘ norm(h) + β) W_head + b_head
 *
 * Time enters through α, β, γ (adaLN-Zero, W. Peebles and S. Xie, ICCV 2023): one network of t that
 * all layers share, and a learned offset per layer. Positions enter three times: by a vector added
 * to a site, by a number B for every difference of two positions in every head, and by rotating
 * part of Q and K (`rotary`). γ is initially 0, so an untrained block is the identity. The products
 * of blocks have no biases, because β W has the same effect.
 */
import * as v from "valibot";
import {
  add,
  attention,
  constant,
  expandDims,
  fail,
  gelu,
  layerNorm,
  matmul,
  mul,
  type NdArray,
  reshape,
  rotary,
  type Shape,
  silu,
  sizeOf,
  squaredRelu,
  type Tensor,
  take,
  transpose,
} from "../graph/index.ts";
import { whole } from "../host/named.ts";
import type { Key } from "../random/index.ts";
import {
  type Affine,
  initialise,
  linear,
  linearInit,
  matrixInit,
  type Source,
  timeFeatures,
  times,
} from "./layers.ts";

/** f of the equation. relu² is the cheapest to train. */
const activations = {
  relu2: squaredRelu,
  gelu: (x: Tensor) => gelu(x, "tanh"),
  silu,
} as const;

export const transformerSchema = v.strictObject({
  /** The channels of a site, and the outputs if different. */
  channels: whole,
  outputs: v.optional(whole),
  /** The sizes of the grid: [8, 8] for a board, [length] for a sequence. */
  grid: v.pipe(v.array(whole), v.minLength(1), v.maxLength(8)),
  width: whole,
  layers: whole,
  heads: whole,
  /** The hidden width of a block's feed-forward part, as a multiple of `width`. Default 4. */
  expansion: v.optional(whole),
  /** The activation. Default `relu2`. */
  activation: v.optional(v.picklist(Object.keys(activations) as (keyof typeof activations)[])),
  /** A learned vector per site, or one per coordinate of each axis. Default `sites`. */
  positions: v.optional(v.picklist(["sites", "axes"])),
  /** Whether to use B. Default true. */
  relative: v.optional(v.boolean()),
  /** The share of a head's channels that are rotated by position. Default 0.5. */
  rotary: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
});

type Options = v.InferOutput<typeof transformerSchema>;
/** Options of the transformer, as plain data. */
export type TransformerOptions = {
  readonly [K in keyof Options]: Options[K] extends number[] ? Shape : Options[K];
};

/** The number of time-dependent vectors of a block: α₁, β₁, γ₁ of attention, and α₂, β₂, γ₂. */
const ROLES = 6;
/** The number of sines and cosines of t. */
const TIME = 256;

interface Block<T> {
  /** One offset per time-dependent vector. */
  readonly offsets: readonly T[];
  /** B by difference of positions, [differences, heads]; empty if it is not used. */
  readonly relative: readonly T[];
  readonly query: T;
  readonly key: T;
  readonly value: T;
  readonly out: T;
  readonly up: T;
  readonly down: T;
}

/** The parameters of a transformer over sites. */
export interface Transformer<T> {
  readonly input: Affine<T>;
  /** One array [sites, width], or one per axis. */
  readonly positions: readonly T[];
  readonly time1: Affine<T>;
  readonly time2: Affine<T>;
  /** The layers of the time-dependent vectors of the blocks, and of α and β of the head. */
  readonly modulation: readonly Affine<T>[];
  readonly final: readonly Affine<T>[];
  readonly blocks: readonly Block<T>[];
  readonly head: Affine<T>;
}

/** Throws for inconsistent sizes. */
function check({ width, heads }: TransformerOptions): void {
  if (width % heads !== 0)
    fail(
      "usage",
      `\`width\` is ${width}, which ${heads} heads do not divide`,
      "give `heads` that divide the width",
    );
}

/** The parameters of a transformer. */
export function transformerFrom<T>(source: Source<T>, options: TransformerOptions): Transformer<T> {
  check(options);
  const { channels, outputs = channels, grid, width, layers, heads, expansion = 4 } = options;
  const { positions = "sites", relative = true } = options;
  const differences = sizeOf(grid.map((d) => 2 * d - 1));
  /** With weights 0 initially, so that the output is `bias` for all times. */
  const zero = (name: string, bias: number): Affine<T> => ({
    w: source.at(name).normal([width, width], 0),
    b: source.fill([width], bias),
  });
  const embed = positions === "sites" ? [sizeOf(grid)] : grid;
  return {
    input: linearInit(source.at("input"), channels, width),
    positions: embed.map((size, axis) =>
      source.at(`position.${axis}`).normal([size, width], 0.02 ** 2),
    ),
    time1: linearInit(source.at("time1"), TIME, width),
    time2: linearInit(source.at("time2"), width, width),
    modulation: times(ROLES, (role) => zero(`modulation.${role}`, 0)),
    final: times(2, (role) => zero(`final.${role}`, 1 - role)),
    blocks: times(layers, (l) => {
      const block = source.at(`blocks.${l}`);
      return {
        // Initially α is 1, and β and γ are 0.
        offsets: times(ROLES, (role) => source.fill([width], role % 3 === 0 ? 1 : 0)),
        relative: relative ? [source.fill([differences, heads], 0)] : [],
        query: matrixInit(block.at("query"), width, width),
        key: matrixInit(block.at("key"), width, width),
        value: matrixInit(block.at("value"), width, width),
        out: matrixInit(block.at("out"), width, width),
        up: matrixInit(block.at("up"), width, expansion * width),
        down: matrixInit(block.at("down"), expansion * width, width),
      };
    }),
    head: linearInit(source.at("head"), width, outputs, 0),
  };
}

/** Initial parameters of a transformer over sites. */
export const transformerInit = (key: Key, options: TransformerOptions): Transformer<NdArray> =>
  transformerFrom(initialise(key), options);

/** The sum over axes of the vectors of a site's coordinates, [sites, width]. */
function positionOf(vectors: readonly Tensor[], grid: Shape): Tensor {
  if (vectors.length === 1) return vectors[0];
  const width = vectors[0].shape[1];
  const along = vectors.map((p, axis) =>
    reshape(p, [...grid.map((d, i) => (i === axis ? d : 1)), width]),
  );
  return reshape(along.reduce(add), [sizeOf(grid), width]);
}

/** The coordinates of every site. */
const placesOf = (grid: Shape): number[][] =>
  Array.from({ length: sizeOf(grid) }, (_, site) =>
    grid.map((d, axis) => Math.floor(site / sizeOf(grid.slice(axis + 1))) % d),
  );

/** The index of the difference of positions of each pair of sites, [sites, sites]. */
function differencesOf(grid: Shape): NdArray {
  const places = placesOf(grid);
  const index = (a: readonly number[], b: readonly number[]): number =>
    grid.reduce((sofar, d, axis) => sofar * (2 * d - 1) + a[axis] - b[axis] + d - 1, 0);
  const data = Int32Array.from(places.flatMap((a) => places.map((b) => index(a, b))));
  return { shape: [places.length, places.length], dtype: "int32", data };
}

/**
 * The rotation angles of every site, [sites, pairs]. Along each axis frequencies range from π,
 * which distinguishes even and odd positions, down to half a turn over twice the axis.
 */
function anglesOf({ grid, width, heads, rotary: share = 0.5 }: TransformerOptions): NdArray {
  const each = Math.floor((share * width) / heads / 2 / grid.length);
  const frequency = (d: number, j: number): number =>
    Math.PI * (2 * d) ** (each > 1 ? -j / (each - 1) : 0);
  const rows = placesOf(grid).map((place) =>
    place.flatMap((c, axis) =>
      Array.from({ length: each }, (_, j) => c * frequency(grid[axis], j)),
    ),
  );
  return {
    shape: [rows.length, each * grid.length],
    dtype: "float64",
    data: Float64Array.from(rows.flat()),
  };
}

/**
 * Applies the transformer to x [batch, ...grid, channels] and t [batch]; the output is [batch,
 * ...grid, outputs].
 */
export function transformer(
  p: Transformer<Tensor>,
  x: Tensor,
  t: Tensor,
  options: TransformerOptions,
): Tensor {
  const { grid, width, heads, activation = "relu2" } = options;
  const [batch] = x.shape;
  const sites = sizeOf(grid);
  const embedding = silu(linear(p.time2, silu(linear(p.time1, timeFeatures(t, TIME)))));
  const shared = p.modulation.map((role) => linear(role, embedding));
  /** A time-dependent vector, broadcast over the sites: [batch, 1, width]. */
  const overSites = (vector: Tensor): Tensor => expandDims(vector, 1);
  const normed = (h: Tensor, scale: Tensor, shift: Tensor): Tensor =>
    add(mul(layerNorm(h), overSites(scale)), overSites(shift));

  const differences = constant(differencesOf(grid), "int32");
  const angles = anglesOf(options);
  const turned = (z: Tensor): Tensor => (angles.data.length > 0 ? rotary(z, angles, heads) : z);

  let h = add(
    linear(p.input, reshape(x, [batch, sites, x.shape.at(-1) as number])),
    positionOf(p.positions, grid),
  );
  for (const block of p.blocks) {
    const [a1, b1, g1, a2, b2, g2] = block.offsets.map((offset, role) => add(shared[role], offset));
    const seen = normed(h, a1, b1);
    // 1/√d is applied to the weights, which are fewer numbers than the sites.
    const [q, k] = [mul(block.query, Math.sqrt(heads / width)), block.key].map((w) =>
      turned(matmul(seen, w)),
    );
    const [bias] = block.relative.map((b) => transpose(take(b, differences), [2, 0, 1]));
    const mixed = attention(q, k, matmul(seen, block.value), {
      heads,
      scale: 1,
      bias,
    });
    h = add(h, mul(matmul(mixed, block.out), overSites(g1)));
    const inner = activations[activation](matmul(normed(h, a2, b2), block.up));
    h = add(h, mul(matmul(inner, block.down), overSites(g2)));
  }
  const [scale, shift] = p.final.map((role) => linear(role, embedding));
  const out = linear(p.head, normed(h, scale, shift));
  return reshape(out, [batch, ...grid, out.shape.at(-1) as number]);
}
