/**
 * Solutions of ordinary differential equations y′ = f(t, y) in a graph. Gradients are exactly those
 * of the computed solution.
 *
 * Without a tolerance the steps are fixed, by the classical Runge–Kutta method, with an error of
 * O(h⁵) per step:
 *
 *   k₁ = f(t, y),  k₂ = f(t + h/2, y + hk₁/2),  k₃ = f(t + h/2, y + hk₂/2),  k₄ = f(t + h, y + hk₃)
 *   y(t + h) ≈ y + h(k₁ + 2k₂ + 2k₃ + k₄)/6
 *
 * With a tolerance the steps are adaptive, by the pair of orders 5 and 4 of J. Dormand and P.
 * Prince (runge-kutta.ts).
 */
import { add, div, mul, sub } from "./arithmetic.ts";
import { stack } from "./concat.ts";
import { fail } from "./error.ts";
import { showShape } from "./ndarray.ts";
import { adaptiveSteps, type Slopes } from "./runge-kutta.ts";
import { at } from "./slice.ts";
import { asTensor, type Operand, type Tensor } from "./tensor.ts";
import { leavesOf, type Tree, withLeaves } from "./tree.ts";

/** Options of `solveOde`. */
export interface OdeOptions {
  /** The time of the first state. Default 0. */
  readonly start?: Operand;
  /**
   * Without a tolerance, the steps between two times (default 4); doubling them divides the error
   * by 16. With a tolerance, the most steps in total (default 64).
   */
  readonly steps?: number;
  /**
   * The error of an adaptive step, relative to the state and to `scale`. The solution is NaN after
   * the time that `steps` steps reach, if the equation is stiff or the tolerance is too small.
   */
  readonly tolerance?: number;
  /** The size of the state below which errors are absolute, relative to this size. Default 1e-3. */
  readonly scale?: number;
}

/**
 * Solves y′ = f(t, y) and returns the states at given times.
 *
 * @param f the derivative of a state, a tree of tensors like it
 * @param initial the state at the first time, a tree of tensors
 * @param times [n], increasing
 * @returns a tree like the state, each tensor with the axis of times in front
 * @example
 * const growth = (_: Tensor, [prey, hunter]: readonly Tensor[]) => [
 *   mul(prey, sub(1, hunter)),
 *   mul(hunter, sub(prey, 1)),
 * ];
 * const [prey, hunter] = solveOde(growth, [x, y], [1, 2, 3], { steps: 10 }); // [3] each
 */
export function solveOde<Y>(
  f: (t: Tensor, y: Y) => Y,
  initial: Y,
  times: Operand,
  { start = 0, tolerance, steps = tolerance === undefined ? 4 : 64, scale = 1e-3 }: OdeOptions = {},
): Y {
  const leaves = leavesOf(initial).map((part) => asTensor(part, "float64"));
  const dtype = leaves[0]?.dtype ?? "float64";
  const grid = asTensor(times, dtype);
  if (grid.shape.length !== 1)
    fail("shape", `solveOde: \`times\` has shape ${showShape(grid.shape)}`, "give a list of times");
  if (!(Number.isSafeInteger(steps) && steps >= 1))
    fail("usage", `solveOde: \`steps\` is ${steps}`, "give an integer of at least 1");
  for (const [name, value] of Object.entries({ tolerance, scale }))
    if (value !== undefined && !(value > 0 && value < 1e300))
      fail(
        "usage",
        `solveOde: \`${name}\` is ${value}`,
        "give a small positive number, such as 1e-6",
      );
  const slopes: Slopes = (t, y) => {
    const found = leavesOf(f(t, withLeaves(initial as Tree<Tensor>, y) as Y));
    if (found.length !== y.length)
      fail(
        "shape",
        `solveOde: f returned ${found.length} tensors, the state has ${y.length}`,
        "return the derivative of every part of the state, in order",
      );
    return found;
  };
  const begin = asTensor(start, dtype);
  const parts =
    tolerance === undefined
      ? fixedSteps(slopes, leaves, begin, grid, steps)
      : adaptiveSteps(slopes, leaves, begin, grid, { tries: steps, tolerance, scale });
  return withLeaves(initial as Tree<Tensor>, parts) as Y;
}

/** The states at times, with the same number of steps between all of them. */
function fixedSteps(
  slopes: Slopes,
  initial: readonly Tensor[],
  start: Tensor,
  grid: Tensor,
  steps: number,
): Tensor[] {
  const moved = (y: readonly Tensor[], k: readonly Tensor[], h: Tensor): Tensor[] =>
    y.map((part, i) => add(part, mul(k[i], h)));
  let state = initial;
  let time = start;
  const states: (readonly Tensor[])[] = [];
  for (let n = 0; n < grid.shape[0]; n++) {
    const next = at(grid, n);
    const h = div(sub(next, time), steps);
    const half = mul(h, 0.5);
    for (let s = 0; s < steps; s++) {
      const t = add(time, mul(h, s));
      const middle = add(t, half);
      const k1 = slopes(t, state);
      const k2 = slopes(middle, moved(state, k1, half));
      const k3 = slopes(middle, moved(state, k2, half));
      const k4 = slopes(add(t, h), moved(state, k3, h));
      state = state.map((part, i) => {
        const sum = add(add(k1[i], k4[i]), mul(add(k2[i], k3[i]), 2));
        return add(part, mul(sum, mul(h, 1 / 6)));
      });
    }
    time = next;
    states.push(state);
  }
  return initial.map((_, i) =>
    stack(
      states.map((one) => one[i]),
      0,
    ),
  );
}
