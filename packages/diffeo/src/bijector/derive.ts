/**
 * What a map's three functions determine. J = ∂φ/∂x, H_i = ∂²φᵢ/∂x², ℓ = log|det J|:
 *
 *   pushVector   J v      tangents travel with φ        pullCovector  Jᵀu    gradients travel against it
 *   pullVector   J⁻¹v                                   pushCovector  J⁻ᵀu
 *   gradLogDet   ∇ₓℓ      itoTrace  Σₖ D²φ[Gₖ, Gₖ]       timeDerivative  ∂ₜφ
 *
 * Each is the map's closed form where it has one and autodiff elsewhere. J⁻¹ is then the Jacobian
 * of φ⁻¹ at φ(x),
 * as accurate as y leaves room for: near the boundary of a bounded domain a closed form, written in
 * x, does better.
 */
import {
  abs,
  add,
  expand,
  grad,
  jvp,
  less,
  logicalAnd,
  matmul,
  mul,
  onesLike,
  reshape,
  solve,
  sub,
  sum,
  type Tensor,
  transpose,
  vjp,
} from "../graph/index.ts";
import { sameShape } from "../graph/ndarray.ts";
import type { Bijector, Diffusion } from "./bijector.ts";
import {
  applyPlainCovariance,
  columnsOf,
  matrixOf,
  movedDiffusion,
  rowSquares,
  units,
} from "./coefficient.ts";
import { aligned, batchOf, eventOf, everyCoordinate, filled, flattenEvent } from "./event.ts";

/** J v. Batch axes of x and v broadcast. */
export function pushVector(phi: Bijector, at: Tensor, vector: Tensor, time?: Tensor): Tensor {
  const { x, v, t } = aligned(phi, at, time, vector);
  return phi.pushVector?.(x, v, t) ?? jvp((z: Tensor) => phi.forward(z, t), x, v)[1];
}

/** Jᵀ u */
export function pullCovector(phi: Bijector, at: Tensor, covector: Tensor, time?: Tensor): Tensor {
  const { x, v: u, t } = aligned(phi, at, time, covector);
  return phi.pullCovector?.(x, u, t) ?? vjp((z: Tensor) => phi.forward(z, t), x)[1](u);
}

/** J⁻¹ v, or J⁺ v where φ embeds. */
export function pullVector(phi: Bijector, at: Tensor, vector: Tensor, time?: Tensor): Tensor {
  const { x, v, t } = aligned(phi, at, time, vector);
  if (phi.pullVector) return phi.pullVector(x, v, t);
  const y = phi.forward(x, t);
  if (sameShape(y.shape, x.shape)) return jvp((z: Tensor) => phi.inverse(z, t), y, v)[1];
  // J⁺ = (JᵀJ)⁻¹Jᵀ: the inverse off the image is arbitrary, so its derivative there is no guide.
  return solveGram(phi, x, pullCovector(phi, x, v, t), t);
}

/** J⁻ᵀ u, or (J⁺)ᵀ u where φ embeds. */
export function pushCovector(phi: Bijector, at: Tensor, covector: Tensor, time?: Tensor): Tensor {
  const { x, v: u, t } = aligned(phi, at, time, covector);
  if (phi.pushCovector) return phi.pushCovector(x, u, t);
  const y = phi.forward(x, t);
  if (sameShape(y.shape, x.shape)) return vjp((z: Tensor) => phi.inverse(z, t), y)[1](u);
  return pushVector(phi, x, solveGram(phi, x, u, t), t); // (J⁺)ᵀ = J (JᵀJ)⁻¹
}

/** (JᵀJ)⁻¹ u */
function solveGram(phi: Bijector, x: Tensor, u: Tensor, t: Tensor | undefined): Tensor {
  const j = jacobianOf(phi, x, t);
  const column = reshape(u, [...batchOf(u, phi.eventRank), j.shape.at(-1) as number, 1]);
  return reshape(solve(matmul(transpose(j), j), column), u.shape);
}

/** J, dense: […, m, n], where m and n count the coordinates of the flattened events y and x. */
export function jacobianOf(phi: Bijector, at: Tensor, time?: Tensor): Tensor {
  const { x, t } = aligned(phi, at, time);
  return matrixOf(pushVector(phi, x, units(x, phi.eventRank), t), phi.eventRank);
}

/** ∇ₓ log|det J| */
export function gradLogDet(phi: Bijector, at: Tensor, time?: Tensor): Tensor {
  const { x, t } = aligned(phi, at, time);
  return phi.gradLogDet?.(x, t) ?? grad((z: Tensor) => sum(phi.logDet(z, t)))(x);
}

/** Tr[GᵀHG] = Σₖ D²φ[Gₖ, Gₖ], the sum of second derivatives along the columns of G. */
export function itoTrace(phi: Bijector, at: Tensor, diffusion: Diffusion, time?: Tensor): Tensor {
  const { x, t } = aligned(phi, at, time);
  if (phi.itoTrace) return phi.itoTrace(x, diffusion, t);
  const slope = (z: Tensor, v: Tensor): Tensor => jvp((w: Tensor) => phi.forward(w, t), z, v)[1];
  if (phi.coordinatewise) {
    // Hᵢ has one entry, φᵢ″: a single derivative along (1, …, 1) finds them all.
    const ones = filled(x.shape, 1, x.dtype);
    const second = jvp((z: Tensor) => slope(z, ones), x, ones)[1];
    return mul(second, rowSquares(diffusion, eventOf(x, phi.eventRank)));
  }
  const columns = columnsOf(diffusion, x, phi.eventRank);
  const points = expand(x, columns.shape);
  return sum(jvp((z: Tensor) => slope(z, columns), points, columns)[1], 0);
}

/**
 * J⁻¹Tr[GᵀHG], a drift in x: a number also near the boundary, where Tr[GᵀHG] vanishes and J⁻¹ grows
 * without bound.
 */
export function pullItoTrace(
  phi: Bijector,
  at: Tensor,
  diffusion: Diffusion,
  time?: Tensor,
): Tensor {
  const { x, t } = aligned(phi, at, time);
  return (
    phi.pullItoTrace?.(x, diffusion, t) ?? pullVector(phi, x, itoTrace(phi, x, diffusion, t), t)
  );
}

/** ∂ₜφ(x, t) at fixed x; zeros where φ does not depend on t. */
export function timeDerivative(phi: Bijector, at: Tensor, time: Tensor): Tensor {
  const { x } = aligned(phi, at, time);
  if (!phi.timeDependent) return filled(phi.forward(x).shape, 0, x.dtype);
  return (
    phi.timeDerivative?.(x, time) ?? jvp((s: Tensor) => phi.forward(x, s), time, onesLike(time))[1]
  );
}

/**
 * G̃ = J G (`eq:transformed_diffusion`), diagonal where φ acts on each coordinate alone and G does
 * too.
 */
export function pushDiffusion(
  phi: Bijector,
  at: Tensor,
  diffusion: Diffusion,
  time?: Tensor,
): Diffusion {
  const { x, t } = aligned(phi, at, time);
  return movedDiffusion(diffusion, x, phi.eventRank, phi.coordinatewise ?? false, (v) =>
    pushVector(phi, x, v, t),
  );
}

/** J⁻¹ G for a G given in y, at y = φ(x). */
export function pullDiffusion(
  phi: Bijector,
  at: Tensor,
  diffusion: Diffusion,
  time?: Tensor,
): Diffusion {
  const { x, t } = aligned(phi, at, time);
  const y = phi.forward(x, t);
  return movedDiffusion(diffusion, y, phi.eventRank, phi.coordinatewise ?? false, (v) =>
    pullVector(phi, x, v, t),
  );
}

/**
 * ∇_y·(G̃G̃ᵀ) of G̃ = J G at y = φ(x), from ∇ₓ·(GGᵀ): nothing is differentiated through φ⁻¹, and
 * near a boundary no digit is lost.
 *
 *   Claim:  ∇_y·(JAJᵀ) = Tr[GᵀHG] + J(∇ₓ·A + A∇ₓℓ),   A = GGᵀ
 *   Proof:  ∂/∂yⱼ = Σₖ (J⁻¹)ₖⱼ∂ₖ, and Σⱼ (J⁻¹)ₖⱼ Jⱼᵦ = δₖᵦ, so Σⱼₖ (J⁻¹)ₖⱼ ∂ₖ(JᵢₐAₐᵦJⱼᵦ) = ∂ᵦ(JᵢₐAₐᵦ) + JᵢₐAₐᵦ cᵦ with
 *           cᵦ = Σⱼₖ (J⁻¹)ₖⱼ ∂ₖJⱼᵦ = Tr(J⁻¹∂ᵦJ) = ∂ᵦℓ, as ∂ₖJⱼᵦ = ∂ᵦJⱼₖ; and ∂ᵦ(JᵢₐAₐᵦ) = (Hᵢ)ₐᵦAₐᵦ + Jᵢₐ(∇ₓ·A)ₐ.  ∎
 *
 * Where φ embeds, J⁺ in place of J⁻¹ makes it the divergence along the image: Tr(J⁺∂ᵦJ) = ½∂ᵦ log
 * det JᵀJ = ∂ᵦℓ too.
 */
export function pushedCovarianceDivergence(
  phi: Bijector,
  at: Tensor,
  diffusion: Diffusion,
  divergenceX: Tensor,
  time?: Tensor,
): Tensor {
  const { x, t } = aligned(phi, at, time);
  const weighted = applyPlainCovariance(
    diffusion,
    gradLogDet(phi, x, t),
    eventOf(x, phi.eventRank),
  );
  return add(itoTrace(phi, x, diffusion, t), pushVector(phi, x, add(divergenceX, weighted), t));
}

/**
 * Whether each y is in the image of φ, one bool an event: where φ⁻¹(y) is a finite number, unless φ
 * knows better. An image that is thinner than its space holds only what φ leads back to.
 */
export function contains(phi: Bijector, at: Tensor, time?: Tensor): Tensor {
  const { x: y, t } = aligned(phi, at, time);
  if (phi.contains) return phi.contains(y, t);
  const x = phi.inverse(y, t);
  // NaN compares as false: an event is inside where all of its coordinates are below a bound.
  const below = (v: Tensor, bound: number): Tensor =>
    everyCoordinate(less(abs(flattenEvent(v, phi.eventRank)), bound), y.dtype);
  const finite = below(x, Number.POSITIVE_INFINITY);
  if (sameShape(x.shape, y.shape)) return finite;
  return logicalAnd(finite, below(sub(phi.forward(x, t), y), y.dtype === "float32" ? 1e-5 : 1e-12));
}

/** The same map with its three functions alone: autodiff derives the rest. */
export function withoutClosedForms(phi: Bijector): Bijector {
  const { name, eventRank, forward, inverse, logDet } = phi;
  return { name, eventRank, forward, inverse, logDet, timeDependent: phi.timeDependent ?? false };
}
