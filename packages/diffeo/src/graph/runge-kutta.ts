/**
 * Adaptive steps of y′ = f(t, y) by the pair of J. Dormand and P. Prince (1980). Seven slopes give
 * y₅ of order 5 and ŷ₄ of order 4; the last slope is the first of the next step. The error of a
 * step is the root mean square
 *
 *   e = ‖(y₅ − ŷ₄)/(tolerance · (scale + max(|y|, |y₅|)))‖,   h ← h · min(10, max(⅕, 0.9 e^{−1/5}))
 *
 * A step with e ≤ 1 is accepted, else it is repeated with a shorter h. Between its ends a step is
 * interpolated by the polynomial of order 4 of E. Hairer, S. Nørsett and G. Wanner (1993, II.6), so
 * steps need not end at the requested times:
 *
 *   y(t + θh) = y + θ(Δ + (1 − θ)(a + θ(b + (1 − θ)c)))
 *   Δ = y₅ − y,   a = hk₁ − Δ,   b = Δ − hk₇ − a,   c = hΣd_jk_j
 *
 * A graph has no loops of variable length, so it has `tries` steps, and those that are not needed
 * have length 0. Gradients go through the accepted steps. Their lengths are treated as constants,
 * because the solution depends on them only within the tolerance.
 */
import { abs, add, clip, div, maximum, minimum, mul, square, sub } from "./arithmetic.ts";
import { sum } from "./broadcast.ts";
import { errors, nodes, stages } from "./dormand-prince.ts";
import { greater, greaterEqual, lessEqual, logicalAnd, where } from "./logic.ts";
import { sizeOf } from "./ndarray.ts";
import { expandDims } from "./shape.ts";
import { at } from "./slice.ts";
import { fill, type Tensor } from "./tensor.ts";
import { pow, sqrt } from "./transcendental.ts";
import { stopGradient } from "./value.ts";

/** f(t, y), y and its slope as lists of tensors. */
export type Slopes = (t: Tensor, y: readonly Tensor[]) => readonly Tensor[];

/** The control of adaptive steps. */
export interface StepControl {
  /** The number of steps in the graph. */
  readonly tries: number;
  readonly tolerance: number;
  readonly scale: number;
}

/** The coefficients d of the interpolation. */
const between = [
  -12715105075 / 11282082432,
  0,
  87487479700 / 32700410799,
  -10690763975 / 1880347072,
  701980252875 / 199316789632,
  -1453857185 / 822651844,
  69997945 / 29380423,
];

/** Σ_j w_j k_j of part i. */
const combined = (
  weights: readonly number[],
  slopes: readonly (readonly Tensor[])[],
  i: number,
): Tensor =>
  weights
    .flatMap((w, j) => (w === 0 ? [] : [mul(slopes[j][i], w)]))
    .reduce((total, term) => add(total, term));

/** The root mean square of parts, each divided by its tolerance. */
function size(
  parts: readonly Tensor[],
  states: readonly (readonly Tensor[])[],
  { tolerance, scale }: StepControl,
): Tensor {
  const entries = parts.reduce((total, part) => total + sizeOf(part.shape), 0);
  const squares = parts.map((part, i) => {
    const largest = states.map((state) => abs(state[i])).reduce((a, b) => maximum(a, b));
    return sum(square(div(part, mul(add(largest, scale), tolerance))));
  });
  return sqrt(
    div(
      squares.reduce((a, b) => add(a, b)),
      entries,
    ),
  );
}

/** A step: its state, its slopes, and the next state. */
interface Step {
  readonly state: readonly Tensor[];
  readonly slopes: readonly (readonly Tensor[])[];
  readonly moved: readonly Tensor[];
  readonly h: Tensor;
}

function stepFrom(
  f: Slopes,
  time: Tensor,
  state: readonly Tensor[],
  first: readonly Tensor[],
  h: Tensor,
): Step {
  const slopes: (readonly Tensor[])[] = [first];
  let moved = state;
  stages.slice(1).forEach((weights, s) => {
    moved = state.map((part, i) => add(part, mul(combined(weights, slopes, i), h)));
    slopes.push(f(add(time, mul(h, nodes[s + 1])), moved));
  });
  return { state, slopes, moved, h };
}

/** Part i of a step at shares θ of it, [n, 1, …]. */
function within({ state, slopes, moved, h }: Step, i: number, share: Tensor): Tensor {
  const rest = sub(1, share);
  const delta = sub(moved[i], state[i]);
  const a = sub(mul(slopes[0][i], h), delta);
  const b = sub(sub(delta, mul(slopes[6][i], h)), a);
  const c = mul(combined(between, slopes, i), h);
  const inner = add(a, mul(share, add(b, mul(rest, c))));
  return add(state[i], mul(share, add(delta, mul(rest, inner))));
}

/** The h after a step with error e. */
function nextLength(h: Tensor, error: Tensor, taken: Tensor): Tensor {
  const factor = where(
    lessEqual(error, Number.MAX_VALUE),
    clip(mul(pow(maximum(error, 1e-10), -0.2), 0.9), 0.2, 10),
    fill([], 0.2, error.dtype),
  );
  return mul(h, where(taken, factor, minimum(factor, 0.9)));
}

/** The states at times, [n, …] each. */
export function adaptiveSteps(
  f: Slopes,
  initial: readonly Tensor[],
  start: Tensor,
  times: Tensor,
  control: StepControl,
): Tensor[] {
  const end = at(times, times.shape[0] - 1);
  let [time, state] = [start, initial];
  let first = f(time, state);
  // The first step is one percent of the time in which the state changes by its size and `scale`.
  let proposed = stopGradient(
    clip(div(0.01 / control.tolerance, size(first, [state], control)), 1e-12, 1e12),
  );
  // Over the axes of each part.
  const over = (t: Tensor, part: Tensor): Tensor =>
    part.shape.reduce((all) => expandDims(all, -1), t);
  let found = state.map((part) =>
    where(over(lessEqual(times, start), part), part, fill([], Number.NaN, part.dtype)),
  );
  for (let tried = 0; tried < control.tries; tried++) {
    const left = sub(end, time);
    const last = greaterEqual(proposed, left);
    const h = where(last, left, proposed);
    const step = stepFrom(f, time, state, first, h);
    const wrong = state.map((_, i) => mul(combined(errors, step.slopes, i), h));
    const error = stopGradient(size(wrong, [state, step.moved], control));
    const taken = lessEqual(error, 1);
    const reached = where(last, end, add(time, h));
    const inside = logicalAnd(logicalAnd(greater(times, time), lessEqual(times, reached)), taken);
    const share = clip(div(sub(times, time), where(greater(h, 0), h, 1)), 0, 1);
    found = found.map((part, i) =>
      where(over(inside, state[i]), within(step, i, over(share, state[i])), part),
    );
    proposed = stopGradient(nextLength(where(greater(h, 0), h, proposed), error, taken));
    time = where(taken, reached, time);
    state = state.map((part, i) => where(taken, step.moved[i], part));
    first = first.map((part, i) => where(taken, step.slopes[6][i], part));
  }
  return found;
}
