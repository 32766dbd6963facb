/**
 * Hamiltonian Monte Carlo (R. Neal, 2011) on log p_w(x) = Σ_k w_k f_k(x), for a batch of chains at
 * once:
 *
 *   v ~ N(0, I)     H(x, v) = ½‖v‖² − log p_w(x)
 *   move            leapfrog steps of size ε (leapfrog.ts)
 *   accept          with probability min(1, e^{H(x, v) − H(x′, v′)})
 *
 * Leapfrog preserves volume and is reversed by −v, so the test leaves p_w invariant for any ε. With
 * one step this is the Metropolis-adjusted Langevin algorithm.
 *
 * The chains keep values and gradients of every term, so a transition costs one evaluation per
 * leapfrog step even if w has changed. An annealed path β log p + (1 − β) log q has two terms, a
 * posterior has one.
 */
import {
  addAll,
  exp,
  expandDims,
  grad,
  less,
  minimum,
  mul,
  squaredNorm,
  sub,
  sum,
  type Tensor,
  where,
} from "../graph/index.ts";
import { leapfrogStep, type Phase as PhaseOf } from "./leapfrog.ts";

/** Log-densities at points [B, n], one number per point, each up to a constant. */
export type LogDensity = (x: Tensor) => Tensor;

/** The points of chains, with values and gradients of the terms there. */
export interface Chains<T> {
  /** [B, n] */
  readonly x: T;
  /** f_k(x), [B] each. */
  readonly values: readonly T[];
  /** ∇f_k(x), [B, n] each. */
  readonly slopes: readonly T[];
}

/** Chains and their momenta [B, n]. */
export type Phase = PhaseOf<Chains<Tensor>>;

/** Chains at given points. */
export const chainsAt =
  (terms: readonly LogDensity[]) =>
  (x: Tensor): Chains<Tensor> => ({
    x,
    values: terms.map((f) => f(x)),
    slopes: terms.map((f) => grad((y: Tensor) => sum(f(y)))(x)),
  });

/** Σ_k w_k f_k */
const weighted = (terms: readonly Tensor[], weights: readonly Tensor[]): Tensor =>
  addAll(terms.map((f, k) => mul(f, weights[k])));

/** −H = log p_w(x) − ½‖v‖², [B] */
export const negativeEnergy = ({ chains, momentum }: Phase, weights: readonly Tensor[]): Tensor =>
  sub(weighted(chains.values, weights), mul(squaredNorm(momentum), 0.5));

/** Leapfrog steps of size ε along ∇log p_w. */
export function leapfrog(
  at: (x: Tensor) => Chains<Tensor>,
  from: Phase,
  weights: readonly Tensor[],
  size: Tensor,
  steps: number,
): Phase {
  const slope = ({ slopes }: Chains<Tensor>): Tensor => weighted(slopes, weights);
  let phase = from;
  for (let i = 0; i < steps; i++) phase = leapfrogStep({ at, slope }, phase, size);
  return phase;
}

/**
 * Chains after the Metropolis test: those of `after` where uniform numbers u are below e^{−ΔH},
 * else those of `before`, also where e^{−ΔH} is NaN.
 */
export function metropolis(
  before: Phase,
  after: Phase,
  weights: readonly Tensor[],
  u: Tensor,
): { readonly chains: Chains<Tensor>; readonly accepted: Tensor } {
  const gain = sub(negativeEnergy(after, weights), negativeEnergy(before, weights));
  const accepted = less(u, exp(minimum(gain, 0)));
  const either = (a: Tensor, b: Tensor): Tensor =>
    where(a.shape.length > accepted.shape.length ? expandDims(accepted, -1) : accepted, a, b);
  const [old, moved] = [before.chains, after.chains];
  return {
    chains: {
      x: either(moved.x, old.x),
      values: moved.values.map((f, k) => either(f, old.values[k])),
      slopes: moved.slopes.map((g, k) => either(g, old.slopes[k])),
    },
    accepted,
  };
}
