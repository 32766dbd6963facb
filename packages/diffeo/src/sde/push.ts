/**
 * A process seen through y = φ(x, t). With J and H of φ at x = φ⁻¹(y, t), and all right-hand sides at (x, t):
 *
 *   f̃ = ∂ₜφ + J f + ½ Tr[GᵀHG]       eq:transformed_drift, forward
 *   f̂ = ∂ₜφ + J f̄ − ½ Tr[GᵀHG]       eq:transformed_reverse_drift, the reverse-time Itô lemma
 *   v̂ = ∂ₜφ + J v                    the probability flow: an ordinary equation, so no Itô term
 *   G̃ = J G                          eq:transformed_diffusion
 *
 * The sign of the Itô term follows the clock: d⟨W⟩ = |dt|, which is dt forward and −dt in reverse.
 * These are functions of x, the point whose image is meant: a caller who steps in x never inverts φ.
 */
import {
  type Bijector,
  type Diffusion,
  itoTrace,
  pushDiffusion,
  pushVector,
  timeDerivative,
} from "../bijector/index.ts";
import { add, constant, fail, input, mul, reference, sub, type Tensor } from "../graph/index.ts";
import { convert, toFloat64 } from "../graph/ndarray.ts";
import type { FloatArray } from "../random/index.ts";
import { pullScore } from "../score/index.ts";
import type { Prior } from "./prior.ts";
import { flowVelocity, reversalOf, reverseDrift } from "./reverse.ts";
import type { MarginalScore, Sde } from "./sde.ts";

/** J v + ∂ₜφ: how y moves when x moves along v. */
export const pushVelocity = (phi: Bijector, x: Tensor, v: Tensor, t: Tensor): Tensor => {
  const moved = pushVector(phi, x, v, t);
  return phi.timeDependent ? add(moved, timeDerivative(phi, x, t)) : moved;
};

/** f̃ at y = φ(x, t) */
export const pushedDrift = (sde: Sde, phi: Bijector, x: Tensor, t: Tensor): Tensor =>
  add(pushVelocity(phi, x, sde.drift(x, t), t), mul(itoTrace(phi, x, sde.diffusion(x, t), t), 0.5));

/** f̂ at y = φ(x, t) */
export const pushedReverseDrift = (sde: Sde, phi: Bijector, score: MarginalScore, x: Tensor, t: Tensor): Tensor =>
  sub(pushVelocity(phi, x, reverseDrift(sde, score, x, t), t), mul(itoTrace(phi, x, sde.diffusion(x, t), t), 0.5));

/** v̂ at y = φ(x, t) */
export const pushedVelocity = (sde: Sde, phi: Bijector, score: MarginalScore, x: Tensor, t: Tensor): Tensor =>
  pushVelocity(phi, x, flowVelocity(sde, score, x, t), t);

/** G̃ at y = φ(x, t) */
export const pushedDiffusion = (sde: Sde, phi: Bijector, x: Tensor, t: Tensor): Diffusion =>
  pushDiffusion(phi, x, sde.diffusion(x, t), t);

/** The SDE of Y = φ(X, t), forward in time: itself an SDE that can be reversed, or pushed again. */
export function push(sde: Sde, phi: Bijector): Sde {
  requireSameEvent(sde, phi);
  return {
    name: `${phi.name} of ${sde.name}`,
    eventRank: phi.eventRank,
    horizon: sde.horizon,
    drift: (y, t) => pushedDrift(sde, phi, phi.inverse(y, t), t),
    diffusion: (y, t) => pushedDiffusion(sde, phi, phi.inverse(y, t), t),
    // Claim: G̃G̃ᵀs_y + ∇_y·(G̃G̃ᵀ) = Tr[GᵀHG] + J(GGᵀs_x + ∇ₓ·(GGᵀ)) with s_x = Jᵀs_y + ∇ₓℓ (theorem 1, pulled back), by the claim of
    // `pushedCovarianceDivergence`. Autodiff through φ⁻¹ would lose what y has no room for near a boundary.
    reversal: (y, score, t) => {
      const x = phi.inverse(y, t);
      const inX = reversalOf(sde, x, pullScore(phi, x, score, t), t);
      return add(itoTrace(phi, x, sde.diffusion(x, t), t), pushVector(phi, x, inX, t));
    },
    ...(sde.prior && { prior: pushPrior(sde.prior, phi, sde.horizon) }),
  };
}

/** The law of φ(X_T, T):  log q_T(y) = log p_T(x) − log|det J_φ(x, T)|, x = φ⁻¹(y, T). */
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
      `${sde.name} has events of rank ${sde.eventRank}, ${phi.name} of rank ${phi.eventRank}`,
      "build both with the same eventRank",
    );
}
