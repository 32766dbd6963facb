/**
 * Processes under a map v that is not invertible. For Y = v(X) with dX = f dt + G dW, Itô's lemma
 * gives
 *
 *   dY = Lv dt + ∇vᵀG dW,   Lvⱼ = ∇vⱼᵀf + ½ Σₖ Gₖᵀ Hⱼ Gₖ
 *
 * which is not an equation in Y alone. The process with drift and covariance
 *
 *   b(y, t) = E[Lv | Y = y],   a(y, t) = E[∇vᵀ G Gᵀ ∇v | Y = y]
 *
 * has the same marginals as Y (I. Gyöngy, 1986): for a test function h, d/dt E h(Y) = E[∇hᵀLv + ½
 * Tr(∇²h ∇vᵀGGᵀ∇v)], and conditioning on Y gives b and a. So its reversal
 *
 *   b̄ = b − a ∇log q − ∇·a
 *
 * has the distribution of v(X₀) at t = 0, with ∇log q from the corollary Rⁿ → R or trained in y. If
 * Lv and ∇vᵀGGᵀ∇v are functions of y, as in statistic.ts, the process is Y itself, and paths agree
 * too. Otherwise only the marginals at each time agree.
 */
import { columnsOf } from "../bijector/coefficient.ts";
import {
  add,
  expand,
  expandDims,
  jvp,
  log,
  matmul,
  mul,
  onesLike,
  sum,
  type Tensor,
  transpose,
} from "../graph/index.ts";
import type { GaussianSde, Sde } from "./sde.ts";
import type { Rates, Statistic } from "./statistic.ts";

/**
 * The SDE of Y = v(X), for an SDE whose drift is linear and whose noise is isotropic, as those of
 * `sdes`.
 *
 * The result has no prior: start a reverse process from v of samples of X's prior.
 *
 * @example
 * const sde = project(vp(), squaredRadius(3));
 * const process = reverse(sde, score); // the score of the projected density
 */
export function project(
  { name, horizon, transition, diffusion }: GaussianSde,
  statistic: Statistic,
): Sde {
  const rates = (y: Tensor, t: Tensor): Rates => ({
    c: jvp((s: Tensor) => log(transition.meanFactor(s)), t, onesLike(t))[1],
    g: diffusion(y, t).value,
  });
  return {
    name: `${statistic.name} of ${name}`,
    eventRank: 1,
    horizon,
    drift: (y, t) => statistic.drift(y, rates(y, t)),
    diffusion: (y, t) => statistic.diffusion(y, rates(y, t)),
  };
}

/** The result of `projectAt`: drift and covariance of v(X) at points x. */
export interface Projected {
  /** Lv, [..., k] */
  readonly drift: Tensor;
  /** ∇vᵀ G Gᵀ ∇v, [..., k, k] */
  readonly covariance: Tensor;
}

/**
 * The drift and the covariance of v(X) at points x by Itô's lemma, for any SDE on vectors and any
 * smooth v from [..., n] to [..., k]. Their conditional means given v(x) = y define the process
 * that `project` returns in closed form and `learnProjection` estimates.
 */
export function projectAt(sde: Sde, v: (x: Tensor) => Tensor, x: Tensor, t: Tensor): Projected {
  const columns = columnsOf(sde.diffusion(x, t), x, 1);
  const wide = expand(x, columns.shape);
  const along = (z: Tensor): Tensor => jvp(v, z, columns)[1];
  const [moved, bent] = jvp(along, wide, columns);
  const [, pushed] = jvp(v, x, sde.drift(x, t));
  const outer = matmul(expandDims(moved, -1), transpose(expandDims(moved, -1)));
  return { drift: add(pushed, mul(sum(bent, 0), 0.5)), covariance: sum(outer, 0) };
}
