/**
 * A model of a table: rows are cells of a product of domains, y what they encode, and y = φ(x) with
 *
 *   φ = (φ₁, …, φ_k) ∘ (w ↦ mean + w M) ∘ T⁻¹
 *
 * for the domains' own maps, the standard of the table and, where one was learned, a flow
 * (`flow.ts`). A score network in x does the rest.
 */
import { type Bijector, chain } from "diffeo/bijector";
import type { Product } from "diffeo/domain";
import { concat, fail, type NdArray, type Tensor } from "diffeo/graph";
import {
  asConstants,
  type NetworkSpec,
  networkOf,
  type Parameters,
  velocityScore,
} from "diffeo/model";
import { logSnr, logSnrGrid } from "diffeo/sampler";
import { type GaussianSde, type MarginalScore, vp } from "diffeo/sde";
import {
  type Patterns,
  patternsOf,
  type Related,
  type Standard,
  standardMap,
} from "../encode/index.ts";
import type { TableLayout } from "../kinds/index.ts";
import { type Flow, flowMap } from "./flow.ts";
import type { Graphs } from "./graphs.ts";
import { type Coordinates, headOf } from "./head.ts";
import type { Weights } from "./network.ts";
import { type TableBins, type Words, wordsOf } from "./words.ts";

/** The network of given parts, and its own standard where it does not share that of the table. */
export interface GivenWeights extends Weights {
  /** The step that they are of, where a fit of this process chose it. */
  readonly step?: number;
  readonly standard?: Standard;
}

/**
 * The result of a fit, as plain data; `TableModel` (`table-model.ts`) has the functions that use
 * it.
 */
export interface FittedTable extends Coordinates {
  readonly network: NetworkSpec;
  readonly parameters: Parameters<NdArray>;
  /** The last link of φ, where one was learned. */
  readonly flow?: Flow;
  /** All columns, where some follow from others; `domain` is that of the others. */
  readonly related?: Related;
  /** The network of rows of which some parts are given (`given.ts`), where one was trained. */
  readonly given?: GivenWeights;
  /** The columns that rows are written with, where some of them have no domain. */
  readonly layout?: TableLayout;
  /**
   * The bins of its numbers where the network is one of masked cells (`words.ts`), which gives
   * chances and no score.
   */
  readonly bins?: TableBins;
  /** What is known of its training. */
  readonly training: TableTraining;
}

/** The result of a fit, and what was computed from it so far. */
export interface OpenedTable extends FittedTable {
  readonly graphs: Graphs;
  /** The patterns of its network of given parts, made when they are first needed. */
  readonly patterns: () => Patterns;
  /** How rows are read as words, where the network is one of masked cells. */
  readonly words: () => Words;
  /** Times of so many evaluations, from noise to data, even in λ. */
  readonly timesOf: (evaluations: number) => readonly number[];
}

export function openedTable(fitted: FittedTable, graphs: Graphs): OpenedTable {
  let patterns: Patterns | undefined;
  let words: Words | undefined;
  return {
    ...fitted,
    graphs,
    patterns: () => {
      patterns ??= patternsOf(givenCoordinates(fitted).domain, givenCoordinates(fitted).standard);
      return patterns;
    },
    words: () => {
      words ??= wordsOf(fitted.domain, fitted.atoms ?? {}, fitted.bins ?? {});
      return words;
    },
    timesOf: evenTimes(),
  };
}

/** The coordinates that the network of given parts works in: those of all columns. */
export const givenCoordinates = (model: FittedTable): Coordinates => ({
  domain: model.related?.domain ?? model.domain,
  standard: model.given?.standard ?? model.standard,
  atoms: model.atoms,
});

/** Those of the last call are kept, as each is found by bisection. */
function evenTimes(): OpenedTable["timesOf"] {
  let found: readonly number[] = [];
  return (evaluations) => {
    if (found.length !== evaluations)
      found = logSnrGrid(
        tableSde.transition,
        tableSde.horizon,
        timeOf(LAST_LEVEL),
        evaluations - 1,
      );
    return found;
  };
}

/** How a model was trained. */
export interface TableTraining {
  readonly seed: number;
  readonly rows: number;
  readonly step: number;
  readonly validation: number;
}

/** The process that all tables are noised by. */
export const tableSde: GaussianSde = vp();

/** λ at which rows count as data: noise of e⁻⁴ standard deviations. */
export const LAST_LEVEL = 8;

/** v̂(x, λ) */
export type Predictor = (x: Tensor, lambda: Tensor) => Tensor;

const NO_SCORE = "the model is a network of masked cells, which has no score";
const OTHER_NETWORK =
  'fit the table by diffusion: --network diffusion of table fit, network: "diffusion" of fitTable';

export const predictorOf = (model: FittedTable): Predictor => {
  if (model.bins) fail("usage", NO_SCORE, OTHER_NETWORK);
  const { apply } = networkOf(model.network);
  const p = asConstants(model.parameters);
  const { velocity } = headOf(model);
  return (x, lambda) => velocity(apply(p, x, lambda), x, lambda);
};

/** Numbers next to x that the network of given parts takes: x₀P_S, and two flags per part. */
export const sideSize = ({ dimension, parts }: Product): number => dimension + 2 * parts.length;

/** Whether cells can be given and missing. */
export const takesGiven = ({ given, bins }: FittedTable): boolean =>
  given !== undefined || bins !== undefined;

/** Raises an error where cells cannot be given, with what to do about it. */
export function requireTakesGiven(model: FittedTable): void {
  const { parts, columns } = model.domain;
  if (takesGiven(model)) return;
  fail(
    "usage",
    parts.length === 1
      ? `the model has one part, ${columns.map((name) => `"${name}"`).join(", ")}, which is ` +
          "drawn whole"
      : "the model was fitted without a network of given cells",
    parts.length === 1
      ? "sample without given cells and missing values"
      : "fit it again, with given",
  );
}

/** v̂ of the network of given parts, for rows xP and what is next to them. */
export function givenPredictorOf(model: FittedTable) {
  requireTakesGiven(model);
  const { given } = model;
  if (!given) return fail("usage", NO_SCORE, OTHER_NETWORK);
  const { apply } = networkOf(given.network);
  const p = asConstants(given.parameters);
  const { velocity } = headOf(givenCoordinates(model));
  return (x: Tensor, beside: Tensor, lambda: Tensor): Tensor =>
    velocity(apply(p, concat([x, beside], -1), lambda), x, lambda);
}

export const tableScore = (model: FittedTable): MarginalScore =>
  velocityScore(tableSde, predictorOf(model));

/** φ */
export const tableMap = ({
  domain,
  standard,
  flow,
}: Pick<FittedTable, "domain" | "standard" | "flow">): Bijector =>
  chain(...(flow ? [flowMap(flow)] : []), standardMap(standard), domain.map);

/** The time of a level, which falls as time rises. */
export function timeOf(level: number): number {
  const levelAt = logSnr(tableSde.transition);
  let [low, high] = [0, tableSde.horizon];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (levelAt([middle])[0] > level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
