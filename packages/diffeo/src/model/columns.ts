/**
 * A transformer over the columns of a table at a noise level λ = log m²/σ²: a token is a number of
 * x, or several that belong together, such as those of one label.
 *
 *   h_t = Σ_c x_c u_c + p_t                                  over the numbers c that token t sees
 *   h ← h + A((1 + C₁e) ∘ norm(h) + S₁e) W_out        A = softmax(QKᵀ/√d)V over the tokens of a row
 *   h ← h + silu(((1 + C₂e) ∘ norm(h) + S₂e) W_up + a) W_down + b
 *   v_o = w_o · norm(h_t) + b_o                              of the token t that predicts number o
 *
 * with e = silu(T φ(λ) + b) as in a residual network (`residual.ts`), through which the level
 * enters (adaLN, W. Peebles and S. Xie, ICCV 2023). λ is broadcast against the rows, and rows with
 * the same level share the terms that depend on it.
 */
import * as v from "valibot";
import {
  add,
  attention,
  constant,
  expandDims,
  fail,
  layerNorm,
  matmul,
  mul,
  reshape,
  silu,
  sum,
  type Tensor,
  take,
} from "../graph/index.ts";
import { whole } from "../host/named.ts";
import { type Affine, linear, linearInit, matrixInit, type Source, times } from "./layers.ts";
import { LEVEL_FEATURES, levelFeatures } from "./residual.ts";

const place = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const columnsSchema = v.strictObject({
  /** The numbers of inputs, and of outputs if different. */
  channels: whole,
  outputs: v.optional(whole),
  /** The numbers that each token sees. */
  sees: v.pipe(v.array(v.array(place)), v.minLength(1)),
  /** The token that predicts each output. */
  says: v.array(place),
  width: whole,
  layers: whole,
  heads: whole,
  /** The hidden width of a layer's feed-forward part, as a multiple of `width`. Default 2. */
  expansion: v.optional(whole),
});

type Options = v.InferOutput<typeof columnsSchema>;
export type ColumnsOptions = {
  readonly [K in keyof Options]: K extends "sees"
    ? readonly (readonly number[])[]
    : K extends "says"
      ? readonly number[]
      : Options[K];
};

interface Layer<T> {
  /** C₁, S₁, C₂, S₂ */
  readonly scale1: T;
  readonly shift1: T;
  readonly scale2: T;
  readonly shift2: T;
  readonly query: T;
  readonly key: T;
  readonly value: T;
  readonly out: T;
  readonly up: Affine<T>;
  readonly down: Affine<T>;
}

export interface Columns<T> {
  /** u [channels, width], p [tokens, width] */
  readonly value: T;
  readonly place: T;
  readonly time: Affine<T>;
  readonly layers: readonly Layer<T>[];
  /** w [outputs, width], b [outputs] */
  readonly output: Affine<T>;
}

function check({ channels, outputs = channels, sees, says, width, heads }: ColumnsOptions): void {
  if (width % heads !== 0)
    fail(
      "usage",
      `\`width\` is ${width}, which ${heads} heads do not divide`,
      "give `heads` that divide the width",
    );
  if (
    sees.some((some) => some.some((c) => c >= channels)) ||
    says.length !== outputs ||
    says.some((t) => t >= sees.length)
  )
    fail(
      "usage",
      "the tokens read or predict numbers that do not exist",
      "give every output its token, by existing indices",
    );
}

/** The parameters of the network. */
export function columnsFrom<T>(source: Source<T>, options: ColumnsOptions): Columns<T> {
  check(options);
  const { channels, outputs = channels, sees, width, layers, expansion = 2 } = options;
  return {
    value: source.at("value").normal([channels, width], 1),
    place: source.at("place").normal([sees.length, width], 1),
    time: linearInit(source.at("time"), LEVEL_FEATURES, width),
    layers: times(layers, (l) => {
      const own = source.at(`layers.${l}`);
      return {
        scale1: matrixInit(own.at("scale1"), width, width, 0.1 ** 2),
        shift1: matrixInit(own.at("shift1"), width, width, 0.5 ** 2),
        scale2: matrixInit(own.at("scale2"), width, width, 0.1 ** 2),
        shift2: matrixInit(own.at("shift2"), width, width, 0.5 ** 2),
        query: matrixInit(own.at("query"), width, width),
        key: matrixInit(own.at("key"), width, width),
        value: matrixInit(own.at("value"), width, width),
        out: matrixInit(own.at("out"), width, width, 0.3 ** 2),
        up: linearInit(own.at("up"), width, expansion * width),
        down: linearInit(own.at("down"), expansion * width, width, 0.3 ** 2),
      };
    }),
    output: {
      w: source.at("output").normal([outputs, width], 0.1 ** 2 / width),
      b: source.fill([outputs], 0),
    },
  };
}

/** The matrix of tokens and the numbers they read, [tokens, channels]. */
const visibleNumbers = ({ sees, channels }: ColumnsOptions): number[][] =>
  sees.map((some) => Array.from({ length: channels }, (_, c) => (some.includes(c) ? 1 : 0)));

/** Σ_c x_c u_c of every token. */
function embedded(value: Tensor, x: Tensor, options: ColumnsOptions): Tensor {
  const each = mul(expandDims(x, -1), value);
  const isOne =
    options.sees.length === options.channels &&
    options.sees.every(([c, ...more], t) => c === t && more.length === 0);
  return isOne ? each : matmul(constant(visibleNumbers(options), x.dtype), each);
}

/** Applies the network to rows x […, channels]; λ is broadcast against their leading axes. */
export function columns(
  p: Columns<Tensor>,
  x: Tensor,
  lambda: Tensor,
  options: ColumnsOptions,
): Tensor {
  const { sees, says, width, heads } = options;
  const rows = x.shape.slice(0, -1);
  const level = lambda.shape.length === 0 ? expandDims(lambda, 0) : lambda;
  const e = silu(linear(p.time, levelFeatures(level)));
  /** The terms of the noise level for every token of a row. */
  const ofLevel = (w: Tensor): Tensor => expandDims(matmul(e, w), -2);
  const normed = (h: Tensor, scale: Tensor, shift: Tensor): Tensor =>
    add(mul(layerNorm(h), add(ofLevel(scale), 1)), ofLevel(shift));
  const flat = (h: Tensor): Tensor => reshape(h, [-1, sees.length, width]);
  let h = add(embedded(p.value, x, options), p.place);
  for (const layer of p.layers) {
    const look = normed(h, layer.scale1, layer.shift1);
    const [q, k, z] = [layer.query, layer.key, layer.value].map((w) => flat(matmul(look, w)));
    const mixed = reshape(attention(q, k, z, { heads }), [...rows, sees.length, width]);
    h = add(h, matmul(mixed, layer.out));
    h = add(h, linear(layer.down, silu(linear(layer.up, normed(h, layer.scale2, layer.shift2)))));
  }
  const said = layerNorm(h);
  const own =
    says.every((t, o) => t === o) && says.length === sees.length
      ? said
      : take(said, constant(says, "int32"), -2);
  return add(sum(mul(own, p.output.w), -1), p.output.b);
}
