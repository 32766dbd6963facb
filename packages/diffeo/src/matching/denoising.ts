/**
 * Denoising score matching for a process with the transition X_t | x₀ ~ N(m(t)x₀, σ(t)²I), plain
 * and through a map y = φ(x):
 *
 *   λ(t) ‖s(x_t, t) − ∇ log p_{0t}(x_t | x₀)‖²          x_t = m x₀ + σε,   ∇ log p_{0t} = −ε/σ
 *   λ(t) ‖J_{φ⁻¹}ᵀ (s − ∇ log p_{0t})‖²                 the loss in y (eq:weighted_loss_multidim)
 *
 * In y both the score and its target contain the same ∇ log|det J_{φ⁻¹}|, which cancels: an error e
 * of the score in x is an error J_{φ⁻¹}ᵀe of the score in y. A weight that depends on (x_t, t)
 * alone does not change the minimiser E[target | x_t]. So an unbounded weight, such as that of
 * J_{φ⁻¹} at the boundary of a simplex, may be bounded.
 */
import { units } from "../bijector/coefficient.ts";
import { alignToEvent, type Bijector, pushCovector, sumEvent } from "../bijector/index.ts";
import {
  add,
  div,
  expand,
  fail,
  mul,
  onesLike,
  sizeOf,
  square,
  sum,
  type Tensor,
} from "../graph/index.ts";
import type { MarginalScore, Sde } from "../sde/index.ts";

/** Options of `denoising`. */
export interface DenoisingOptions {
  /** The weight λ(t). Default σ(t)², which gives the loss ‖σs + ε‖². */
  readonly weight?: (t: Tensor) => Tensor;
  /** φ, for the loss of the score in y. Default: the loss in x. */
  readonly through?: Bijector;
  /**
   * A bound of the factor by which φ multiplies a squared error, averaged over directions: the
   * weight is divided by 1 + γ/bound with γ = ‖J_{φ⁻¹}‖²_F/n. So it is that of Theorem 1 for γ ≪
   * bound, and no squared error has a weight above n·bound. It costs one product with J_{φ⁻¹}ᵀ per
   * coordinate, or one in total if φ is coordinatewise. Default: no bound.
   */
  readonly bound?: number;
}

/**
 * A loss of points x₀ at times t, one per event, with standard normals ε in the shape of x₀. It has
 * one value per point.
 */
export type DenoisingLoss = (score: MarginalScore, x0: Tensor, t: Tensor, noise: Tensor) => Tensor;

/** ‖J_{φ⁻¹}‖²_F/n at x. */
function stretch(phi: Bijector, x: Tensor, t: Tensor): Tensor {
  const n = sizeOf(x.shape.slice(-phi.eventRank));
  if (phi.coordinatewise)
    return mul(sumEvent(square(pushCovector(phi, x, onesLike(x), t)), phi.eventRank), 1 / n);
  const each = expand(units(x, phi.eventRank), [n, ...x.shape]);
  return mul(
    sum(sumEvent(square(pushCovector(phi, expand(x, each.shape), each, t)), phi.eventRank), 0),
    1 / n,
  );
}

/**
 * Denoising score matching: the weighted squared error of a score compared with the score of the
 * transition.
 *
 * @throws DiffeoError of kind `usage` if the process has no Gaussian transition, or `bound` is not
 * positive or given without `through`
 */
export function denoising(
  sde: Pick<Sde, "name" | "eventRank" | "transition">,
  options: DenoisingOptions = {},
): DenoisingLoss {
  const { transition, eventRank, name } = sde;
  const { weight, through: phi, bound } = options;
  if (!transition)
    fail(
      "usage",
      `${name} has no Gaussian transition`,
      "use VP, VE, sub-VP or Ornstein–Uhlenbeck, or an implicit loss",
    );
  if (bound !== undefined && !(bound > 0 && phi))
    fail(
      "usage",
      `denoising: \`bound\` is ${bound}${phi ? "" : ", but `through` is not set"}`,
      "give a positive `bound` together with `through`",
    );
  return (score, x0, t, noise) => {
    const std = transition.std(t);
    const sigma = alignToEvent(std, eventRank);
    const x = add(mul(x0, alignToEvent(transition.meanFactor(t), eventRank)), mul(noise, sigma));
    // σ times the error, without division by σ, which goes to 0 with t.
    const error = add(mul(score(x, t), sigma), noise);
    const seen = phi ? pushCovector(phi, x, error, t) : error;
    const size = sumEvent(square(seen), phi ? phi.eventRank : eventRank);
    const bounded =
      phi && bound !== undefined ? div(size, add(mul(stretch(phi, x, t), 1 / bound), 1)) : size;
    return weight ? mul(bounded, div(weight(t), square(std))) : bounded;
  };
}
