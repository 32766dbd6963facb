/**
 * A slice family: random smooth functions v, and their second moments.
 *
 *   C(x) = E[∇v ∇vᵀ],   div C(x) = E[H_v∇v + Δv ∇v],   since div(∇v ∇vᵀ) = (∇∇v)∇v + (Δv)∇v
 *
 * The losses depend on v only through ∇v, H_v∇v and Δv at the point. If C and div C are known in
 * closed form, variance reduction has no cost. Otherwise C is estimated by Monte Carlo, which is
 * unbiased for every number of slices and cheap, because the additional slices need no derivative
 * of the score.
 */
import {
  add,
  expand,
  expandDims,
  gradEach,
  hvp,
  laplacian,
  mean,
  mul,
  type Tensor,
} from "../graph/index.ts";
import { countOf, type DrawSpec, type Draws, prefixSpec, repeatSpec, withPrefix } from "./draws.ts";
import { unitSlice } from "./normalised.ts";
import type { Moments, Slice } from "./slice.ts";

/**
 * A family of random smooth functions v: the random numbers of one, its derivatives, and the
 * moments that are known in closed form.
 */
export interface SliceFamily {
  readonly name: string;
  /** The random numbers of one slice at a point of n coordinates. */
  readonly draws: (n: number) => DrawSpec;
  /** The slice with the given random numbers, at points x. */
  readonly slice: (x: Tensor, draws: Draws<Tensor>) => Slice;
  /**
   * C and div C, if known. `control` has the random numbers of `controlDraws`, which most families
   * do not need.
   */
  readonly moments?: (x: Tensor, control: Draws<Tensor>) => Moments;
  readonly controlDraws?: (n: number) => DrawSpec;
  /** E[ddᵀ] and its divergence for d = ∇v/‖∇v‖, if known. */
  readonly unitMoments?: (x: Tensor, control: Draws<Tensor>) => Moments;
}

/**
 * Makes a family from v alone: `value(x, draws)` maps […, n] to […] for any batch shape, and its
 * derivatives are computed by automatic differentiation.
 */
export const smoothFamily = (definition: {
  readonly name: string;
  readonly draws: (n: number) => DrawSpec;
  readonly value: (x: Tensor, draws: Draws<Tensor>) => Tensor;
}): SliceFamily => ({
  name: definition.name,
  draws: definition.draws,
  slice: (x, draws) => {
    const v = (y: Tensor): Tensor => definition.value(y, draws);
    const grad = gradEach(v)(x);
    return { grad, hvp: hvp(v, x, grad), laplacian: laplacian(v, x) };
  },
});

/** c = H_v∇v + Δv ∇v, whose mean is div C. */
export function sliceDrift({ grad, hvp: bent, laplacian: delta }: Slice): Tensor | undefined {
  const spread = delta && mul(expandDims(delta, -1), grad);
  return bent && spread ? add(bent, spread) : (bent ?? spread);
}

/**
 * `count` slices at every point. Each array of the slice has a new axis: before the last one for
 * vectors, at the end for numbers.
 */
export const slicesAt = (
  family: SliceFamily,
  x: Tensor,
  draws: Draws<Tensor>,
  count: number,
): Slice =>
  family.slice(
    expand(expandDims(x, -2), [...x.shape.slice(0, -1), count, x.shape.at(-1) as number]),
    draws,
  );

/** The means over the axis of slices. */
const meanOf = (directions: Tensor, drift: Tensor | undefined): Moments => ({
  covariance: { directions: mul(directions, 1 / Math.sqrt(directions.shape.at(-2) as number)) },
  divergence: drift && mean(drift, -2),
});

const CONTROL = "control.";

/**
 * The same family, with C(x) and div C(x) estimated from `count` additional slices. It gives every
 * family variance reduction.
 */
export const withMonteCarlo = (family: SliceFamily, count: number): SliceFamily => ({
  ...family,
  name: `${family.name} (C from ${countOf(count, "slices for C")} slices)`,
  controlDraws: (n) => prefixSpec(CONTROL, repeatSpec(family.draws(n), [count])),
  moments: (x, control) => {
    const slices = slicesAt(family, x, withPrefix(CONTROL, control), count);
    return meanOf(slices.grad, sliceDrift(slices));
  },
  unitMoments: (x, control) => {
    const { direction, drift } = unitSlice(
      slicesAt(family, x, withPrefix(CONTROL, control), count),
    );
    return meanOf(direction, drift);
  },
});
