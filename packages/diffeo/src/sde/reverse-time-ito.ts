/**
 * The reverse-time Itô lemma (thm:Reverse_Time_Ito_Lemma): if dX̄ = f̄ dt + G dW̄ runs backwards
 * from T, then y = φ(x, t) has dȲ = f̂ dt + G̃ dW̄ with G̃ = J G and
 *
 *   f̂ = ∂ₜφ + J f̄ − ½ Tr[GᵀHG]       eq:transformed_reverse_drift
 *
 * at x = φ⁻¹(y, t). It is Itô's lemma with the opposite sign of its last term: that term comes with
 * d⟨W̄⟩ = |dt|, which is −dt in reverse. It holds for any f̄; with f̄ = f − GGᵀs − ∇·(GGᵀ) it is
 * the reverse of φ(X), by Reverse(φ(X)) ≡ φ(Reverse(X)). From y to x: f̄ = J⁻¹(f̂ − ∂ₜφ) + ½
 * J⁻¹Tr[GᵀHG].
 */
import { type Bijector, type Diffusion, itoTrace, pullItoTrace } from "../bijector/index.ts";
import { add, mul, sub, type Tensor } from "../graph/index.ts";
import { pullVelocity, pushVelocity } from "./probability-flow.ts";
import type { MarginalScore } from "./score.ts";
import type { Sde } from "./sde.ts";
import { reverseDrift } from "./time-reversal.ts";

/**
 * The reverse-time Itô lemma: the drift in y at φ(x, t) of a process that runs backwards with drift
 * f̄ and diffusion G in x at x.
 */
export const pushReverseDrift = (
  phi: Bijector,
  x: Tensor,
  f: Tensor,
  g: Diffusion,
  t: Tensor,
): Tensor => sub(pushVelocity(phi, x, f, t), mul(itoTrace(phi, x, g, t), 0.5));

/**
 * The drift in x at x of a process that runs backwards with drift f̂ in y at φ(x, t) and diffusion
 * G in x at x.
 */
export const pullReverseDrift = (
  phi: Bijector,
  x: Tensor,
  f: Tensor,
  g: Diffusion,
  t: Tensor,
): Tensor => add(pullVelocity(phi, x, f, t), mul(pullItoTrace(phi, x, g, t), 0.5));

/** The reverse drift f̂ of φ(X, t), at y = φ(x, t), for an SDE whose score is known in x. */
export const pushedReverseDrift = (
  sde: Sde,
  phi: Bijector,
  score: MarginalScore,
  x: Tensor,
  t: Tensor,
): Tensor => pushReverseDrift(phi, x, reverseDrift(sde, score, x, t), sde.diffusion(x, t), t);
