/**
 * Chains that the warm-up left in a region without mass, found by comparison with the other chains
 * of their block.
 *
 * Chains are compared after half of the warm-up. Over the quarter before, chain c has the mean m_c
 * of log p and the variances s²_c,i of its n free coordinates. If the region of the chain were
 * Gaussian with these variances, its mass would be ∫ p = e^{m + n/2} ∏ (2π s²_i)^½, because the
 * mean of log p is log p_max − n/2. So
 *
 *   log mass of c ≈ m_c + ½ Σ_i log s²_c,i        (the same constant for all chains)
 *
 * which takes into account that a wide region of low density may hold as much as a narrow one of
 * high density. Correlations, which the product of variances ignores, change it by ½ log det R: up
 * to some nats per coordinate. A chain is stray where its mass is below e^{−10−3n} of the greatest
 * mass, and where it is stuck (`isStuck`), or at least two chains, and half of those that are not
 * stuck, are within that factor of the greatest mass. Stuck chains and single chains are not
 * evidence against others: a spike of the density may hold them. Modes that share the mass stay as
 * they are, and R̂ reports them.
 *
 * A stray chain takes over the point and the adaptation of a chain that is not stray, keeps its own
 * random numbers, and has the rest of the warm-up to move away. Draws after the warm-up are never
 * compared, so they are those of a fixed kernel.
 */
import { type CovarianceState, RunningCovariance } from "./warmup.ts";

/** A restart: a chain was moved to another chain's position in the warm-up. */
export interface Restart {
  /** Completed transitions at that time. */
  readonly done: number;
  /** The number of the chain whose position it took, counted from 0. */
  readonly from: number;
  /** Mean log-density, in free coordinates, where the chain was. */
  readonly logDensity: number;
  /** Mean log-density, in free coordinates, where the other chain was. */
  readonly logDensityThere: number;
}

/** Statistics of a chain in the quarter before the comparison. */
export interface RegionState {
  /** The sum of log p. */
  readonly total: number;
  /** Transitions that diverged. */
  readonly diverged: number;
  /** Moments of the points. */
  readonly points: CovarianceState;
}

/** The region of a chain: the mean of log p and the variances of its coordinates. */
export class Region {
  readonly #points: RunningCovariance;
  #total: number;
  #diverged: number;

  constructor(n: number, state?: RegionState) {
    this.#points = new RunningCovariance(n, false, state?.points);
    this.#total = state?.total ?? 0;
    this.#diverged = state?.diverged ?? 0;
  }

  get state(): RegionState {
    return { total: this.#total, diverged: this.#diverged, points: this.#points.state };
  }

  add(x: Float64Array, value: number, diverged: boolean): void {
    this.#points.add(x);
    this.#total += value;
    if (diverged) this.#diverged++;
  }

  /** The mean of log p. */
  get level(): number {
    return this.#total / this.#points.state.count;
  }

  /**
   * Whether the chain cannot move: most of its transitions diverged, or its points are all equal,
   * or log p is so low that differences of 1 are lost in rounding and all proposals seem equal.
   */
  get isStuck(): boolean {
    const { count } = this.#points.state;
    return (
      2 * this.#diverged > count ||
      this.logMass === Number.NEGATIVE_INFINITY ||
      Math.abs(this.level) > 2 ** 52
    );
  }

  /** log ∫ p of the region, up to a constant that all chains share; −∞ if all points are equal. */
  get logMass(): number {
    const { count, squares } = this.#points.state;
    const logs = squares.reduce((sum, s) => sum + Math.log(s / count), 0);
    const mass = this.level + 0.5 * logs;
    return Number.isNaN(mass) ? Number.NEGATIVE_INFINITY : mass;
  }
}

/**
 * The least warm-up in which chains are compared, so that a restarted chain has time to move away.
 */
const LEAST_WARMUP = 100;

/**
 * After how many transitions chains are compared; undefined if they are not. In the first quarter
 * of a warm-up many chains are still on the way from a distant start.
 */
export const comparisonOf = (warmup: number): number | undefined =>
  warmup < LEAST_WARMUP ? undefined : Math.floor(warmup / 2);

/**
 * For each chain the index of the chain whose position it should take; undefined if it stays.
 *
 * @param regions of the chains of a block
 * @param n coordinates
 */
export function placesToTake(
  regions: readonly Pick<Region, "logMass" | "isStuck">[],
  n: number,
): readonly (number | undefined)[] {
  const free = [...regions.keys()].filter((c) => !regions[c].isStuck);
  const least = Math.max(...free.map((c) => regions[c].logMass)) - 10 - 3 * n;
  const good = free.filter((c) => regions[c].logMass >= least);
  const agree = good.length >= 2 && 2 * good.length >= free.length;
  let strays = 0;
  return regions.map(({ logMass, isStuck }) =>
    good.length > 0 && Number.isFinite(least) && logMass < least && (isStuck || agree)
      ? good[strays++ % good.length]
      : undefined,
  );
}
