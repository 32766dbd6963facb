/**
 * The interface of a process in x, forward in time (eq:forward_sde):
 *
 *   dX = f(X, t) dt + G(X, t) dW,   0 ≤ t ≤ T
 *
 * The last `eventRank` axes are the event, the axes before them are the batch. t has shape [] or
 * that of the batch. A custom SDE is an object with this interface; drift and diffusion are enough
 * for most uses.
 */
import type { Diffusion } from "../bijector/index.ts";
import type { Tensor } from "../graph/index.ts";
import type { Prior } from "./prior.ts";

/**
 * A Gaussian transition, X_t | X_0 = x₀ ~ N(m(t) x₀, σ(t)² I). Denoising score matching, resampling
 * and log-SNR grids need it.
 */
export interface Transition {
  /** The mean factor m(t). */
  readonly meanFactor: (t: Tensor) => Tensor;
  /** The standard deviation σ(t). */
  readonly std: (t: Tensor) => Tensor;
  /**
   * The time at which σ/m has a given value, if there is a closed form. Default: found numerically.
   */
  readonly timeAt?: (ratio: Tensor) => Tensor;
}

/** A stochastic differential equation dX = f dt + G dW on [0, T]. */
export interface Sde {
  readonly name: string;
  /** The number of trailing axes of one event. */
  readonly eventRank: number;
  /** T, the time at which the reverse process starts. */
  readonly horizon: number;
  /** The drift f(x, t). */
  readonly drift: (x: Tensor, t: Tensor) => Tensor;
  /**
   * The diffusion coefficient G(x, t): one number, one per coordinate, or a matrix. It may depend
   * on x.
   */
  readonly diffusion: (x: Tensor, t: Tensor) => Diffusion;
  /**
   * G Gᵀ s + ∇·(G Gᵀ) for a score s, if there is a more accurate form than automatic
   * differentiation of the diffusion.
   */
  readonly reversal?: (x: Tensor, score: Tensor, t: Tensor) => Tensor;
  readonly transition?: Transition;
  /** The distribution of X_T, from which samplers start. */
  readonly prior?: Prior;
}

/** An SDE with a Gaussian transition, such as `vp`, `ve` and `edm`. */
export interface GaussianSde extends Sde {
  readonly transition: Transition;
}
