/**
 * A diffusion coefficient G acting on noise and on scores: G w, Gᵀ u, G Gᵀ u, and the divergence
 *
 *   ∇·(G Gᵀ) = Σⱼ ∂ⱼ(G Gᵀ eⱼ),   a vector: the term of eq:reverse_drift that vanishes when G does not depend on x.
 */
import { applyCovariance, applyDiffusion, applyTransposed, units } from "../bijector/coefficient.ts";
import { eventOf } from "../bijector/event.ts";
import type { Diffusion } from "../bijector/index.ts";
import { expand, gradEach, input, jvp, type Shape, square, sum, type Tensor, zerosLike } from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";

export { applyCovariance, applyDiffusion, applyTransposed };

/** The shape of one event's noise: the event's own, or the number of columns of a matrix. */
export const noiseShape = (g: Diffusion, event: Shape): Shape =>
  g.kind === "matrix" ? [g.value.shape.at(-1) as number] : event;

/** Whether G changes with x; where it does not, its derivatives are left out rather than computed as zeros. */
export function dependsOnState(diffusion: (x: Tensor) => Diffusion, x: Tensor): boolean {
  const probe = input("x", x.shape, x.dtype);
  const seen = new Set<Tensor>();
  const open = [diffusion(probe).value];
  for (let t = open.pop(); t; t = open.pop()) {
    if (t === probe) return true;
    if (seen.has(t)) continue;
    seen.add(t);
    open.push(...t.inputs);
  }
  return false;
}

/** ∇·(G Gᵀ) at x. */
export function covarianceDivergence(diffusion: (x: Tensor) => Diffusion, x: Tensor, eventRank: number): Tensor {
  if (!dependsOnState(diffusion, x)) return zerosLike(x);
  // G = g I:  Σⱼ ∂ⱼ(g² eⱼ) = ∇g²
  if (diffusion(x).kind === "scalar") return gradEach((z) => square(diffusion(z).value))(x);
  const event = eventOf(x, eventRank);
  const wide = [sizeOf(event), ...x.shape];
  const e = expand(units(x, eventRank), wide);
  return sum(jvp((z: Tensor) => applyCovariance(diffusion(z), e, event), expand(x, wide), e)[1], 0);
}
