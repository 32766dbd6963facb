/**
 * Likelihood ranks: where among its own samples a model ranks rows by their likelihood. If it is
 * right, rows and samples are of one distribution, and so are their likelihoods, whose two
 * distributions are compared by the distance of Kolmogorov and Smirnov,
 *
 *   D = sup_v |F(v) − G(v)|        P(D > c √(1/n + 1/m)) → 2 Σₖ (−1)ᵏ⁻¹ e^{−2k²c²} ≤ 2 e^{−2c²}
 *
 * of n rows and m samples. Where likelihoods are equal, as those of one label are, D exceeds this
 * less often.
 */
import { fold, key as keyOf, permutation } from "diffeo/random";
import type { Cells, TableDistribution } from "./table-distribution.ts";

/** All places are equally likely if the model is right. */
export interface Calibration {
  /**
   * The share of samples that are less likely than each row, ascending; rows that are as likely as
   * samples are spread among them.
   */
  readonly ranks: readonly number[];
  /** Their largest distance from the diagonal, and what chance exceeds once in twenty times. */
  readonly distance: number;
  readonly chance: number;
  /** What chance exceeds once in 16,000 times, as often as a normal number four standard errors. */
  readonly clear: number;
  /**
   * Where the distance is largest: the share of rows, and of samples, that are at most as likely as
   * some row or sample.
   */
  readonly worst: { readonly rows: number; readonly samples: number };
}

/**
 * Likelihoods that are nearer, in nats, are those of equal rows, but for rounding: a graph of
 * another size may round otherwise.
 */
const ROUNDING = 1e-5;
/** c of once in twenty times, and of once in 16,000: √(½ log(2/p)). */
const CHANCE = 1.36;
const CLEAR = 2.28;

const MOST_RANKED = 500;

/** Ranks of likelihoods of rows among those of samples. */
export function calibrationOf(rows: Float64Array, samples: Float64Array): Calibration {
  const [a, b] = [rows.toSorted(), samples.toSorted()];
  const [n, m] = [a.length, b.length];
  const next = (i: number, j: number): number => Math.min(a[i] ?? Infinity, b[j] ?? Infinity);
  const ranks: number[] = [];
  let worst = { rows: 0, samples: 0 };
  let distance = 0;
  for (let [i, j] = [0, 0]; i < n || j < m; ) {
    const [from, below] = [i, j];
    // Equal ones, one after the other. What has no chance, −∞, is equal to itself.
    let v: number;
    do v = i < n && !(a[i] > b[j]) ? a[i++] : b[j++];
    while (next(i, j) === v || next(i, j) - v < ROUNDING);
    for (let k = from; k < i; k++)
      ranks.push((below + ((j - below) * (k - from + 0.5)) / (i - from)) / m);
    const apart = Math.abs(i / n - j / m);
    if (apart > distance) [distance, worst] = [apart, { rows: i / n, samples: j / m }];
  }
  const unit = Math.sqrt(1 / n + 1 / m);
  return { ranks, distance, chance: CHANCE * unit, clear: CLEAR * unit, worst };
}

/** How many samples of so many rows are ranked among. */
export const rankedAmong = (rows: number): number => Math.min(MOST_RANKED, Math.max(100, rows));

/** Ranks of rows under a distribution among its samples; at most 500 of either are scored. */
export async function calibrate(
  distribution: TableDistribution,
  rows: readonly Cells[],
  drawn: readonly Cells[],
  seed = 0,
): Promise<Calibration> {
  const order = permutation(fold(keyOf(seed), "ranked"), rows.length).data.subarray(0, MOST_RANKED);
  const own = await distribution.logLikelihood(Array.from(order, (i) => rows[i]));
  return calibrationOf(own, await distribution.logLikelihood(drawn.slice(0, MOST_RANKED)));
}
