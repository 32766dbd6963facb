/**
 * The contract of a process in x-space, forward in time (eq:forward_sde):
 *
 *   dX = f(X, t) dt + G(X, t) dW,   0 ≤ t ≤ T
 *
 * The last `eventRank` axes are the event, everything before them is batch; t has shape [] or that
 * of the batch.
 * A custom SDE is such an object: a drift and a diffusion; nothing else is required.
 */
import type { Diffusion } from "../bijector/index.ts";
import type { Tensor } from "../graph/index.ts";
import type { Prior } from "./prior.ts";

/**
 * X_t | X_0 = x₀ is N(m(t) x₀, σ(t)² I): what denoising score matching, resampling and log-SNR
 * grids need.
 */
export interface Transition {
  /** m(t) */
  readonly meanFactor: (t: Tensor) => Tensor;
  /** σ(t) */
  readonly std: (t: Tensor) => Tensor;
  /** The time at which σ/m has a value, where there is a closed form (`timeAtRatio`). */
  readonly timeAt?: (ratio: Tensor) => Tensor;
}

/** A stochastic differential equation dx = f dt + G dw on [0, T]. */
export interface Sde {
  readonly name: string;
  /** How many trailing axes make one event. */
  readonly eventRank: number;
  /** T, the time at which the reverse process starts. */
  readonly horizon: number;
  /** f(x, t) */
  readonly drift: (x: Tensor, t: Tensor) => Tensor;
  /** G(x, t): one number, one a coordinate, or a matrix; it may depend on x. */
  readonly diffusion: (x: Tensor, t: Tensor) => Diffusion;
  /**
   * G Gᵀ s + ∇·(G Gᵀ) for a score s, where it is known better than by autodiff of the diffusion.
   */
  readonly reversal?: (x: Tensor, score: Tensor, t: Tensor) => Tensor;
  readonly transition?: Transition;
  /** The distribution of X_T that a sampler starts from. */
  readonly prior?: Prior;
}

/** One whose transition is known, as that of all SDEs of this folder is. */
export interface GaussianSde extends Sde {
  readonly transition: Transition;
}
