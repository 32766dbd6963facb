/**
 * A solver for processes in several charts: it may change the chart after each step. The state
 * contains the chart.
 */
import type { Tensor } from "../graph/index.ts";
import type { Solver } from "./solver.ts";
import { eulerMaruyama } from "./stochastic.ts";

/**
 * A solver that applies `change` after each step of another solver, such as `change` of
 * `sphereBrownian`, which moves a state to another chart. By the (reverse-time) Itô lemma the
 * process in the new chart is the same process.
 *
 * @param base a solver without memory of earlier steps. Default Euler–Maruyama
 */
export const changingCharts = (
  change: (z: Tensor) => Tensor,
  base: Solver = eulerMaruyama(),
): Solver => ({
  ...base,
  name: `${base.name}, changing charts`,
  step: (stage, inputs) => ({ next: change(base.step(stage, inputs).next) }),
});
