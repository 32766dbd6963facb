/**
 * Time reversal, in the space where the score is known:
 *
 *   f̄ = f − G Gᵀ s − ∇·(G Gᵀ)              eq:reverse_drift
 *
 * with s = ∇ₓ log p_t. In reverse t decreases from T to 0, so dt < 0, and dX̄ = f̄ dt + G dW̄,
 * where dW̄ has the variance |dt|.
 */
import { eventOf } from "../bijector/event.ts";
import { add, sub, type Tensor } from "../graph/index.ts";
import { applyCovariance, covarianceDivergence, dependsOnState } from "./diffusion.ts";
import { type MarginalScore, scoreAt } from "./score.ts";
import type { Sde } from "./sde.ts";

/**
 * G Gᵀ s + ∇·(G Gᵀ) = ∇·(G Gᵀ p)/p. The reverse drift subtracts this from f, the probability flow
 * half of it.
 */
export function reversalOf(sde: Sde, x: Tensor, score: Tensor, t: Tensor): Tensor {
  if (sde.reversal) return sde.reversal(x, score, t);
  const diffusion = (z: Tensor) => sde.diffusion(z, t);
  const along = applyCovariance(diffusion(x), score, eventOf(x, sde.eventRank));
  if (!dependsOnState(diffusion, x)) return along;
  return add(along, covarianceDivergence(diffusion, x, sde.eventRank));
}

/** The reverse drift f̄(x, t) = f − G Gᵀ s − ∇·(G Gᵀ) of an SDE with the given score. */
export const reverseDrift = (sde: Sde, score: MarginalScore, x: Tensor, t: Tensor): Tensor =>
  sub(sde.drift(x, t), reversalOf(sde, x, scoreAt(score, x, t, sde.eventRank), t));
