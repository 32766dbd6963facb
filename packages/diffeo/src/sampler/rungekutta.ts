/**
 * Explicit Runge–Kutta steps for dp/dt = v(p, t), on several tensors at once:
 *
 *   kᵢ = v(p + dt Σⱼ aᵢⱼ kⱼ, t + cᵢ dt),   p′ = p + dt Σ bᵢ kᵢ,   error = dt Σ (bᵢ − b̂ᵢ) kᵢ
 *
 * Dormand–Prince 5(4) has seven stages; the last one is the first of the next step.
 */

import { errors, nodes, stages } from "../graph/dormand-prince.ts";
import {
  abs,
  add,
  div,
  max,
  maximum,
  mean,
  mul,
  reshape,
  sqrt,
  square,
  type Tensor,
} from "../graph/index.ts";
import { sizeOf } from "../graph/ndarray.ts";

/** A state of several tensors, [count, …] each. */
export type State = readonly Tensor[];
/** The derivative of a state; `fixed` are other inputs of the field. */
export type StateField = (state: State, t: Tensor, fixed: readonly Tensor[]) => State;

/** Score evaluations per step; the first derivative is known from the step before. */
export const stagesPerStep = 6;

const combine = (slopes: readonly State[], by: readonly number[], of: number): Tensor =>
  by.flatMap((b, i) => (b === 0 ? [] : [mul(slopes[i][of], b)])).reduce(add);

/** One step from a state and its derivative. */
export function dormandPrince(
  field: StateField,
  state: State,
  slope: State,
  t: Tensor,
  dt: Tensor,
): { readonly next: State; readonly slope: State; readonly error: State } {
  const slopes: State[] = [slope];
  let next = state;
  for (let i = 1; i < nodes.length; i++) {
    next = state.map((p, k) => add(p, mul(combine(slopes, stages[i], k), dt)));
    slopes.push(field(next, add(t, mul(dt, nodes[i])), []));
  }
  const error = state.map((_, k) => mul(combine(slopes, errors, k), dt));
  return { next, slope: slopes[slopes.length - 1], error };
}

/**
 * The greatest error ratio of any sample: the root mean square over its coordinates of error/(tol +
 * tol·|p|). A step is accepted if this is at most 1.
 */
export function errorRatio(error: State, from: State, to: State, tolerance: number): Tensor {
  const ratios = error.map((e, k) => {
    const scale = add(mul(maximum(abs(from[k]), abs(to[k])), tolerance), tolerance);
    const count = e.shape[0];
    return max(sqrt(mean(square(reshape(div(e, scale), [count, sizeOf(e.shape) / count])), -1)));
  });
  return ratios.reduce(maximum);
}
