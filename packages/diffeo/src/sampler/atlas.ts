/**
 * A solver that changes coordinates after each step: for a process in several charts, whose state
 * says in which one it is.
 */
import type { Tensor } from "../graph/index.ts";
import type { Solver } from "./solver.ts";
import { eulerMaruyama } from "./stochastic.ts";

/**
 * Steps, and then changes the chart where `change` says so, such as that of `sphereBrownian`. By
 * the (reverse-time) Itô lemma the process goes on in the new chart as it would have in the old
 * one.
 *
 * @param base a solver that does not remember earlier steps. Default Euler–Maruyama.
 */
export const changingCharts = (
  change: (z: Tensor) => Tensor,
  base: Solver = eulerMaruyama(),
): Solver => ({
  ...base,
  name: `${base.name}, changing charts`,
  step: (stage, inputs) => ({ next: change(base.step(stage, inputs).next) }),
});
