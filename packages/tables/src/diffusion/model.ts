/**
 * A model of a table: rows are cells of a product of domains, y what they encode, and y = φ(x) with
 *
 *   φ = (φ₁, …, φ_k) ∘ (x ↦ mean + x M)
 *
 * for the domains' own maps and the standard of the table. A score network in x does the rest.
 */
import { type Bijector, chain } from "diffeo/bijector";
import type { Cell, Product } from "diffeo/domain";
import { input, type NdArray, reference, type Tensor } from "diffeo/graph";
import { partsOf } from "diffeo/host";
import { frozen, type NetworkSpec, networkOf, type Parameters, velocityScore } from "diffeo/model";
import { fold, key as keyOf } from "diffeo/random";
import { logSnr, sample } from "diffeo/sampler";
import { type GaussianSde, type MarginalScore, reverse, vp } from "diffeo/sde";
import { type Standard, standardMap } from "./standard.ts";

export interface TableModel {
  readonly domain: Product;
  readonly standard: Standard;
  readonly network: NetworkSpec;
  readonly parameters: Parameters<NdArray>;
  /** What is known of its training. */
  readonly training: TableTraining;
}

export interface TableTraining {
  readonly seed: number;
  readonly rows: number;
  readonly step: number;
  readonly validation: number;
}

/** The process that all tables are noised by. */
export const tableSde: GaussianSde = vp();

/** λ at which rows are data: noise of sd e⁻⁴ a standard deviation. */
export const LAST_LEVEL = 8;

/** v̂(x, λ) */
export const predictorOf = ({ network, parameters }: TableModel): ((x: Tensor, lambda: Tensor) => Tensor) => {
  const { apply } = networkOf(network);
  const p = frozen(parameters);
  return (x, lambda) => apply(p, x, lambda);
};

export const tableScore = (model: TableModel): MarginalScore => velocityScore(tableSde, predictorOf(model));

/** φ */
export const tableMap = ({ domain, standard }: Pick<TableModel, "domain" | "standard">): Bijector =>
  chain(standardMap(standard), domain.map);

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

/** Rows that a graph on the host takes at once. */
const PART = 4096;

/** f of every row of n numbers, in float64 on the host; f gives rows of any length. */
export function mapped(rows: Float64Array, n: number, f: (x: Tensor) => Tensor): Float64Array {
  const parts = partsOf(rows.length / n, PART).map(([from, to]) => {
    const x = input("rows", [to - from, n], "float64");
    return reference([f(x)], new Map([[x, rows.subarray(from * n, to * n)]]))[0];
  });
  const out = new Float64Array(parts.reduce((s, part) => s + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export interface DrawRows {
  readonly count: number;
  /** The number of the first row: rows 100 … of a call are those of a call with `first` 100. Default 0. */
  readonly first?: number;
  readonly seed?: number;
  /** Evaluations of the network a row. Default 50. */
  readonly evaluations?: number;
  readonly threads?: number;
  readonly signal?: AbortSignal;
  readonly onStep?: () => void;
}

export interface DrawnRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly evaluations: number;
}

/** Rows in y that were drawn at once: memory does not grow beyond them. */
const BATCH = 10_000;

/**
 * Draws rows: the probability flow by exponential steps, even in λ, and the mean of x₀ at the end. Steps are those of
 * `reversePush` in its chart; φ itself is applied in float64, where parts of 10⁻³⁰⁰ are still parts.
 */
export async function drawRows(model: TableModel, options: DrawRows): Promise<DrawnRows> {
  const { count, first = 0, seed = 0, evaluations = 50, threads, signal, onStep } = options;
  const { domain } = model;
  const { samples, scoreEvaluations } = await sample(reverse(tableSde, tableScore(model)), {
    method: "exponential",
    denoise: true,
    steps: evaluations - 1,
    tEnd: timeOf(LAST_LEVEL),
    count,
    first,
    batch: Math.min(count, BATCH),
    shape: [domain.dimension],
    key: fold(keyOf(seed), "rows"),
    ...(threads !== undefined && { threads }),
    ...(signal && { signal }),
    ...(onStep && { onStep }),
  });
  const y = mapped(Float64Array.from(samples.data), domain.dimension, tableMap(model).forward);
  const rows = Array.from({ length: count }, (_, i) =>
    domain.decode(y.subarray(i * domain.size, (i + 1) * domain.size)),
  );
  return { columns: domain.columns, rows, evaluations: scoreEvaluations };
}
