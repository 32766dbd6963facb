/**
 * Quantities derived from a map's three functions. With J = ∂φ/∂x, H_i = ∂²φᵢ/∂x², ℓ = log|det J|:
 *
 *   pushVector   J v      tangents travel with φ        pullCovector  Jᵀu    gradients travel against it
 *   pullVector   J⁻¹v                                   pushCovector  J⁻ᵀu
 *   gradLogDet   ∇ₓℓ      itoTrace  Σₖ D²φ[Gₖ, Gₖ]       timeDerivative  ∂ₜφ
 *
 * Each is the map's closed form if it has one, else it is computed by automatic differentiation.
 * J⁻¹ is then the Jacobian of φ⁻¹ at φ(x), whose accuracy is limited by the rounding of y: near the
 * boundary of a bounded domain a closed form in x is more accurate.
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

/** The Jacobian-vector product J v at x. Batch axes of x and v broadcast. */
export function pushVector(phi: Bijector, at: Tensor, vector: Tensor, time?: Tensor): Tensor {
  const { x, v, t } = aligned(phi, at, time, vector);
  return phi.pushVector?.(x, v, t) ?? jvp((z: Tensor) => phi.forward(z, t), x, v)[1];
}

/** The vector-Jacobian product Jᵀ u at x. */
export function pullCovector(phi: Bijector, at: Tensor, covector: Tensor, time?: Tensor): Tensor {
  const { x, v: u, t } = aligned(phi, at, time, covector);
  return phi.pullCovector?.(x, u, t) ?? vjp((z: Tensor) => phi.forward(z, t), x)[1](u);
}

/** J⁻¹ v at x; for embeddings J⁺ v. */
export function pullVector(phi: Bijector, at: Tensor, vector: Tensor, time?: Tensor): Tensor {
  const { x, v, t } = aligned(phi, at, time, vector);
  if (phi.pullVector) return phi.pullVector(x, v, t);
  const y = phi.forward(x, t);
  if (sameShape(y.shape, x.shape)) return jvp((z: Tensor) => phi.inverse(z, t), y, v)[1];
  // J⁺ = (JᵀJ)⁻¹Jᵀ. The derivative of φ⁻¹ cannot be used, because φ⁻¹ is arbitrary outside the
  // image.
  return solveGram(phi, x, pullCovector(phi, x, v, t), t);
}

/** J⁻ᵀ u at x; for embeddings (J⁺)ᵀ u. */
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

/**
 * The dense Jacobian J, […, m, n], where m and n are the numbers of coordinates of the flattened
 * events y and x.
 */
export function jacobianOf(phi: Bijector, at: Tensor, time?: Tensor): Tensor {
  const { x, t } = aligned(phi, at, time);
  return matrixOf(pushVector(phi, x, units(x, phi.eventRank), t), phi.eventRank);
}

/** The gradient ∇ₓ log|det J|. */
export function gradLogDet(phi: Bijector, at: Tensor, time?: Tensor): Tensor {
  const { x, t } = aligned(phi, at, time);
  return phi.gradLogDet?.(x, t) ?? grad((z: Tensor) => sum(phi.logDet(z, t)))(x);
}

/** The Itô term Tr[GᵀHG] = Σₖ D²φ[Gₖ, Gₖ], the sum of second derivatives along the columns of G. */
export function itoTrace(phi: Bijector, at: Tensor, diffusion: Diffusion, time?: Tensor): Tensor {
  const { x, t } = aligned(phi, at, time);
  if (phi.itoTrace) return phi.itoTrace(x, diffusion, t);
  const slope = (z: Tensor, v: Tensor): Tensor => jvp((w: Tensor) => phi.forward(w, t), z, v)[1];
  if (phi.coordinatewise) {
    // Hᵢ has one entry, φᵢ″; a single derivative along (1, …, 1) gives them all.
    const ones = filled(x.shape, 1, x.dtype);
    const second = jvp((z: Tensor) => slope(z, ones), x, ones)[1];
    return mul(second, rowSquares(diffusion, eventOf(x, phi.eventRank)));
  }
  const columns = columnsOf(diffusion, x, phi.eventRank);
  const points = expand(x, columns.shape);
  return sum(jvp((z: Tensor) => slope(z, columns), points, columns)[1], 0);
}

/**
 * The Itô term as a drift in x, J⁻¹Tr[GᵀHG]. It is finite also near the boundary, where Tr[GᵀHG]
 * vanishes and J⁻¹ is unbounded.
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

/** ∂ₜφ(x, t) at fixed x; zeros if φ does not depend on t. */
export function timeDerivative(phi: Bijector, at: Tensor, time: Tensor): Tensor {
  const { x } = aligned(phi, at, time);
  if (!phi.timeDependent) return filled(phi.forward(x).shape, 0, x.dtype);
  return (
    phi.timeDerivative?.(x, time) ?? jvp((s: Tensor) => phi.forward(x, s), time, onesLike(time))[1]
  );
}

/**
 * The diffusion coefficient in y, G̃ = J G (`eq:transformed_diffusion`). It is diagonal if φ acts
 * on each coordinate alone and G is not a matrix.
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

/** The diffusion coefficient in x, J⁻¹ G, of a G given in y, at y = φ(x). */
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
 * ∇_y·(G̃G̃ᵀ) of G̃ = J G at y = φ(x), computed from ∇ₓ·(GGᵀ). Nothing is differentiated through
 * φ⁻¹, so no digits are lost near a boundary.
 *
 *   Claim:  ∇_y·(JAJᵀ) = Tr[GᵀHG] + J(∇ₓ·A + A∇ₓℓ),   A = GGᵀ
 *   Proof:  ∂/∂yⱼ = Σₖ (J⁻¹)ₖⱼ∂ₖ, and Σⱼ (J⁻¹)ₖⱼ Jⱼᵦ = δₖᵦ, so Σⱼₖ (J⁻¹)ₖⱼ ∂ₖ(JᵢₐAₐᵦJⱼᵦ) = ∂ᵦ(JᵢₐAₐᵦ) + JᵢₐAₐᵦ cᵦ with
 *           cᵦ = Σⱼₖ (J⁻¹)ₖⱼ ∂ₖJⱼᵦ = Tr(J⁻¹∂ᵦJ) = ∂ᵦℓ, as ∂ₖJⱼᵦ = ∂ᵦJⱼₖ; and ∂ᵦ(JᵢₐAₐᵦ) = (Hᵢ)ₐᵦAₐᵦ + Jᵢₐ(∇ₓ·A)ₐ.  ∎
 *
 * For embeddings, with J⁺ instead of J⁻¹, it is the divergence along the image: Tr(J⁺∂ᵦJ) = ½∂ᵦ log
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
 * Whether each y is in the image of φ, one bool per event: by the map's own `contains`, else by
 * whether φ⁻¹(y) is finite. For an embedding, y must also equal φ(φ⁻¹(y)).
 */
export function contains(phi: Bijector, at: Tensor, time?: Tensor): Tensor {
  const { x: y, t } = aligned(phi, at, time);
  if (phi.contains) return phi.contains(y, t);
  const x = phi.inverse(y, t);
  // NaN compares as false, so an event is inside if all its coordinates are below a bound.
  const below = (v: Tensor, bound: number): Tensor =>
    everyCoordinate(less(abs(flattenEvent(v, phi.eventRank)), bound), y.dtype);
  const finite = below(x, Number.POSITIVE_INFINITY);
  if (sameShape(x.shape, y.shape)) return finite;
  return logicalAnd(finite, below(sub(phi.forward(x, t), y), y.dtype === "float32" ? 1e-5 : 1e-12));
}

/**
 * The same map without its closed forms, so that all derivatives are by automatic differentiation.
 */
export function withoutClosedForms(phi: Bijector): Bijector {
  const { name, eventRank, forward, inverse, logDet } = phi;
  return { name, eventRank, forward, inverse, logDet, timeDependent: phi.timeDependent ?? false };
}
