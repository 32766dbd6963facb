/**
 * A U-Net as the score of noised codes. A site of class k is the code point c_k; x_t = m(t) x₀ + σ(t) ε, and Tweedie's
 * formula turns what the network gives into the score:
 *
 *   noise      ε̂(x, t)          s = −ε̂/σ
 *   posterior  p̂(k | x, t)      s = (m Σₖ p̂ₖ c_k − x)/σ²     13 logits a site, trained by cross-entropy
 */
import { alignToEvent } from "../bijector/index.ts";
import {
  add,
  constant,
  div,
  dot,
  expand,
  logSoftmax,
  matmul,
  mean,
  mul,
  type NdArray,
  neg,
  oneHot,
  softmax,
  square,
  sub,
  type Tensor,
  take,
} from "../graph/index.ts";
import { type UNet, type UNetOptions, unet } from "../model/unet.ts";
import type { MarginalScore, Sde } from "../sde/index.ts";

export type Parameterisation = "noise" | "posterior";

export interface Denoiser {
  readonly network: UNetOptions;
  readonly parameterisation: Parameterisation;
  /** Code points in standardised coordinates, [classes, n]. */
  readonly codes: NdArray;
  readonly sde: Sde;
}

/** Axes of one event: rows, columns, channels. */
const EVENT = 3;

const transitionOf = ({ sde }: Denoiser, t: Tensor) => {
  if (!sde.transition) throw new Error("internal: a denoiser needs a Gaussian transition");
  return {
    m: alignToEvent(sde.transition.meanFactor(t), EVENT),
    sigma: alignToEvent(sde.transition.std(t), EVENT),
  };
};

/** ∇ log p_t with the given parameters, for x [batch, rows, columns, n] and t of shape [] or [batch]. */
export const denoiserScore =
  (denoiser: Denoiser, parameters: UNet<Tensor>): MarginalScore =>
  (x, t) => {
    const { m, sigma } = transitionOf(denoiser, t);
    const out = unet(parameters, x, expand(t, x.shape.slice(0, 1)), denoiser.network);
    if (denoiser.parameterisation === "noise") return neg(div(out, sigma));
    const expected = matmul(softmax(out), constant(denoiser.codes, x.dtype));
    return div(sub(mul(m, expected), x), square(sigma));
  };

/** The denoising loss of a batch: classes [batch, rows, columns], times [batch], noise [batch, rows, columns, n]. */
export function denoiserLoss(
  denoiser: Denoiser,
  parameters: UNet<Tensor>,
  classes: Tensor,
  t: Tensor,
  noise: Tensor,
): Tensor {
  const { m, sigma } = transitionOf(denoiser, t);
  const x0 = take(constant(denoiser.codes, noise.dtype), classes);
  const x = add(mul(m, x0), mul(sigma, noise));
  const out = unet(parameters, x, t, denoiser.network);
  if (denoiser.parameterisation === "noise") return mean(square(sub(out, noise)));
  const target = oneHot(classes, denoiser.codes.shape[0], out.dtype);
  return neg(mean(dot(target, logSoftmax(out))));
}
