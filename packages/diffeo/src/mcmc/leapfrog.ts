/**
 * A leapfrog step of size ε for H(x, p) = ½pᵀM⁻¹p − log p(x):
 *
 *   p ← p + ½ε∇log p(x);  x ← x + εM⁻¹p;  p ← p + ½ε∇log p(x)
 *
 * Each assignment changes one of x and p by a function of the other, so a step preserves volume,
 * and the same step from (x, −p) reverses it. The error of H after a given time is O(ε²).
 */
import { add, mul, type Tensor } from "../graph/index.ts";

/** What a step needs of the target and of the metric. */
export interface Motion<P extends { readonly x: Tensor }> {
  /** Evaluates chains at points [B, n]; the result contains the points. */
  readonly at: (x: Tensor) => P;
  /** ∇log p, [B, n] */
  readonly slope: (chains: P) => Tensor;
  /** M⁻¹p; default p. */
  readonly velocity?: (momentum: Tensor) => Tensor;
}

/** Chains and their momenta [B, n]. */
export interface Phase<P> {
  readonly chains: P;
  readonly momentum: Tensor;
}

/** One leapfrog step; ε is one number, or one per row [B, 1]. */
export function leapfrogStep<P extends { readonly x: Tensor }>(
  { at, slope, velocity = (p) => p }: Motion<P>,
  { chains, momentum }: Phase<P>,
  stepSize: Tensor,
): Phase<P> {
  const half = mul(stepSize, 0.5);
  const kicked = add(momentum, mul(slope(chains), half));
  const moved = at(add(chains.x, mul(velocity(kicked), stepSize)));
  return { chains: moved, momentum: add(kicked, mul(slope(moved), half)) };
}
