/**
 * Explicit Runge–Kutta steps for dp/dt = v(p, t), on several tensors at once:
 *
 *   kᵢ = v(p + dt Σⱼ aᵢⱼ kⱼ, t + cᵢ dt),   p′ = p + dt Σ bᵢ kᵢ,   error = dt Σ (bᵢ − b̂ᵢ) kᵢ
 *
 * Dormand–Prince 5(4): seven stages, the last of which is the first of the next step.
 */
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
/** The slope of a state; `fixed` are tensors that the field knows beside it. */
export type StateField = (state: State, t: Tensor, fixed: readonly Tensor[]) => State;

const nodes = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
const weights = [
  [],
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const errorWeights = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

/** Score evaluations of a step whose first slope is known from the step before. */
export const stagesPerStep = 6;

const combine = (slopes: readonly State[], by: readonly number[], of: number): Tensor =>
  by.flatMap((b, i) => (b === 0 ? [] : [mul(slopes[i][of], b)])).reduce(add);

/** One step from a state and its slope. */
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
    next = state.map((p, k) => add(p, mul(combine(slopes, weights[i], k), dt)));
    slopes.push(field(next, add(t, mul(dt, nodes[i])), []));
  }
  const error = state.map((_, k) => mul(combine(slopes, errorWeights, k), dt));
  return { next, slope: slopes[slopes.length - 1], error };
}

/**
 * The largest error of any sample, in units of what is allowed: root mean square over its
 * coordinates of
 * error/(tol + tol·|p|). A step is good where this is at most 1.
 */
export function errorRatio(error: State, from: State, to: State, tolerance: number): Tensor {
  const ratios = error.map((e, k) => {
    const scale = add(mul(maximum(abs(from[k]), abs(to[k])), tolerance), tolerance);
    const count = e.shape[0];
    return max(sqrt(mean(square(reshape(div(e, scale), [count, sizeOf(e.shape) / count])), -1)));
  });
  return ratios.reduce(maximum);
}
