/**
 * Gaussian processes at points x, with covariance K = k(x, x) + (σ² + jitter) I:
 *
 *   y ~ N(m, K)                                                     the function, or noisy values of it
 *   f(x*) | y ~ N(m* + K*ᵀK⁻¹(y − m),  K** − K*ᵀK⁻¹K*)              K* = k(x, x*), K** = k(x*, x*)
 *
 * With K = L Lᵀ and A = L⁻¹K*, the second is N(m* + Aᵀ L⁻¹(y − m), K** − AᵀA).
 */
import {
  add,
  cholesky,
  expandDims,
  eye,
  matmul,
  matvec,
  mul,
  type Operand,
  solve,
  square,
  sub,
  transpose,
} from "../graph/index.ts";
import { asTensor } from "../graph/tensor.ts";
import type { Kernel } from "./kernels.ts";
import { type MultivariateNormal, multivariateNormal, whiten } from "./multivariate-normal.ts";

/** Options of `gaussianProcess`: points, kernel, mean and noise. */
export interface GaussianProcessOptions {
  /** Points, [n] or [n, d]. */
  readonly x: Operand;
  /** The covariance function. */
  readonly kernel: Kernel;
  /** The mean at the points, or one number. Default 0. */
  readonly mean?: Operand;
  /** σ, the standard deviation of noise on each value. Default 0: the function itself. */
  readonly noise?: Operand;
  /** A number added to the diagonal for numerical stability. Default 10⁻⁹. */
  readonly jitter?: number;
}

const covarianceOf = ({ x, kernel, noise = 0, jitter = 1e-9 }: GaussianProcessOptions) => {
  const k = kernel(x, x);
  const diagonal = expandDims(expandDims(add(square(asTensor(noise, "float64")), jitter), -1), -1);
  return add(k, mul(eye(k.shape.at(-1) as number, "float64"), diagonal));
};

/**
 * The values of a Gaussian process at the points x. In `observe` it is the marginal likelihood, in
 * `parameter` the prior of the function's values.
 *
 * @example
 * import { model } from "diffeo/mcmc";
 *
 * export default model(({ parameter, observe }, data) => {
 *   const amplitude = parameter("amplitude", halfNormal(1));
 *   const scale = parameter("scale", gamma(3, 1));
 *   const kernel = squaredExponential({ amplitude, scale });
 *   observe("y", gaussianProcess({ x: data.x, kernel, noise: 0.1 }));
 * });
 */
export const gaussianProcess = (options: GaussianProcessOptions): MultivariateNormal =>
  multivariateNormal({ mean: options.mean, covariance: covarianceOf(options) });

/** Options of `gaussianProcessPrediction`: the process, its observations, and where to predict. */
export interface GaussianProcessPredictionOptions extends GaussianProcessOptions {
  /** The values observed at x. */
  readonly y: Operand;
  /** Points to predict at. */
  readonly at: Operand;
  /** The process's mean at these points. Default 0. */
  readonly meanAt?: Operand;
}

/** The distribution of the function at other points, given noisy values y at the points x. */
export function gaussianProcessPrediction(
  options: GaussianProcessPredictionOptions,
): MultivariateNormal {
  const { x, y, at, kernel, mean = 0, meanAt = 0, jitter = 1e-9 } = options;
  const l = cholesky(covarianceOf(options));
  const a = solve(l, kernel(x, at));
  const residual = whiten(l, sub(asTensor(y, "float64"), mean));
  const own = kernel(at, at);
  const left = add(
    sub(own, matmul(transpose(a), a)),
    mul(eye(own.shape.at(-1) as number, "float64"), jitter),
  );
  return multivariateNormal({
    mean: add(matvec(transpose(a), residual), meanAt),
    covariance: left,
  });
}
