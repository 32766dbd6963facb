/**
 * Adaptation of step sizes by stochastic approximation (H. Robbins and S. Monro, 1951), with one of
 * two rules:
 *
 *   constant gain     log ε ← log ε + gain·(accepted share − wanted share)
 *   dual averaging    log ε_m = μ − √m/γ · 1/(m + t₀) Σ (δ − α_i),
 *                     log ε̄_m = m^{−κ} log ε_m + (1 − m^{−κ}) log ε̄_{m−1}
 *
 * The first follows a target that moves along a path of distributions, and uses the accepted share
 * of many chains (walk.ts). The second, by M. Hoffman and A. Gelman (2014), converges for one chain
 * and one distribution (adaptive-chain.ts). A step size that depends on the chain's past does not
 * leave p invariant, so both are fixed after the warm-up.
 */

export interface StepSizeRule {
  /** The target share of accepted moves. Default 0.75. */
  readonly targetAcceptance?: number;
  /** Default 0.4. */
  readonly gain?: number;
  /** Bounds of ε. Default 0 and ∞. */
  readonly least?: number;
  readonly most?: number;
}

/**
 * The step size after a transition with the given share of accepted moves: ε e^{gain (share −
 * target)}, within the bounds.
 */
export function adaptedStepSize(size: number, share: number, rule: StepSizeRule = {}): number {
  const { targetAcceptance = 0.75, gain = 0.4, least = 0, most = Number.POSITIVE_INFINITY } = rule;
  return Math.min(most, Math.max(least, size * Math.exp(gain * (share - targetAcceptance))));
}

export interface DualAverageState {
  readonly centre: number;
  readonly count: number;
  readonly error: number;
  readonly logSize: number;
  readonly logMean: number;
}

export class DualAverage {
  readonly #target: number;
  state: DualAverageState;

  constructor(target: number, state: DualAverageState = around(1)) {
    this.#target = target;
    this.state = state;
  }

  /** Restarts around a size. */
  restart(size: number): void {
    this.state = around(size);
  }

  /** Adds the acceptance of one transition. */
  add(acceptance: number): void {
    const { centre, count, error: before, logMean } = this.state;
    const m = count + 1;
    const error = before + (this.#target - acceptance - before) / (m + 10);
    const logSize = centre - (error * Math.sqrt(m)) / 0.05;
    this.state = {
      centre,
      count: m,
      error,
      logSize,
      logMean: logMean + m ** -0.75 * (logSize - logMean),
    };
  }

  /** The size to try next. */
  get size(): number {
    return Math.exp(this.state.logSize);
  }

  /** The size to keep. */
  get settled(): number {
    return Math.exp(this.state.count === 0 ? this.state.logSize : this.state.logMean);
  }
}

/** Starts ten times larger, because large steps are cheap to try. */
const around = (size: number): DualAverageState => ({
  centre: Math.log(10 * size),
  count: 0,
  error: 0,
  logSize: Math.log(size),
  logMean: 0,
});
