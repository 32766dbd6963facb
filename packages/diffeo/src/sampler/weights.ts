/** Weights of particles as logarithms, their resampling, and the result. */
import { fail, type NdArray } from "../graph/index.ts";
import { pickRows } from "../host/index.ts";
import { fold, type Key, uniform } from "../random/index.ts";
import type { Samples } from "./options.ts";

/** Particles, their weights and effective sample sizes. */
export interface Weighed {
  /**
   * Samples of the posterior, [particles, ...event] in the space of the process: `points` resampled
   * by their weights.
   */
  readonly samples: Samples;
  /** The weighted particles. */
  readonly points: Samples;
  /** Their weights, which sum to one. */
  readonly weights: Float64Array;
  /**
   * The effective sample size of the weights, (Σw)²/Σw². It does not account for common ancestors
   * of particles.
   */
  readonly ess: number;
  /** The effective sample size before each step, and at the end. */
  readonly essBySteps: readonly number[];
  /** The steps, counted from 0, before which particles were resampled. */
  readonly resampled: readonly number[];
  /** How many of the initial particles are ancestors of the final ones. */
  readonly ancestors: number;
  /** log p(observation), including the constants of the likelihood. */
  readonly logEvidence: number;
}

/**
 * Before the end ψ must not be 0, because an impossible x̂₀ may still become a possible point. Such
 * a particle is treated as e times less likely than the least likely of the others; only the last ψ
 * may be 0.
 */
export function aboveZero(psi: NdArray): NdArray {
  const values = psi.data as Float64Array;
  const least = values.reduce(
    (a, v) => (v > Number.NEGATIVE_INFINITY && v < a ? v : a),
    Number.POSITIVE_INFINITY,
  );
  const floor = least === Number.POSITIVE_INFINITY ? 0 : least - 1;
  return { ...psi, data: values.map((v) => (v === Number.NEGATIVE_INFINITY ? floor : v)) };
}

/** Logarithms of weights, and their resampling. */
export class Cloud {
  readonly essBySteps: number[] = [];
  readonly resampled: number[] = [];
  readonly #log: Float64Array;
  readonly #threshold: number;
  readonly #key: Key;
  #lineage: Uint32Array;
  #evidence = 0;

  constructor(count: number, threshold: number, key: Key) {
    this.#log = new Float64Array(count);
    this.#threshold = threshold;
    this.#key = key;
    this.#lineage = Uint32Array.from({ length: count }, (_, i) => i);
  }

  /** Multiplies weights by e^{±v}. */
  gain({ data }: NdArray, sign: number, where: string): void {
    const values = data as Float64Array;
    for (let i = 0; i < values.length; i++) {
      this.#log[i] += sign * values[i];
      if (Number.isNaN(this.#log[i]) || this.#log[i] === Number.POSITIVE_INFINITY)
        fail(
          "numerical",
          `the log-likelihood of particle ${i} is ${values[i]} (${where})`,
          "return a number, or −∞ if the observation is impossible",
        );
    }
  }

  /** Weights that sum to one, their effective sample size, and the logarithm of their mean. */
  #normalised(): { weights: Float64Array; ess: number; logMean: number } {
    const most = this.#log.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    if (most === Number.NEGATIVE_INFINITY)
      fail(
        "numerical",
        "the observation is impossible for every particle",
        "use more particles, or a likelihood that is positive everywhere",
      );
    const weights = this.#log.map((v) => Math.exp(v - most));
    const total = weights.reduce((a, b) => a + b, 0);
    const squares = weights.reduce((a, b) => a + b * b, 0);
    return {
      weights: weights.map((w) => w / total),
      ess: (total * total) / squares,
      logMean: most + Math.log(total / weights.length),
    };
  }

  /** The parents of the next generation, if particles are to be resampled. */
  drawAnew(step: number): Uint32Array | undefined {
    const { weights, ess, logMean } = this.#normalised();
    this.essBySteps.push(ess);
    if (!(ess < this.#threshold * weights.length)) return undefined;
    const parents = systematic(weights, this.#number(step));
    this.resampled.push(step);
    this.#evidence += logMean;
    this.#log.fill(0);
    this.#lineage = parents.map((p) => this.#lineage[p]);
    return parents;
  }

  /** A number between 0 and 1 that is a function of the key and the step. */
  #number(step: number | "last"): number {
    return uniform(fold(this.#key, step), [1], { dtype: "float64" }).data[0];
  }

  /** The result for the last points. */
  end(points: Samples): Weighed {
    const { weights, ess, logMean } = this.#normalised();
    return {
      samples: pickRows(points, systematic(weights, this.#number("last"))) as Samples,
      points,
      weights,
      ess,
      essBySteps: [...this.essBySteps, ess],
      resampled: this.resampled,
      ancestors: new Set(this.#lineage).size,
      logEvidence: this.#evidence + logMean,
    };
  }
}

/**
 * Systematic resampling: the index of each particle occurs as often as its weight times the number
 * of particles, rounded down or up.
 */
export function systematic(weights: Float64Array, u: number): Uint32Array {
  const n = weights.length;
  let [i, sum] = [0, weights[0]];
  return Uint32Array.from({ length: n }, (_, k) => {
    while (sum < (k + u) / n && i + 1 < n) sum += weights[++i];
    return i;
  });
}
