/**
 * A flow of couplings, x = T(w) with T = T_k ∘ … ∘ T₁. In each, some coordinates are kept and
 * determine the change of the others,
 *
 *   y_a = x_a     y_b = e^{s(x_a)} ∘ f(x_b; x_a) + m(x_a)     log|det J| = Σ s + Σ log f′
 *
 * where f is a rational-quadratic spline of [−B, B] (C. Durkan et al., Neural Spline Flows, NeurIPS
 * 2019), or the identity (L. Dinh et al., RealNVP, ICLR 2017). All functions are computed by a
 * network of two hidden layers. In coupling k coordinate i is kept if bit ⌊k/2⌋ of i is k mod 2, so
 * that with 2⌈log₂ n⌉ couplings every coordinate depends on every other (T. Müller et al., 2019).
 * Both directions are explicit, and the initial T is the identity. The last hidden layer is
 * bounded, to limit the effect of outliers.
 */
import * as v from "valibot";
import type { Bijector } from "../bijector/index.ts";
import { rationalQuadraticSpline } from "../bijector/spline.ts";
import {
  add,
  addAll,
  cast,
  concat,
  constant,
  exp,
  expandDims,
  fail,
  mul,
  neg,
  reshape,
  silu,
  slice,
  squeeze,
  sub,
  sum,
  type Tensor,
  take,
  tanh,
} from "../graph/index.ts";
import { whole } from "../host/named.ts";
import { type Affine, linear, linearInit, type Source, times } from "./layers.ts";

export const couplingFlowSchema = v.strictObject({
  /** n */
  channels: whole,
  /** The coordinates that the flow transforms, at least two; others pass unchanged. Default all. */
  moved: v.optional(v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(0)))),
  couplings: whole,
  /** The width of both hidden layers. */
  width: whole,
  /** The number of bins of a spline. Default: no splines, only s and m. */
  bins: v.optional(v.pipe(whole, v.minValue(2))),
});

type Options = v.InferOutput<typeof couplingFlowSchema>;
/** Options of a coupling flow, as plain data. */
export type CouplingFlowOptions = {
  readonly [K in keyof Options]: Options[K] extends number[] | undefined
    ? readonly number[]
    : Options[K];
};

interface Conditioner<T> {
  readonly first: Affine<T>;
  readonly second: Affine<T>;
  readonly last: Affine<T>;
}

/** The parameters of a coupling flow. */
export interface CouplingFlow<T> {
  readonly couplings: readonly Conditioner<T>[];
}

/** B; data of unit variance have little mass beyond it. */
const BOUND = 5;
/** The greatest log-scale of a coupling. */
const MOST_STRETCH = 2;

/** The number of couplings after which every one of n coordinates depends on every other. */
export const couplingsFor = (n: number): number => 2 * Math.max(1, Math.ceil(Math.log2(n)));

interface Split {
  readonly kept: readonly number[];
  readonly changed: readonly number[];
  /** Coordinates that pass unchanged. */
  readonly others: readonly number[];
}

/** The kept and the changed coordinates of each coupling. */
function splitsOf({ channels, moved, couplings }: CouplingFlowOptions): readonly Split[] {
  const places = moved ?? [...Array(channels).keys()];
  const odd =
    places.length < 2 || new Set(places).size < places.length || places.some((i) => i >= channels);
  if (odd)
    fail(
      "usage",
      `coupling flow: \`moved\` is [${places}] for ${channels} coordinates`,
      "give at least two indices, each once",
    );
  const bits = couplingsFor(places.length) / 2;
  const others = [...Array(channels).keys()].filter((i) => !places.includes(i));
  return times(couplings, (k) => {
    const stays = (i: number): boolean => ((i >> (Math.floor(k / 2) % bits)) & 1) === k % 2;
    return {
      kept: places.filter((_, i) => stays(i)),
      changed: places.filter((_, i) => !stays(i)),
      others,
    };
  });
}

/** The numbers that transform one coordinate: s, m, and K widths, K heights and K − 1 slopes. */
const movedBy = ({ bins }: CouplingFlowOptions): number => (bins === undefined ? 2 : 1 + 3 * bins);

/** The parameters of a flow; the initial weights of the last layers are 0. */
export function couplingFlowFrom<T>(
  source: Source<T>,
  options: CouplingFlowOptions,
): CouplingFlow<T> {
  const { width } = options;
  return {
    couplings: splitsOf(options).map(({ kept, changed }, k) => {
      const own = source.at(`couplings.${k}`);
      return {
        first: linearInit(own.at("first"), kept.length, width),
        second: linearInit(own.at("second"), width, width),
        last: linearInit(own.at("last"), width, changed.length * movedBy(options), 0),
      };
    }),
  };
}

const pick = (x: Tensor, at: readonly number[]): Tensor => take(x, constant(at, "int32"), -1);

/** x with new values of the changed coordinates. */
function replaceChanged(x: Tensor, { kept, changed, others }: Split, by: Tensor): Tensor {
  const order = [...kept, ...others, ...changed];
  return pick(
    concat([pick(x, [...kept, ...others]), by], -1),
    order.map((_, i) => order.indexOf(i)),
  );
}

/** s, m and f as functions of the kept coordinates. */
function conditioned(
  { first, second, last }: Conditioner<Tensor>,
  kept: Tensor,
  options: CouplingFlowOptions,
) {
  const { bins } = options;
  const layer = ({ w, b }: Affine<Tensor>, h: Tensor): Tensor =>
    linear({ w: cast(w, kept.dtype), b: cast(b, kept.dtype) }, h);
  // A product needs matrices, so a single event becomes a batch of one.
  const rows = kept.shape.length === 1 ? expandDims(kept, 0) : kept;
  const raw = layer(last, tanh(layer(second, silu(layer(first, rows)))));
  const each = reshape(raw, [...kept.shape.slice(0, -1), -1, movedBy(options)]);
  const part = (from: number, to: number): Tensor =>
    slice(each, ...each.shape.slice(1).map(() => null), [from, to]);
  const one = (at: number): Tensor => squeeze(part(at, at + 1), -1);
  const s = mul(tanh(mul(one(0), 1 / MOST_STRETCH)), MOST_STRETCH);
  const f =
    bins === undefined
      ? undefined
      : rationalQuadraticSpline({
          widths: part(2, 2 + bins),
          heights: part(2 + bins, 2 + 2 * bins),
          slopes: part(2 + 2 * bins, 1 + 3 * bins),
          bound: BOUND,
        });
  return { s, m: one(1), f };
}

/** T(w) and log|det J| in one pass. */
export function normalised(p: CouplingFlow<Tensor>, w: Tensor, options: CouplingFlowOptions) {
  let x = w;
  const logDets = splitsOf(options).map((split, k) => {
    const b = pick(x, split.changed);
    const { s, m, f } = conditioned(p.couplings[k], pick(x, split.kept), options);
    x = replaceChanged(x, split, add(mul(f ? f.forward(b) : b, exp(s)), m));
    return f ? add(sum(s, -1), f.logDet(b)) : sum(s, -1);
  });
  return { x, logDet: addAll(logDets) };
}

/** T as a map of vectors. */
export const couplingFlow = (p: CouplingFlow<Tensor>, options: CouplingFlowOptions): Bijector => ({
  name: "coupling flow",
  eventRank: 1,
  forward: (w) => normalised(p, w, options).x,
  logDet: (w) => normalised(p, w, options).logDet,
  inverse: (x) =>
    splitsOf(options).reduceRight((y, split, k) => {
      const { s, m, f } = conditioned(p.couplings[k], pick(y, split.kept), options);
      const b = mul(sub(pick(y, split.changed), m), exp(neg(s)));
      return replaceChanged(y, split, f ? f.inverse(b) : b);
    }, x),
});
