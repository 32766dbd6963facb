/**
 * A table whose density is known: 0.6 of Student's t with 6 degrees of freedom and correlated
 * columns, 0.4 of a Gaussian, four columns, 6,000 rows. Measures the difference of the model's mean
 * log-likelihood of fresh rows from the true one, and its weights of the modes.
 */

import { type Distribution, gaussian, sampleFrom, studentT } from "diffeo/distribution";
import { real } from "diffeo/domain";
import { input, reference } from "diffeo/graph";
import { fold, type Key, key, uniform } from "diffeo/random";
import { type FitTableOptions, fitTable } from "diffeo-tables";
import { mean } from "./distance.ts";

const N = 4;
const wide = studentT({
  degrees: 6,
  mean: [-1, -1, -1, -1],
  shape: [
    [1, 0.8, 0, 0],
    [0.8, 1, 0.3, 0],
    [0, 0.3, 1, 0],
    [0, 0, 0, 1],
  ],
});
const narrow = gaussian({ mean: [2, 2, 2, 2], covariance: 0.25 });
const WIDE = 0.6;

function rowsOf(count: number, from: Key): number[][] {
  const u = uniform(fold(from, "mode"), [count], { dtype: "float64" }).data;
  const [a, b] = [wide, narrow].map(
    (d) => sampleFrom(d, fold(from, d.name), count, "float64").data as Float64Array,
  );
  return Array.from({ length: count }, (_, i) =>
    Array.from((u[i] < WIDE ? a : b).subarray(N * i, N * (i + 1))),
  );
}

function logDensity(
  distribution: Distribution,
  rows: readonly (readonly number[])[],
): Float64Array {
  const x = input("rows", [rows.length, N], "float64");
  return reference([distribution.logDensity(x)], new Map([[x, Float64Array.from(rows.flat())]]))[0];
}

/** log p of each row, and the probability that it is of the Gaussian. */
function truthOf(rows: readonly (readonly number[])[]): {
  readonly logs: number[];
  readonly shares: number[];
} {
  const [a, b] = [logDensity(wide, rows), logDensity(narrow, rows)];
  const gaps = Array.from(a, (v, i) => v + Math.log(WIDE) - b[i] - Math.log(1 - WIDE));
  return {
    logs: gaps.map((g, i) => a[i] + Math.log(WIDE) + Math.log1p(Math.exp(-g))),
    shares: gaps.map((g) => 1 / (1 + Math.exp(g))),
  };
}

export interface Known {
  readonly task: "known-density";
  readonly seed: number;
  /** The true mean log-likelihood of test rows minus that of the model, in nats. */
  readonly gap: number;
  readonly truth: number;
  /**
   * The share of the Gaussian among sampled rows; the true one is 0.4, and that of the training
   * rows is `shareOfRows`.
   */
  readonly share: number;
  readonly shareOfRows: number;
  readonly trainingSeconds: number;
  readonly steps: number;
  /** The loss on the rows held out. */
  readonly heldOut: number;
  readonly scoringMilliseconds: number;
}

const ROWS = 6000;
export const knownColumns = { a: real(), b: real(), c: real(), d: real() };

/** Training rows. */
export const knownRows = (seed: number): number[][] =>
  rowsOf(ROWS, fold(fold(key("known density"), seed), "train"));

/** Test rows of the same distribution. */
export const knownFresh = (count: number, seed: number): number[][] =>
  rowsOf(count, fold(fold(key("known density"), seed), "test"));

const TEST = 10_000;
const DRAWN = 20_000;

export async function runKnown(
  seed: number,
  options: Omit<Partial<FitTableOptions>, "seed">,
): Promise<Known> {
  const rows = knownRows(seed);
  const test = knownFresh(TEST, seed);
  const began = performance.now();
  const model = await fitTable(rows, { columns: knownColumns, given: false, seed, ...options });
  const trained = performance.now();
  const scores = await model.logLikelihood(test);
  const scored = performance.now();
  const { rows: drawn } = await model.sample({ count: DRAWN, seed });
  const truth = mean(truthOf(test).logs);
  return {
    task: "known-density",
    seed,
    gap: truth - mean(scores),
    truth,
    share: mean(truthOf(drawn as number[][]).shares),
    shareOfRows: mean(truthOf(rows).shares),
    trainingSeconds: (trained - began) / 1000,
    steps: model.training.step,
    heldOut: model.training.validation,
    scoringMilliseconds: (scored - trained) / TEST,
  };
}
