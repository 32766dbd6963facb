/**
 * A network that is equivariant under permutations of classes. It has one vector per candidate, a
 * pair of a site and a class. Candidates interact through sums over the classes of their site, and
 * over the sites of every group of their site, class by class.
 *
 *   u   = norm(h) W_up + b
 *   z   = u + P₀ᵀ(P₀u W₀) + Σ_g P_gᵀ(P_g u W_g)    P sums over a site's classes, or a group's sites
 *   h  ← h + f(z) W_down                              f = squared ReLU
 *   y   = norm(h) w
 *
 * There are no parameters per class or site, so y is equivariant under every permutation of the
 * classes, and under every permutation of the sites that maps each kind of group to itself. For a
 * Sudoku these are 9! permutations of the digits and 3,359,232 of the sites.
 *
 * The input is the log-likelihood of every class at every site. It is a sufficient statistic of x_t
 * and t for x₀ (`categorical/evidence.ts`), so the network does not depend on time.
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
  stack,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { whole } from "../host/named.ts";
import { type Affine, linear, linearInit, matrixInit, type Source, times } from "./layers.ts";

const site = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** The schema of the options in files. */
export const exchangeableSchema = v.strictObject({
  /** The number of classes of a site. */
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
  /** The hidden width of a layer. Default: twice the width. */
  inner: v.optional(whole),
  layers: whole,
  /** How often the layers are applied, with the same weights. Default 1. */
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
  /** W₀, then one W per kind of group. */
  readonly heard: readonly T[];
  readonly down: T;
}

export interface Exchangeable<T> {
  readonly input: Affine<T>;
  readonly layers: readonly Layer<T>[];
  /** w, [width, 1] */
  readonly head: T;
}

/** Throws for inconsistent options. */
function check({ channels, outputs = channels, grid, groups }: ExchangeableOptions): void {
  if (outputs !== channels)
    fail(
      "usage",
      `exchangeable network: \`channels\` is ${channels}, \`outputs\` is ${outputs}`,
      "set both to the number of classes",
    );
  const most = sizeOf(grid);
  const beyond = groups.flat(2).find((s) => s >= most);
  if (beyond !== undefined)
    fail(
      "usage",
      `exchangeable network: a group has the site ${beyond}, but there are ${most} sites`,
      `use sites 0 to ${most - 1}`,
    );
}

/** The parameters of an exchangeable network. */
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

/** The input of a candidate: its likelihood and the logarithm of it. */
const FEATURES = 2;

/**
 * Scales the logarithm, which is between `LEAST` of `categorical/evidence.ts` and 0, to a few
 * units.
 */
const LOG_SCALE = 0.2;

/** P_g / √(sites of the group), [groups, sites]: which keeps the size of the sums. */
const sums = (groups: readonly (readonly number[])[], sites: number): number[][] =>
  groups.map((group) => {
    const row = new Array<number>(sites).fill(0);
    for (const s of group) row[s] = 1 / Math.sqrt(group.length);
    return row;
  });

const transposed = (rows: readonly (readonly number[])[]): number[][] =>
  rows[0].map((_, c) => rows.map((row) => row[c]));

/** Kinds with equally many groups: one product sums over the groups of all of them. */
interface Part {
  readonly kinds: readonly number[];
  /** Groups of a kind. */
  readonly count: number;
  readonly sum: Tensor;
  readonly back: Tensor;
}

/** What the groups are to the layers. */
interface Structure {
  readonly sites: number;
  readonly classes: number;
  readonly parts: readonly Part[];
  /** The number of groups of each kind that contain a site, [sites, kinds]. */
  readonly memberships: Tensor;
}

function structureOf(
  { channels: classes, grid, groups }: ExchangeableOptions,
  { dtype }: Tensor,
): Structure {
  const sites = sizeOf(grid);
  const parts = [...new Set(groups.map((kind) => kind.length))].map((count): Part => {
    const kinds = [...groups.keys()].filter((g) => groups[g].length === count);
    const rows = kinds.flatMap((g) => sums(groups[g], sites));
    return { kinds, count, sum: constant(rows, dtype), back: constant(transposed(rows), dtype) };
  });
  const memberships = Array.from({ length: sites }, (_, s) =>
    groups.map((kind) => kind.filter((group) => group.includes(s)).length),
  );
  return { sites, classes, parts, memberships: constant(memberships, dtype) };
}

/**
 * z of a layer, from n = norm(h) [batch, sites, classes, width]. Sums over groups are taken of n,
 * which is narrower than u = n W + b, and W W_g is one matrix:
 *
 *   P_gᵀ(P_g u W_g) = P_gᵀ((P_g n)(W W_g)) + (P_gᵀ P_g 1) b W_g
 *
 * With P_g scaled as in `sums`, P_gᵀ P_g 1 is the number of groups that contain a site.
 */
function heard(
  n: Tensor,
  { up: { w, b }, heard: [own, ...each] }: Layer<Tensor>,
  { sites, classes, parts, memberships }: Structure,
): Tensor {
  const [batch, , , width] = n.shape;
  const inner = b.shape[0];
  const all = reshape(n, [batch, sites, classes * width]);
  const ofGroups = parts.map(({ kinds, count, sum: p, back }) => {
    const weights = stack(kinds.map((g) => matmul(w, each[g])));
    const totals = reshape(matmul(p, all), [batch, kinds.length, count * classes, width]);
    const said = reshape(matmul(totals, weights), [batch, kinds.length * count, classes * inner]);
    return reshape(matmul(back, said), [batch, sites, classes, inner]);
  });
  const ofSite = matmul(mul(sum(n, 2), 1 / classes), matmul(w, own));
  const row = expandDims(b, 0);
  const biases = concat(
    each.map((m) => matmul(row, m)),
    0,
  );
  const constants = add(matmul(memberships, biases), add(row, matmul(row, own)));
  return add(matmul(n, w), add(ofGroups.reduce(add), expandDims(add(ofSite, constants), 2)));
}

/** Maps log-likelihoods x [batch, ...grid, classes] to logits of the same shape. */
export function exchangeable(
  p: Exchangeable<Tensor>,
  x: Tensor,
  _: Tensor,
  options: ExchangeableOptions,
): Tensor {
  const { channels: classes, grid, rounds = 1 } = options;
  const [batch] = x.shape;
  const structure = structureOf(options, x);
  const log = reshape(x, [batch, structure.sites, classes, 1]);
  let h = linear(p.input, concat([exp(log), mul(log, LOG_SCALE)], -1));
  for (let round = 0; round < rounds; round++)
    for (const layer of p.layers)
      h = add(h, matmul(squaredRelu(heard(layerNorm(h), layer, structure)), layer.down));
  return reshape(matmul(layerNorm(h), p.head), [batch, ...grid, classes]);
}
