/**
 * Itô's lemma for y = φ(x, t), forward in time. With J and H of φ at x = φ⁻¹(y, t), and all
 * right-hand sides at (x, t):
 *
 *   f̃ = ∂ₜφ + J f + ½ Tr[GᵀHG]       eq:transformed_drift
 *   G̃ = J G                          eq:transformed_diffusion
 *
 * From y to x: f = J⁻¹(f̃ − ∂ₜφ) − ½ J⁻¹Tr[GᵀHG]. All functions take x, so a caller who steps in x
 * never inverts φ. Backwards in time the Itô term has the other sign (reverse-time-ito.ts).
 */
import {
  type Bijector,
  type Diffusion,
  itoTrace,
  pullItoTrace,
  pushDiffusion,
  pushVector,
} from "../bijector/index.ts";
import { add, constant, fail, input, mul, reference, sub, type Tensor } from "../graph/index.ts";
import { convert, toFloat64 } from "../graph/ndarray.ts";
import type { FloatArray } from "../random/index.ts";
import { pullScore } from "../score/index.ts";
import type { Prior } from "./prior.ts";
import { pullVelocity, pushVelocity } from "./probability-flow.ts";
import type { Sde } from "./sde.ts";
import { reversalOf } from "./time-reversal.ts";

/** The drift in y at φ(x, t), for drift f and diffusion G in x at x. */
export const pushDrift = (phi: Bijector, x: Tensor, f: Tensor, g: Diffusion, t: Tensor): Tensor =>
  add(pushVelocity(phi, x, f, t), mul(itoTrace(phi, x, g, t), 0.5));

/** The drift in x at x, for drift f̃ in y at φ(x, t) and diffusion G in x at x. */
export const pullDrift = (phi: Bijector, x: Tensor, f: Tensor, g: Diffusion, t: Tensor): Tensor =>
  sub(pullVelocity(phi, x, f, t), mul(pullItoTrace(phi, x, g, t), 0.5));

/** The drift f̃ of φ(X, t), at y = φ(x, t). */
export const pushedDrift = (sde: Sde, phi: Bijector, x: Tensor, t: Tensor): Tensor =>
  pushDrift(phi, x, sde.drift(x, t), sde.diffusion(x, t), t);

/** The diffusion coefficient G̃ = J G of φ(X, t), at y = φ(x, t), multiplied out. */
export const pushedDiffusion = (sde: Sde, phi: Bijector, x: Tensor, t: Tensor): Diffusion =>
  pushDiffusion(phi, x, sde.diffusion(x, t), t);

/** The SDE of Y = φ(X, t), forward in time, by Itô's lemma. It can be reversed, or pushed again. */
export function push(sde: Sde, phi: Bijector): Sde {
  requireSameEvent(sde, phi);
  return {
    name: `${phi.name} of ${sde.name}`,
    eventRank: phi.eventRank,
    horizon: sde.horizon,
    drift: (y, t) => pushedDrift(sde, phi, phi.inverse(y, t), t),
    diffusion: (y, t) => pushedDiffusion(sde, phi, phi.inverse(y, t), t),
    // Claim: G̃G̃ᵀs_y + ∇_y·(G̃G̃ᵀ) = Tr[GᵀHG] + J(GGᵀs_x + ∇ₓ·(GGᵀ)) with s_x = Jᵀs_y + ∇ₓℓ
    // (Theorem 1, pulled back), by the claim of `pushedCovarianceDivergence`. Automatic
    // differentiation through φ⁻¹ would lose digits near a boundary.
    reversal: (y, score, t) => {
      const x = phi.inverse(y, t);
      const inX = reversalOf(sde, x, pullScore(phi, x, score, t), t);
      return add(itoTrace(phi, x, sde.diffusion(x, t), t), pushVector(phi, x, inX, t));
    },
    ...(sde.prior && { prior: pushPrior(sde.prior, phi, sde.horizon) }),
  };
}

/** The distribution of φ(X_T, T):  log q_T(y) = log p_T(x) − log|det J_φ(x, T)|, x = φ⁻¹(y, T). */
export const pushPrior = (prior: Prior, phi: Bijector, horizon: number): Prior => ({
  sample: (keys, event, dtype) => {
    const start = prior.sample(keys, event, dtype);
    const x = input("x", start.shape, "float64");
    const y = phi.forward(x, constant(horizon, "float64"));
    const [data] = reference([y], new Map([[x, toFloat64(start.data)]]));
    return { shape: y.shape, dtype, data: convert(data, dtype) } as FloatArray;
  },
  logDensity: (y) => {
    const t = constant(horizon, y.dtype);
    const x = phi.inverse(y, t);
    return sub(prior.logDensity(x), phi.logDet(x, t));
  },
});

export function requireSameEvent(sde: Sde, phi: Bijector): void {
  if (sde.eventRank !== phi.eventRank)
    fail(
      "usage",
      `${sde.name} has eventRank ${sde.eventRank}, ${phi.name} has ${phi.eventRank}`,
      "build both with the same eventRank",
    );
}
