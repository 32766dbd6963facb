/** An arm of the comparison of processes, and what arms share. */
import type { Bijector } from "diffeo/bijector";
import { div, expandDims, mul, type NdArray, type Tensor, tanh } from "diffeo/graph";
import type { Key } from "diffeo/random";
import type { Sde } from "diffeo/sde";

/** A score as base − size·net, by event and coordinate. */
export interface Form {
  readonly base: Tensor;
  readonly size: Tensor;
  /** By event. */
  readonly sigma: Tensor;
  readonly level: Tensor;
}

/** A process of states u, and a score of it that is learned. */
export interface Arm {
  /** What samplers step. */
  readonly sde: Sde;
  /** Numbers of a state, and of a score that the network gives. */
  readonly inputs: number;
  readonly outputs: number;
  /** Times of training are those of uniform shares, from the earliest, 0, to 1. */
  readonly timeAt: (share: number) => number;
  /** Times of the sampler. */
  readonly grid: (steps: number) => number[];
  /** u at time 0, of x₀; a state of y where the process is not in x. */
  readonly start: (x0: Tensor) => Tensor;
  /** What a state is by the image of ε, or by exact samples. */
  readonly noised: Noised;
  /** ∇ log p(u | u₀), of the coordinates that the network gives. */
  readonly target: (state: Tensor, start: Tensor, t: Tensor) => Tensor;
  readonly read: (state: Tensor) => Tensor;
  readonly form: (state: Tensor, t: Tensor) => Form;
  /** A score of all coordinates. */
  readonly full: (score: Tensor) => Tensor;
  readonly toY: (state: Tensor) => Tensor;
  /** How log p_t is known: from log p(u | u₀) and u ↦ y, or for Gaussians in x. */
  readonly density: Density;
}

export type Noised =
  | { readonly kind: "graph"; readonly of: (start: Tensor, t: Tensor, noise: Tensor) => Tensor }
  | { readonly kind: "host"; readonly of: (start: NdArray, t: NdArray, key: Key) => NdArray };

type LogTransition = (u: Tensor, start: Tensor, t: Tensor) => Tensor;

export type Density =
  | {
      readonly kind: "quadrature";
      readonly psi: Bijector;
      readonly logTransition: LogTransition;
      readonly low: number;
      readonly high: number;
      /** A length that the noise of a coordinate does not exceed by much. */
      readonly spread: (t: number) => number;
    }
  | {
      readonly kind: "gaussian";
      /** log p(u) of x₀ ~ N(mean, variance I). */
      readonly of: (u: Tensor, mean: Tensor, t: Tensor, variance: number) => Tensor;
    };

export const vector = (t: Tensor): Tensor => expandDims(t, -1);

/**
 * A factor of scores in a box, of distances to both faces: 0 at a face and 1 further from it than
 * the noise reaches. Densities of y have no slope across a face, and without the factor the flow of
 * a learned score would lose mass there.
 */
export const wall = (low: Tensor, high: Tensor, sigma: Tensor): Tensor =>
  mul(tanh(div(low, vector(sigma))), tanh(div(high, vector(sigma))));

/** Falling times at equal shares. */
export const byShares =
  (timeAt: Arm["timeAt"], power = 1) =>
  (steps: number) =>
    Array.from({ length: steps + 1 }, (_, i) => timeAt((1 - i / steps) ** power));
