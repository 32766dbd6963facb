/**
 * The inverse ψ = φ⁻¹ as a map. With x = ψ(y):
 *
 *   J_ψ = J⁻¹     log|det J_ψ| = −ℓ(x)     ∇_y log|det J_ψ| = −J⁻ᵀ∇ₓℓ     (`grad_log_det_identity`)
 *   φ(ψ(y)) = y differentiated twice along g:  D²φ[J⁻¹g, J⁻¹g] + J D²ψ[g, g] = 0
 *   and in time:                               ∂ₜφ + J ∂ₜψ = 0
 *
 * An embedding has no inverse outside its image, so φ must not be one.
 */
import { neg, type Tensor } from "../graph/index.ts";
import type { Bijector } from "./bijector.ts";
import {
  gradLogDet,
  itoTrace,
  pullCovector,
  pullDiffusion,
  pullItoTrace,
  pullVector,
  pushCovector,
  pushVector,
  timeDerivative,
} from "./derive.ts";

/**
 * The inverse of a map as a map. The inverse of an embedding is defined only on its image; it does
 * not check that points are in it.
 */
export function invert(phi: Bijector): Bijector {
  const back = (y: Tensor, t?: Tensor): Tensor => phi.inverse(y, t);
  return {
    name: `inverse of ${phi.name}`,
    eventRank: phi.eventRank,
    timeDependent: phi.timeDependent ?? false,
    coordinatewise: phi.coordinatewise ?? false,
    forward: back,
    inverse: (x, t) => phi.forward(x, t),
    logDet: (y, t) => neg(phi.logDet(back(y, t), t)),
    pushVector: (y, v, t) => pullVector(phi, back(y, t), v, t),
    pullCovector: (y, u, t) => pushCovector(phi, back(y, t), u, t),
    pullVector: (y, v, t) => pushVector(phi, back(y, t), v, t),
    pushCovector: (y, u, t) => pullCovector(phi, back(y, t), u, t),
    gradLogDet: (y, t) => {
      const x = back(y, t);
      return neg(pushCovector(phi, x, gradLogDet(phi, x, t), t));
    },
    itoTrace: (y, diffusion, t) => {
      const x = back(y, t);
      return neg(pullItoTrace(phi, x, pullDiffusion(phi, x, diffusion, t), t));
    },
    pullItoTrace: (y, diffusion, t) => {
      const x = back(y, t);
      return neg(itoTrace(phi, x, pullDiffusion(phi, x, diffusion, t), t));
    },
    timeDerivative: (y, t) => {
      const x = back(y, t);
      return neg(pullVector(phi, x, timeDerivative(phi, x, t), t));
    },
  };
}
