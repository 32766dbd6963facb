/**
 * Churn (T. Karras et al., "Elucidating the design space of diffusion-based generative models",
 * 2022): before a step of the probability flow, the forward process goes back in time. From t to t′
 * with a share c:
 *
 *   t̂ = t + c (t − t′), at most T
 *   x̂ = r x + √(σ̂² − r²σ²) z,  r = m̂/m
 *   then the flow from t̂ to t′
 *
 * If x has the distribution of time t, x̂ has exactly that of t̂. So churn changes no distribution,
 * and the new noise removes a part of earlier errors. c = 0 is the solver itself. (The authors
 * increase σ/m by a factor; here time goes back.) It is for solvers without memory: with new noise
 * the last value of D says little about the next, and `dpmSolver2M` would have only first order.
 */
import { add, div, fail, maximum, minimum, mul, sqrt, square, sub } from "../graph/index.ts";
import type { Solver } from "./solver.ts";

/** Options of churn, for steps of the probability flow. */
export interface ChurnOptions {
  /**
   * How far the forward process goes back in time before each step, as a share of the step. Default
   * 0.
   */
  readonly churn?: number;
}

/** Adds churn to a solver that has neither noise nor memory. */
export function withChurn(solver: Solver, share = 0): Solver {
  const { name } = solver;
  if (!(share >= 0 && share < Infinity))
    fail("usage", `${name}: \`churn\` is ${share}`, "give a share of a step's length, at least 0");
  if (share === 0) return solver;
  return {
    ...solver,
    require: (stage) => {
      solver.require?.(stage);
      const { process } = stage;
      if (!process.transition || !process.reversed || solver.stepIn !== "x")
        fail(
          "usage",
          `${name}: \`churn\` needs a reverse process with a Gaussian transition, and steps in x`,
          'use such a process with stepIn "x", or leave churn out',
        );
    },
    draws: (_, event) => [event],
    step: (stage, { point, t, dt, noise }) => {
      const { transition, horizon } = stage.process;
      if (!transition) throw new Error("internal: churn without a transition");
      const { meanFactor, std } = transition;
      const back = minimum(sub(t, mul(dt, share)), horizon);
      const r = div(meanFactor(back), meanFactor(t));
      const fresh = sqrt(maximum(sub(square(std(back)), square(mul(r, std(t)))), 0));
      return solver.step(stage, {
        point: add(mul(point, r), mul(noise[0], fresh)),
        t: back,
        dt: sub(add(t, dt), back),
        noise: [],
      });
    },
  };
}
