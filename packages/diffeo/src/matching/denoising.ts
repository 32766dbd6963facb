/**
 * Denoising score matching for a process with the transition X_t | x₀ ~ N(m(t)x₀, σ(t)²I), plain
 * and through a map y = φ(x):
 *
 *   λ(t) ‖s(x_t, t) − ∇ log p_{0t}(x_t | x₀)‖²          x_t = m x₀ + σε,   ∇ log p_{0t} = −ε/σ
 *   λ(t) ‖J_{φ⁻¹}ᵀ (s − ∇ log p_{0t})‖²                 what DSM in y would be (eq:weighted_loss_multidim)
 *
 * In y both the score and its target carry the same ∇ log|det J_{φ⁻¹}|, which cancels: an error e
 * of the score in x is an error J_{φ⁻¹}ᵀe of the score in y. Any weight that depends on (x_t, t)
 * alone leaves the minimiser where it is, E[target | x_t]; so a weight that explodes, as J_{φ⁻¹}
 * does at the boundary of a simplex, may be bounded.
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

/** How denoising score matching weighs times. */
export interface DenoisingOptions {
  /** λ(t). Default σ(t)², which makes the loss ‖σs + ε‖². */
  readonly weight?: (t: Tensor) => Tensor;
  /** φ, for the loss of the score in y. Absent: the loss in x. */
  readonly through?: Bijector;
  /**
   * The most that φ may multiply a squared error, on average over directions: the weight is divided
   * by 1 + γ/bound with γ = ‖J_{φ⁻¹}‖²_F/n, so it is Theorem 1's where γ ≪ bound and no error is
   * weighed more than n·bound anywhere. It costs one product with J_{φ⁻¹}ᵀ a coordinate, or one in
   * all where φ acts on each coordinate alone. Absent: no bound.
   */
  readonly bound?: number;
}

/**
 * A loss of points x₀ at times t of the batch, with ε standard normal of x₀'s shape: one value a
 * point.
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
 * Denoising score matching: the loss of a score at a random time against the score of the
 * transition.
 *
 * @throws DiffeoError of kind `usage` where the process has no Gaussian transition
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
      `the bound ${bound} of a weight${phi ? " is not positive" : " without a map"}`,
      "bound > 0, and a map",
    );
  return (score, x0, t, noise) => {
    const std = transition.std(t);
    const sigma = alignToEvent(std, eventRank);
    const x = add(mul(x0, alignToEvent(transition.meanFactor(t), eventRank)), mul(noise, sigma));
    // σ times the error: no division by σ, which goes to zero with t.
    const error = add(mul(score(x, t), sigma), noise);
    const seen = phi ? pushCovector(phi, x, error, t) : error;
    const size = sumEvent(square(seen), phi ? phi.eventRank : eventRank);
    const bounded =
      phi && bound !== undefined ? div(size, add(mul(stretch(phi, x, t), 1 / bound), 1)) : size;
    return weight ? mul(bounded, div(weight(t), square(std))) : bounded;
  };
}
