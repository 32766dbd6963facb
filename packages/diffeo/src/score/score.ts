/**
 * Theorem 1 (`thm:multi_dimensional`): the change of variables for scores. For y = φ(x) and ℓ(x) =
 * log|det J_φ(x)|,
 *
 *   log q(y) = log p(x) − ℓ(x)
 *   ∇ᵧ log q(y) = J⁻ᵀ(∇ₓ log p(x) − ∇ₓ ℓ(x))          push
 *   ∇ₓ log p(x) = Jᵀ∇ᵧ log q(y) + ∇ₓ ℓ(x)             pull
 *
 * The paper's second term ∇ₓ·(J_{φ⁻¹}(φ(x))ᵀ) equals ∇ᵧ log|det J_{φ⁻¹}(y)| = −J⁻ᵀ∇ₓℓ, which is
 * cheaper: the gradient of a number instead of the divergence of a matrix. All functions take the
 * point x, not y, because both sides are accurate there.
 *
 * For an embedding, such as that of a sphere, q is the density with respect to area on the image,
 * and its score is the gradient along the image, with (J⁺)ᵀ instead of J⁻ᵀ. Scores can be pushed
 * through one map after the other, or through their `chain`.
 */
import { type Bijector, gradLogDet, pullCovector, pushCovector } from "../bijector/index.ts";
import { add, sub, type Tensor } from "../graph/index.ts";

/** A score function ∇ log p of x and, optionally, of time. */
export type Score = (x: Tensor, t?: Tensor) => Tensor;

/** The score ∇ᵧ log q at y = φ(x), from the score ∇ₓ log p at x (Theorem 1). */
export const pushScore = (phi: Bijector, x: Tensor, scoreX: Tensor, t?: Tensor): Tensor =>
  pushCovector(phi, x, sub(scoreX, gradLogDet(phi, x, t)), t);

/** The score ∇ₓ log p at x, from the score ∇ᵧ log q at y = φ(x) (Theorem 1). */
export const pullScore = (phi: Bijector, x: Tensor, scoreY: Tensor, t?: Tensor): Tensor =>
  add(pullCovector(phi, x, scoreY, t), gradLogDet(phi, x, t));

/** The log-density log q at y = φ(x), from log p at x. */
export const pushLogDensity = (phi: Bijector, x: Tensor, logDensityX: Tensor, t?: Tensor): Tensor =>
  sub(logDensityX, phi.logDet(x, t));

/** The log-density log p at x, from log q at y = φ(x). */
export const pullLogDensity = (phi: Bijector, x: Tensor, logDensityY: Tensor, t?: Tensor): Tensor =>
  add(logDensityY, phi.logDet(x, t));

/** The score of φ(X) as a function of y, from the score of X. */
export const pushedScore =
  (phi: Bijector, scoreX: Score): Score =>
  (y, t) => {
    const x = phi.inverse(y, t);
    return pushScore(phi, x, scoreX(x, t), t);
  };

/** The score of φ⁻¹(Y) as a function of x, from the score of Y. */
export const pulledScore =
  (phi: Bijector, scoreY: Score): Score =>
  (x, t) =>
    pullScore(phi, x, scoreY(phi.forward(x, t), t), t);
