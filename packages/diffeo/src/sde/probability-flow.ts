/**
 * The probability flow, an ordinary differential equation dx = v dt with the marginals p_t:
 *
 *   v = f − ½ G Gᵀ s − ½ ∇·(G Gᵀ),      through y = φ(x, t)   v̂ = ∂ₜφ + J v
 *
 * by the chain rule, without an Itô term. From y to x: v = J⁻¹(v̂ − ∂ₜφ).
 */
import { type Bijector, pullVector, pushVector, timeDerivative } from "../bijector/index.ts";
import { add, mul, sub, type Tensor } from "../graph/index.ts";
import { type MarginalScore, scoreAt } from "./score.ts";
import type { Sde } from "./sde.ts";
import { reversalOf } from "./time-reversal.ts";

/** The velocity v(x, t) of the probability flow of an SDE with the given score. */
export const flowVelocity = (sde: Sde, score: MarginalScore, x: Tensor, t: Tensor): Tensor =>
  sub(sde.drift(x, t), mul(reversalOf(sde, x, scoreAt(score, x, t, sde.eventRank), t), 0.5));

/** The velocity J v + ∂ₜφ of y = φ(x, t), for the velocity v of x. */
export const pushVelocity = (phi: Bijector, x: Tensor, v: Tensor, t: Tensor): Tensor => {
  const moved = pushVector(phi, x, v, t);
  return phi.timeDependent ? add(moved, timeDerivative(phi, x, t)) : moved;
};

/** The velocity J⁻¹(v̂ − ∂ₜφ) of x, for the velocity v̂ of y = φ(x, t). */
export const pullVelocity = (phi: Bijector, x: Tensor, v: Tensor, t: Tensor): Tensor =>
  pullVector(phi, x, phi.timeDependent ? sub(v, timeDerivative(phi, x, t)) : v, t);

/** The velocity v̂ of the probability flow in y, at y = φ(x, t). */
export const pushedVelocity = (
  sde: Sde,
  phi: Bijector,
  score: MarginalScore,
  x: Tensor,
  t: Tensor,
): Tensor => pushVelocity(phi, x, flowVelocity(sde, score, x, t), t);
