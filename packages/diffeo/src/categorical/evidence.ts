/**
 * What x_t says of the classes, site by site. Sites are noised independently, so with the code
 * points c_k and x_t = m c_k + σε at a site
 *
 *   ℓ_k = log p(x_t | k) − log Σⱼ p(x_t | j) = logSoftmaxₖ[(m/σ²)(x·c_k − ½ m|c_k|²)]
 *
 * and Bayes' rule over whole grids is
 *
 *   p(k₁ … k_S | x_t) ∝ p(k₁ … k_S) Π_s exp ℓ_s(k_s):
 *
 * all that x_t, t and the noise say of the grid is in ℓ. A known site is one more likelihood, 0 for
 * its class and −∞ for others; the same function is then the posterior given what is known.
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

/** The least that ℓ is taken to be: e⁻²⁰ is nothing beside the network's own error. */
const LEAST = -20;

/** Sites whose class is known. */
export interface KnownClasses {
  /** The class of every site, [batch, ...grid]; where it is not known, any. */
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

/** ℓ with that of known sites put in. */
export function withKnown(log: Tensor, { classes, mask }: KnownClasses): Tensor {
  const count = log.shape.at(-1) as number;
  const own = mul(sub(oneHot(classes, count, log.dtype), 1), -LEAST);
  return where(expandDims(mask, -1), own, log);
}
