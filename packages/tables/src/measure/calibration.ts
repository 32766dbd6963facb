/**
 * Likelihood ranks: the rank of a row's likelihood among those of the model's samples. If the model
 * is right, rows and samples have one distribution, and so have their likelihoods, whose
 * distributions are compared by the Kolmogorov-Smirnov distance,
 *
 *   D = sup_v |F(v) − G(v)|        P(D > c √(1/n + 1/m)) → 2 Σₖ (−1)ᵏ⁻¹ e^{−2k²c²} ≤ 2 e^{−2c²}
 *
 * for n rows and m samples. If likelihoods are equal, as those of one label are, D exceeds this
 * less often.
 */
import { fold, key as keyOf, permutation } from "diffeo/random";
import type { Cells, TableDistribution } from "./table-distribution.ts";

/** All ranks are equally likely if the model is right. */
export interface Calibration {
  /**
   * The share of samples that are less likely than each row, ascending; among equally likely
   * samples a row gets a random rank.
   */
  readonly ranks: readonly number[];
  /** The largest distance from the diagonal, and the value that chance exceeds in 1 of 20 cases. */
  readonly distance: number;
  readonly chance: number;
  /**
   * The value that chance exceeds in 1 of 16,000 cases, like four standard errors of a normal
   * number.
   */
  readonly clear: number;
  /**
   * Where the distance is largest: the shares of rows and of samples that are at most as likely as
   * a threshold.
   */
  readonly worst: { readonly rows: number; readonly samples: number };
}

/**
 * Likelihoods closer than this, in nats, count as equal: a graph of another size may round
 * differently.
 */
const ROUNDING = 1e-5;
/** c for 1 of 20 cases, and for 1 of 16,000: √(½ log(2/p)). */
const CHANCE = 1.36;
const CLEAR = 2.28;

const MOST_RANKED = 500;

/** Ranks of rows' likelihoods among those of samples. */
export function calibrationOf(rows: Float64Array, samples: Float64Array): Calibration {
  const [a, b] = [rows.toSorted(), samples.toSorted()];
  const [n, m] = [a.length, b.length];
  const next = (i: number, j: number): number => Math.min(a[i] ?? Infinity, b[j] ?? Infinity);
  const ranks: number[] = [];
  let worst = { rows: 0, samples: 0 };
  let distance = 0;
  for (let [i, j] = [0, 0]; i < n || j < m; ) {
    const [from, below] = [i, j];
    // Equal ones are adjacent. −∞, of likelihood zero, equals itself.
    let v: number;
    do v = i < n && !(a[i] > b[j]) ? a[i++] : b[j++];
    while (next(i, j) === v || next(i, j) - v < ROUNDING);
    for (let k = from; k < i; k++)
      ranks.push((below + ((j - below) * (k - from + 0.5)) / (i - from)) / m);
    const gap = Math.abs(i / n - j / m);
    if (gap > distance) [distance, worst] = [gap, { rows: i / n, samples: j / m }];
  }
  const unit = Math.sqrt(1 / n + 1 / m);
  return { ranks, distance, chance: CHANCE * unit, clear: CLEAR * unit, worst };
}

/** Number of samples for this many rows. */
export const rankedAmong = (rows: number): number => Math.min(MOST_RANKED, Math.max(100, rows));

/** Ranks of rows among samples of a distribution; at most 500 of each are scored. */
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
