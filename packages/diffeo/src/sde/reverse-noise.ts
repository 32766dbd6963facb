/**
 * The noise of a reversed process (app:wiener_invariance). The Wiener process that drives it
 * backwards in time has the increments
 *
 *   dW̄ = dW + h dt,   hₖ = (1/p) ∇·(p Gₖ) = Gₖᵀ∇log p + ∇·Gₖ      eq:dw_tilde_x
 *
 * where Gₖ are the columns of G. The same W̄ drives φ(X), because hₖ is the divergence of the
 * vector field Gₖ with respect to the measure p dx, which does not depend on coordinates. In y the
 * field is J Gₖ and the measure q dy, so (1/q) ∇·(q J Gₖ) at y = φ(x, t) equals hₖ at x.
 */
import { columnsOf, units } from "../bijector/coefficient.ts";
import { batchOf, eventOf } from "../bijector/event.ts";
import { add, expand, jvp, mul, reshape, sum, type Tensor, transpose } from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";
import { applyTransposed, dependsOnState, noiseShape } from "./diffusion.ts";
import { type MarginalScore, scoreAt } from "./score.ts";
import type { Sde } from "./sde.ts";

/**
 * The shift h(x, t) between the increments of the reverse-time Wiener process and the forward one,
 * dW̄ = dW + h dt: one number per column of G.
 *
 * @param score ∇ₓ log p_t
 */
export function reverseNoiseShift(sde: Sde, score: MarginalScore, x: Tensor, t: Tensor): Tensor {
  const event = eventOf(x, sde.eventRank);
  const g = sde.diffusion(x, t);
  const along = applyTransposed(g, scoreAt(score, x, t, sde.eventRank), event);
  if (!dependsOnState((z) => sde.diffusion(z, t), x)) return along;
  const n = sizeOf(event);
  const e = units(x, sde.eventRank);
  const wide = [n, ...x.shape];
  // ∂ᵢ of all columns, along a new axis after that of the columns: [k, n, ...batch, ...event].
  const [, slopes] = jvp(
    (z: Tensor) => columnsOf(sde.diffusion(z, t), z, sde.eventRank),
    expand(x, wide),
    expand(e, wide),
  );
  const eventAxes = event.map((_, i) => i - event.length);
  const divergences = sum(mul(slopes, e), [1, ...eventAxes]);
  const rank = divergences.shape.length;
  const columnsLast = transpose(
    divergences,
    [...Array(rank - 1).keys()].map((i) => i + 1).concat(0),
  );
  return add(along, reshape(columnsLast, [...batchOf(x, sde.eventRank), ...noiseShape(g, event)]));
}
