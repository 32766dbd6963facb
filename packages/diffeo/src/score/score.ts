/**
 * Theorem 1 (`thm:multi_dimensional`): how scores travel through a map y = φ(x), with ℓ(x) =
 * log|det J_φ(x)|.
 *
 *   log q(y) = log p(x) − ℓ(x)
 *   ∇ᵧ log q(y) = J⁻ᵀ(∇ₓ log p(x) − ∇ₓ ℓ(x))          push
 *   ∇ₓ log p(x) = Jᵀ∇ᵧ log q(y) + ∇ₓ ℓ(x)             pull
 *
 * The paper's second term ∇ₓ·(J_{φ⁻¹}(φ(x))ᵀ) equals ∇ᵧ log|det J_{φ⁻¹}(y)| = −J⁻ᵀ∇ₓℓ, which is
 * cheaper: one gradient of a number instead of a divergence of a matrix. All functions take the
 * point as x, where both sides are accurate.
 *
 * Where φ embeds (a sphere), q is the density with respect to area on the image, and its score is
 * the gradient along the image: J⁻ᵀ is then (J⁺)ᵀ. Scores of a composition are pushed one map after
 * the other, or through their `chain`.
 */
import { type Bijector, gradLogDet, pullCovector, pushCovector } from "../bijector/index.ts";
import { add, sub, type Tensor } from "../graph/index.ts";

/** A score as a function, of x and perhaps of time. */
export type Score = (x: Tensor, t?: Tensor) => Tensor;

/** ∇ᵧ log q at y = φ(x), from ∇ₓ log p at x. */
export const pushScore = (phi: Bijector, x: Tensor, scoreX: Tensor, t?: Tensor): Tensor =>
  pushCovector(phi, x, sub(scoreX, gradLogDet(phi, x, t)), t);

/** ∇ₓ log p at x, from ∇ᵧ log q at y = φ(x). */
export const pullScore = (phi: Bijector, x: Tensor, scoreY: Tensor, t?: Tensor): Tensor =>
  add(pullCovector(phi, x, scoreY, t), gradLogDet(phi, x, t));

/** log q at y = φ(x), from log p at x. */
export const pushLogDensity = (phi: Bijector, x: Tensor, logDensityX: Tensor, t?: Tensor): Tensor =>
  sub(logDensityX, phi.logDet(x, t));

/** log p at x, from log q at y = φ(x). */
export const pullLogDensity = (phi: Bijector, x: Tensor, logDensityY: Tensor, t?: Tensor): Tensor =>
  add(logDensityY, phi.logDet(x, t));

/** The score of φ(X) as a function of y. */
export const pushedScore =
  (phi: Bijector, scoreX: Score): Score =>
  (y, t) => {
    const x = phi.inverse(y, t);
    return pushScore(phi, x, scoreX(x, t), t);
  };

/** The score of φ⁻¹(Y) as a function of x. */
export const pulledScore =
  (phi: Bijector, scoreY: Score): Score =>
  (x, t) =>
    pullScore(phi, x, scoreY(phi.forward(x, t), t), t);
