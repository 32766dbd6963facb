/**
 * The likelihood of the classes given x_t, site by site. Sites are noised independently, so with
 * the code points c_k and x_t = m c_k + σε at a site
 *
 *   ℓ_k = log p(x_t | k) − log Σⱼ p(x_t | j) = logSoftmaxₖ[(m/σ²)(x·c_k − ½ m|c_k|²)]
 *
 * and Bayes' rule over whole grids is
 *
 *   p(k₁ … k_S | x_t) ∝ p(k₁ … k_S) Π_s exp ℓ_s(k_s):
 *
 * ℓ holds all information that x_t and t have about the grid. A known site is one more likelihood,
 * 0 for its class and −∞ for others; the same function is then the posterior given the known sites.
 */
import {
  div,
  dot,
  expandDims,
  logSoftmax,
  matmul,
  maximum,
  mul,
  oneHot,
  square,
  sub,
  type Tensor,
  transpose,
  where,
} from "../graph/index.ts";

/** A lower bound on ℓ: e⁻²⁰ is negligible compared with the error of the network. */
const LEAST = -20;

/** Sites whose class is known. */
export interface KnownClasses {
  /** The class of every site, [batch, ...grid]; arbitrary where it is unknown. */
  readonly classes: Tensor;
  /** Where it is known, [batch, ...grid]. */
  readonly mask: Tensor;
}

/** ℓ of every class, [batch, ...grid, classes]. */
export function logLikelihoods(
  x: Tensor,
  codes: Tensor,
  { m, sigma }: { readonly m: Tensor; readonly sigma: Tensor },
): Tensor {
  const projected = matmul(x, transpose(codes));
  const half = mul(dot(codes, codes), 0.5);
  const log = mul(sub(projected, mul(m, half)), div(m, square(sigma)));
  return maximum(logSoftmax(log), LEAST);
}

/** ℓ with the likelihoods of known sites set. */
export function withKnown(log: Tensor, { classes, mask }: KnownClasses): Tensor {
  const count = log.shape.at(-1) as number;
  const own = mul(sub(oneHot(classes, count, log.dtype), 1), -LEAST);
  return where(expandDims(mask, -1), own, log);
}
