/**
 * All implicit score-matching losses have one form:
 *
 *   ℓ(s; x) = ½ sᵀ M s + c·s + Σ_k w_kᵀ (∇s) w_k
 *
 *              M            c                w_k
 *   SM         I            0                the unit vectors: tr ∇s     (eq:score_matching_loss_expanded)
 *   SSM        v vᵀ         0                v                           (eq:sliced_score_matching_loss)
 *   SSM-VR     I            0                v                           (eq:ssm_vr)
 *   GSSM       ∇v ∇vᵀ       H_v∇v + Δv ∇v    ∇v                          (eq:appendix_gssm_final)
 *   GSSM-VR    C(x)         div C(x)         ∇v                          (eq:gssm_vr)
 *
 * M, c and w depend on x and on random numbers, but not on the score. So a loss is an object that
 * computes these three. They give its value for any score, and, for a score linear in α, the normal
 * equations for α.
 */
import {
  add,
  dot,
  expand,
  expandDims,
  jvp,
  mul,
  squeeze,
  sum,
  type Tensor,
  traceJacobian,
} from "../graph/index.ts";
import type { DrawSpec, Draws } from "./draws.ts";
import { type Metric, metricForm } from "./metric.ts";

/**
 * A score s(x), an approximation of ∇ log p: any function of tensors. It may have its derivatives
 * in closed form; otherwise they are computed by automatic differentiation.
 */
export interface ScoreFunction {
  (x: Tensor): Tensor;
  /** Σ_k w_kᵀ (∇s) w_k for directions w of shape […, k, n]. */
  readonly curvature?: (x: Tensor, directions: Tensor) => Tensor;
  /** tr ∇s */
  readonly divergence?: (x: Tensor) => Tensor;
}

/** The terms of a loss for one batch of points, which do not depend on the score. */
export interface Terms {
  readonly metric: Metric;
  /** c, of shape […, n]. Default 0. */
  readonly drift?: Tensor;
  /** w_k, of shape […, k, n]. Default: all unit vectors. */
  readonly slices?: Tensor;
}

/** A loss of implicit score matching, as the terms of its form (see `Terms`). */
export interface Objective {
  readonly name: string;
  /** The random numbers that a point of n coordinates needs. */
  readonly draws: (n: number) => DrawSpec;
  readonly terms: (x: Tensor, draws: Draws<Tensor>) => Terms;
}

/** A loss as a function of a score and points: one value per point. */
export type Loss = (score: ScoreFunction, x: Tensor, draws: Draws<Tensor>) => Tensor;

/** Σ_k w_kᵀ (∇s) w_k, or tr ∇s without directions. */
export function curvature(score: ScoreFunction, x: Tensor, directions?: Tensor): Tensor {
  if (!directions) return score.divergence?.(x) ?? traceJacobian(score, x);
  if (score.curvature) return score.curvature(x, directions);
  if (directions.shape.at(-2) === 1) return traceJacobian(score, x, squeeze(directions, -2));
  const points = expand(expandDims(x, -2), directions.shape);
  return sum(mul(directions, jvp(score, points, directions)[1]), [-2, -1]);
}

/** The loss of an objective as a function of a score and points. */
export const lossOf =
  ({ terms }: Objective): Loss =>
  (score, x, draws) => {
    const { metric, drift, slices } = terms(x, draws);
    const s = score(x);
    const quadratic = add(mul(metricForm(metric, s), 0.5), curvature(score, x, slices));
    return drift ? add(quadratic, dot(drift, s)) : quadratic;
  };
