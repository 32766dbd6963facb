/**
 * A network that treats all classes alike. It keeps one vector for every candidate, a site together
 * with a class, and candidates hear from each other through sums over what they belong to: the
 * classes of their site, and the sites of every group that their site is in, class by class.
 *
 *   u   = norm(h) W_up + b
 *   z   = u + P₀ᵀ(P₀u W₀) + Σ_g P_gᵀ(P_g u W_g)    P sums over a site's classes, or a group's sites
 *   h  ← h + f(z) W_down                              f = squared ReLU
 *   y   = norm(h) w
 *
 * Classes have no parameters of their own and sites no positions, so y is equivariant under every
 * permutation of the classes and under every permutation of the sites that maps each kind of group
 * to itself: of a Sudoku, 9! renamings of the digits and 3,359,232 ways to move rows and columns.
 *
 * The input is the log-likelihood of every class at every site. Given these, x_t and t say nothing
 * more of x₀ (`categorical/evidence.ts`), so there is no time in the network.
 */
import * as v from "valibot";
import {
  add,
  concat,
  constant,
  exp,
  expandDims,
  fail,
  layerNorm,
  matmul,
  mul,
  reshape,
  type Shape,
  sizeOf,
  squaredRelu,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { whole } from "../host/named.ts";
import { type Affine, linear, linearInit, matrixInit, type Source, times } from "./layers.ts";

const site = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Options of the network as a file states them. */
export const exchangeableSchema = v.strictObject({
  /** Classes of a site. */
  channels: whole,
  outputs: v.optional(whole),
  /** The sizes of the grid: [9, 9] for a Sudoku, [length] for a sequence. */
  grid: v.pipe(v.array(whole), v.minLength(1), v.maxLength(8)),
  /** Kinds of groups; a kind is a list of groups, a group a list of sites. */
  groups: v.pipe(
    v.array(v.pipe(v.array(v.pipe(v.array(site), v.minLength(1))), v.minLength(1))),
    v.minLength(1),
  ),
  width: whole,
  /** The width between the two products of a layer. Default twice the width. */
  inner: v.optional(whole),
  layers: whole,
  /** How often the layers are gone through, with the same weights. Default 1. */
  rounds: v.optional(whole),
});

type Options = v.InferOutput<typeof exchangeableSchema>;
export type ExchangeableOptions = {
  readonly [K in keyof Options]: K extends "groups"
    ? readonly (readonly (readonly number[])[])[]
    : Options[K] extends number[]
      ? Shape
      : Options[K];
};

interface Layer<T> {
  readonly up: Affine<T>;
  /** W₀, then one W for each kind of group. */
  readonly heard: readonly T[];
  readonly down: T;
}

export interface Exchangeable<T> {
  readonly input: Affine<T>;
  readonly layers: readonly Layer<T>[];
  /** w, [width, 1] */
  readonly head: T;
}

/** Refuses options that make no network. */
function check({ channels, outputs = channels, grid, groups }: ExchangeableOptions): void {
  if (outputs !== channels)
    fail(
      "usage",
      `an exchangeable network from ${channels} to ${outputs} classes`,
      "set outputs to the number of classes",
    );
  const most = sizeOf(grid);
  const beyond = groups.flat(2).find((s) => s >= most);
  if (beyond !== undefined)
    fail("usage", `a group has site ${beyond} of ${most}`, `use sites 0 to ${most - 1}`);
}

/** What an exchangeable network is made of. */
export function exchangeableFrom<T>(
  source: Source<T>,
  options: ExchangeableOptions,
): Exchangeable<T> {
  check(options);
  const { width, inner = 2 * width, layers, groups } = options;
  return {
    input: linearInit(source.at("input"), FEATURES, width),
    layers: times(layers, (l) => {
      const own = source.at(`layers.${l}`);
      return {
        up: linearInit(own.at("up"), width, inner),
        heard: times(groups.length + 1, (g) => matrixInit(own.at(`heard.${g}`), inner, inner)),
        down: matrixInit(own.at("down"), inner, width, 0.1),
      };
    }),
    head: source.at("head").normal([width, 1], 0),
  };
}

/** What a candidate is described by at first: its likelihood, and the logarithm of it. */
const FEATURES = 2;

/** Scales the logarithm, which is 0 to `LEAST` of `categorical/evidence.ts`, to a few units. */
const LOG_SCALE = 0.2;

/** P_g / √(sites of the group), [groups, sites]: sums of that many numbers keep their size. */
const sums = (groups: readonly (readonly number[])[], sites: number): number[][] =>
  groups.map((group) => {
    const row = new Array<number>(sites).fill(0);
    for (const s of group) row[s] = 1 / Math.sqrt(group.length);
    return row;
  });

const transposed = (rows: readonly (readonly number[])[]): number[][] =>
  rows[0].map((_, c) => rows.map((row) => row[c]));

/** Log-likelihoods x [batch, ...grid, classes] to logits of the same shape. */
export function exchangeable(
  p: Exchangeable<Tensor>,
  x: Tensor,
  _: Tensor,
  options: ExchangeableOptions,
): Tensor {
  const { channels: classes, grid, groups, width, inner = 2 * width, rounds = 1 } = options;
  const [batch] = x.shape;
  const sites = sizeOf(grid);
  const kinds = groups
    .map((kind) => sums(kind, sites))
    .map((rows) => ({
      sum: constant(rows, x.dtype),
      back: constant(transposed(rows), x.dtype),
      count: rows.length,
    }));
  /** Σ over the kinds of what their groups say to each candidate. */
  const heardBy = (u: Tensor, w: readonly Tensor[]): Tensor => {
    const own = matmul(mul(sum(u, 2), 1 / Math.sqrt(classes)), w[0]);
    const all = reshape(u, [batch, sites, classes * inner]);
    const said = kinds.map(({ sum: s, back, count }, g) => {
      const each = reshape(matmul(s, all), [batch, count, classes, inner]);
      return matmul(back, reshape(matmul(each, w[g + 1]), [batch, count, classes * inner]));
    });
    const ofGroups = reshape(said.reduce(add), [batch, sites, classes, inner]);
    return add(ofGroups, mul(expandDims(own, 2), 1 / Math.sqrt(classes)));
  };

  const log = reshape(x, [batch, sites, classes, 1]);
  let h = linear(p.input, concat([exp(log), mul(log, LOG_SCALE)], -1));
  for (let round = 0; round < rounds; round++)
    for (const { up, heard, down } of p.layers) {
      const u = linear(up, layerNorm(h));
      h = add(h, matmul(squaredRelu(add(u, heardBy(u, heard))), down));
    }
  return reshape(matmul(layerNorm(h), p.head), [batch, ...grid, classes]);
}
