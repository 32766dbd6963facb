/**
 * The probability flow, an ordinary equation dx = v dt that carries p_t along:
 *
 *   v = f − ½ G Gᵀ s − ½ ∇·(G Gᵀ),      through y = φ(x, t)   v̂ = ∂ₜφ + J v
 *
 * the chain rule, with no Itô term. Read from y to x it is v = J⁻¹(v̂ − ∂ₜφ).
 */
import { type Bijector, pullVector, pushVector, timeDerivative } from "../bijector/index.ts";
import { add, mul, sub, type Tensor } from "../graph/index.ts";
import { type MarginalScore, scoreAt } from "./score.ts";
import type { Sde } from "./sde.ts";
import { reversalOf } from "./time-reversal.ts";

/** v(x, t) */
export const flowVelocity = (sde: Sde, score: MarginalScore, x: Tensor, t: Tensor): Tensor =>
  sub(sde.drift(x, t), mul(reversalOf(sde, x, scoreAt(score, x, t, sde.eventRank), t), 0.5));

/** J v + ∂ₜφ: how y moves when x moves along v. */
export const pushVelocity = (phi: Bijector, x: Tensor, v: Tensor, t: Tensor): Tensor => {
  const moved = pushVector(phi, x, v, t);
  return phi.timeDependent ? add(moved, timeDerivative(phi, x, t)) : moved;
};

/** J⁻¹(v̂ − ∂ₜφ): how x moves when y = φ(x, t) moves along v̂. */
export const pullVelocity = (phi: Bijector, x: Tensor, v: Tensor, t: Tensor): Tensor =>
  pullVector(phi, x, phi.timeDependent ? sub(v, timeDerivative(phi, x, t)) : v, t);

/** v̂ at y = φ(x, t) */
export const pushedVelocity = (
  sde: Sde,
  phi: Bijector,
  score: MarginalScore,
  x: Tensor,
  t: Tensor,
): Tensor => pushVelocity(phi, x, flowVelocity(sde, score, x, t), t);
