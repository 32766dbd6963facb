/**
 * The losses of `objective.ts` by name, and two that do not have its form: normalised GSSM and
 * finite differences.
 */
import {
  add,
  dot,
  expand,
  expandDims,
  fail,
  fill,
  mean,
  mul,
  sub,
  sum,
  type Tensor,
} from "../graph/index.ts";
import { countOf, type Draws, repeatSpec } from "./draws.ts";
import { type SliceFamily, sliceDrift, slicesAt } from "./family.ts";
import { type LinearDirections, linearSlices } from "./linear.ts";
import { metricForm } from "./metric.ts";
import { unitSlice } from "./normalised.ts";
import type { Loss, Objective, Terms } from "./objective.ts";
import { quadraticSlices } from "./quadratic.ts";
import type { Slice } from "./slice.ts";

/** Options of sliced losses. */
export interface SliceOptions {
  /** Number of slices per point, over which the loss is averaged. Default 1. */
  readonly slices?: number;
}

const slicesOf = ({ slices = 1 }: SliceOptions): number => countOf(slices, "slices per point");

/** Score matching, ½‖s‖² + tr ∇s (eq:score_matching_loss_expanded). */
export const scoreMatching = (): Objective => ({
  name: "sm",
  draws: () => ({}),
  terms: (x) => ({ metric: { diagonal: fill([1], 1, x.dtype) } }),
});

/** The mean over the directions of K slices, as one set of directions. */
const directionsOf = (grad: Tensor): Tensor =>
  mul(grad, 1 / Math.sqrt(grad.shape.at(-2) as number));

const driftOf = (slice: Slice): Pick<Terms, "drift"> => {
  const drift = sliceDrift(slice);
  return drift ? { drift: mean(drift, -2) } : {};
};

/** An objective without variance reduction, from the slices at a point. */
function sliced(
  name: string,
  family: SliceFamily,
  options: SliceOptions,
  terms: (slice: Slice) => Terms,
): Objective {
  const slices = slicesOf(options);
  return {
    name,
    draws: (n) => repeatSpec(family.draws(n), [slices]),
    terms: (x, draws) => terms(slicesAt(family, x, draws, slices)),
  };
}

/**
 * Generalised sliced score matching (GSSM), ½(∇v·s)² + ∇vᵀ(∇s)∇v + s·H_v∇v + (∇v·s)Δv
 * (eq:appendix_gssm_final).
 */
export const gssm = (family: SliceFamily, options: SliceOptions = {}): Objective =>
  sliced("gssm", family, options, (slice) => {
    const directions = directionsOf(slice.grad);
    return { metric: { directions }, slices: directions, ...driftOf(slice) };
  });

/**
 * An objective with variance reduction: the terms without derivatives of the score are averaged
 * over v.
 */
function reduced(
  name: string,
  family: SliceFamily,
  options: SliceOptions,
  moments: SliceFamily["moments"],
  directionOf: (slice: Slice) => Tensor,
): Objective {
  const slices = slicesOf(options);
  if (!moments)
    fail(
      "usage",
      `${name}: the slice family "${family.name}" has no second moments in closed form`,
      "wrap it in withMonteCarlo(family, count), or use the loss without variance reduction " +
        "and several slices",
    );
  return {
    name,
    draws: (n) => ({ ...repeatSpec(family.draws(n), [slices]), ...family.controlDraws?.(n) }),
    terms: (x, draws) => {
      const { covariance, divergence } = moments(x, draws);
      const directions = directionsOf(directionOf(slicesAt(family, x, draws, slices)));
      return { metric: covariance, slices: directions, drift: divergence };
    },
  };
}

/** GSSM with variance reduction, ½sᵀCs + div C·s + ∇vᵀ(∇s)∇v with C = E[∇v∇vᵀ] (eq:gssm_vr). */
export const gssmVr = (family: SliceFamily, options: SliceOptions = {}): Objective =>
  reduced("gssm-vr", family, options, family.moments, ({ grad }) => grad);

/**
 * Sliced score matching (SSM), ½(v·s)² + vᵀ(∇s)v (eq:sliced_score_matching_loss): GSSM with linear
 * slices.
 */
export const ssm = (
  directions: LinearDirections = "rademacher",
  options: SliceOptions = {},
): Objective => ({
  ...gssm(linearSlices(directions), options),
  name: "ssm",
});

/** SSM with variance reduction, ½‖s‖² + vᵀ(∇s)v (eq:ssm_vr): GSSM-VR with linear slices. */
export const ssmVr = (
  directions: LinearDirections = "rademacher",
  options: SliceOptions = {},
): Objective => ({
  ...gssmVr(linearSlices(directions), options),
  name: "ssm-vr",
});

/**
 * GSSM along the unit field d = ∇v/‖∇v‖ (eq:appendix_L_normalized), which does not depend on the
 * scale of v:
 *
 *   ½(d·s)² + dᵀ(∇s)d + s·(∇d)d + (d·s) div d
 */
export const normalisedGssm = (family: SliceFamily, options: SliceOptions = {}): Objective =>
  sliced("gssm-normalised", family, options, (slice) => {
    const { direction, drift } = unitSlice(slice);
    const directions = directionsOf(direction);
    return { metric: { directions }, slices: directions, drift: drift && mean(drift, -2) };
  });

/** Normalised GSSM with variance reduction, ½sᵀE[ddᵀ]s + div E[ddᵀ]·s + dᵀ(∇s)d. */
export const normalisedGssmVr = (family: SliceFamily, options: SliceOptions = {}): Objective =>
  reduced(
    "gssm-normalised-vr",
    family,
    options,
    family.unitMoments,
    ({ grad }) => unitSlice({ grad }).direction,
  );

/**
 * Turns a sliced objective into a loss with two evaluations of the score and no derivative of it:
 *
 *   s ≈ ½(s(x + εw) + s(x − εw)),   wᵀ(∇s)w ≈ w·(s(x + εw) − s(x − εw))/2ε,   both with an error of order ε²
 *
 * (T. Pang et al., "Efficient learning of generative models via finite-difference score matching",
 * NeurIPS 2020).
 */
export const finiteDifference = (objective: Objective, step = 1e-2): Loss => {
  if (!(step > 0)) fail("usage", `finiteDifference: \`step\` is ${step}`, "give a number above 0");
  return (score, x, draws: Draws<Tensor>) => {
    const { metric, drift, slices: w } = objective.terms(x, draws);
    if (!w)
      fail(
        "usage",
        `finiteDifference: the loss "${objective.name}" has no slices`,
        "use ssm, ssm-vr, gssm or gssm-vr",
      );
    const points = expand(expandDims(x, -2), w.shape);
    const ahead = score(add(points, mul(w, step)));
    const behind = score(sub(points, mul(w, step)));
    const curved = sum(mul(w, mul(sub(ahead, behind), 0.5 / step)), [-2, -1]);
    const s = mean(mul(add(ahead, behind), 0.5), -2);
    const value = add(mul(metricForm(metric, s), 0.5), curved);
    return drift ? add(value, dot(drift, s)) : value;
  };
};

/**
 * The losses by their names on the command line: the five of the paper's study, and GSSM along
 * normalised slices, whose second moment is known for a Gaussian b.
 */
export const objectives = {
  sm: scoreMatching,
  ssm: () => ssm(),
  "ssm-vr": () => ssmVr(),
  gssm: () => gssm(quadraticSlices()),
  "gssm-vr": () => gssmVr(quadraticSlices()),
  "gssm-normalised": () => normalisedGssm(quadraticSlices({ linear: "normal" })),
  "gssm-normalised-vr": () => normalisedGssmVr(quadraticSlices({ linear: "normal" })),
} as const satisfies Readonly<Record<string, () => Objective>>;

/** The name of a loss of `objectives`. */
export type ObjectiveName = keyof typeof objectives;

/** The names of the losses that the paper compares. */
export const paperObjectives = [
  "sm",
  "ssm",
  "ssm-vr",
  "gssm",
  "gssm-vr",
] as const satisfies readonly ObjectiveName[];
