/**
 * All processes with transitions N(m(t) x₀, σ(t)² I) are equal up to a time-dependent scaling of
 * space and a change of time. Z = X/m(t) has Z | x₀ ~ N(x₀, r² I) with the noise ratio r = σ/m. For
 * two of them, let u(t) be the time at which the second has the noise ratio of the first at t:
 *
 *   y = φ(x, t) = m₂(u)/m₁(t) x,   r₂(u) = r₁(t)
 *
 * and by Theorem 1, whose second term vanishes because φ is linear,
 *
 *   s₂(y, u) = a s₁(a y, t),   a = m₁(t)/m₂(u).
 *
 * VP, VE, sub-VP, EDM and the interpolant of flow matching are related in this way.
 */
import { alignToEvent, type Bijector, timeAffine } from "../bijector/index.ts";
import {
  add,
  constant,
  div,
  fill,
  input,
  jvp,
  less,
  log,
  mul,
  onesLike,
  reference,
  stopGradient,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import { gaussianPrior } from "./prior.ts";
import type { MarginalScore } from "./score.ts";
import type { GaussianSde } from "./sde.ts";

/** r(t) = σ(t)/m(t), which increases with t. */
export const noiseRatio = ({ transition: { meanFactor, std } }: GaussianSde, t: Tensor): Tensor =>
  div(std(t), meanFactor(t));

/** Bisections of [0, T] down to the resolution of float64. */
const HALVINGS = 52;

/**
 * The time at which an SDE has the given noise ratio: by its closed form, otherwise by bisection
 * and two steps of Newton's method on log r. The bisection is not differentiated. Each step of
 * Newton's method from a root doubles the order of the correct derivatives, so those up to the
 * third are correct.
 */
export function timeAtRatio(sde: GaussianSde, ratio: Tensor): Tensor {
  if (sde.transition.timeAt) return sde.transition.timeAt(ratio);
  const target = stopGradient(ratio);
  let low = fill(ratio.shape, 0, ratio.dtype);
  let width = sde.horizon;
  for (let i = 0; i < HALVINGS; i++) {
    width /= 2;
    const middle = add(low, width);
    low = where(less(noiseRatio(sde, middle), target), middle, low);
  }
  let t = stopGradient(add(low, width / 2));
  for (let i = 0; i < 2; i++) {
    const [at, slope] = jvp((s: Tensor) => log(noiseRatio(sde, s)), t, onesLike(t));
    t = sub(t, div(sub(at, log(ratio)), slope));
  }
  return t;
}

/** The change of time u(t): the time at which `to` has the noise ratio that `from` has at t. */
export const clock = (from: GaussianSde, to: GaussianSde, t: Tensor): Tensor =>
  timeAtRatio(to, noiseRatio(from, t));

/**
 * The map φ(x, t) = m₂(u)/m₁(t) x from the process of one SDE to that of another at the time u(t)
 * of `clock`. For events that are vectors.
 *
 * @example
 * // These two processes have the same paths, at the times u(t) of the second.
 * reversePush(vp(), rescaling(vp(), ve()), score);
 * reverse(ve(), carry(score, { from: vp(), to: ve() }).score);
 */
export const rescaling = (from: GaussianSde, to: GaussianSde): Bijector => ({
  ...timeAffine({
    scale: (t) => div(to.transition.meanFactor(clock(from, to, t)), from.transition.meanFactor(t)),
  }),
  name: `${from.name} as ${to.name}`,
});

/** The result of `carry`: an SDE with the score of its marginals. */
export interface CarriedScore {
  readonly sde: GaussianSde;
  readonly score: MarginalScore;
}

/**
 * Converts a score of the marginals of one SDE to that of another SDE with the same data, without
 * training.
 *
 * A score is known up to the noise ratio at the horizon of its own SDE. If `to` exceeds it, the
 * `sde` of the result is `to` with an earlier horizon, so use that one.
 *
 * @example
 * import { key } from "diffeo/random";
 *
 * // `score` was trained under the VE process.
 * const carried = carry(score, { from: ve(), to: vp() });
 * await sample(reverse(carried.sde, carried.score), { shape: [2], count: 1000, key: key(1) });
 */
export function carry(
  score: MarginalScore,
  { from, to }: { readonly from: GaussianSde; readonly to: GaussianSde },
): CarriedScore {
  const carried: MarginalScore = (y, u) => {
    const t = clock(to, from, u);
    const scale = div(from.transition.meanFactor(t), to.transition.meanFactor(u));
    const a = alignToEvent(scale, y.shape.length - u.shape.length);
    return mul(a, score(mul(a, y), t));
  };
  return { sde: withinRatio(to, from), score: carried };
}

/** An SDE with its horizon limited to the noise ratio of another at its horizon. */
function withinRatio(sde: GaussianSde, other: GaussianSde): GaussianSde {
  const t = input("t", [], "float64");
  const at = (value: Tensor, time: number): number =>
    reference([value], new Map([[t, Float64Array.of(time)]]))[0][0];
  const most = at(noiseRatio(other, t), other.horizon);
  // Rounding must not move the horizon if both noise ratios are equal.
  if (at(noiseRatio(sde, t), sde.horizon) <= most * (1 + 1e-9)) return sde;
  const horizon = at(timeAtRatio(sde, constant(most, "float64")), 0);
  const std = at(sde.transition.std(t), horizon);
  return { ...sde, horizon, prior: gaussianPrior(std, sde.eventRank) };
}
