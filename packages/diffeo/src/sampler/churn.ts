/**
 * Churn (T. Karras et al., "Elucidating the design space of diffusion-based generative models",
 * 2022): a step of the probability flow first goes back, by the forward process, and then over the
 * whole way. From t to t′ with a share c:
 *
 *   t̂ = t + c (t − t′), at most T
 *   x̂ = r x + √(σ̂² − r²σ²) z,  r = m̂/m
 *   then the flow from t̂ to t′
 *
 * If x has the distribution of time t, x̂ has that of t̂ exactly: churn changes no distribution,
 * and with the noise that it replaces it removes a part of earlier errors. c = 0 is the solver
 * itself. (The authors raise σ/m by a factor; here time goes back.) It is for steps without memory:
 * across new noise the last value of D says little about the next, and `dpmSolver2M` would fall to
 * first order.
 */
import { add, div, fail, maximum, minimum, mul, sqrt, square, sub } from "../graph/index.ts";
import type { Solver } from "./solver.ts";

/** How much a step of the probability flow is churned. */
export interface ChurnOptions {
  /** How far a step goes back before it goes on, as a share of its length. Default 0. */
  readonly churn?: number;
}

/** A solver that draws and remembers nothing itself, with churn. */
export function withChurn(solver: Solver, share = 0): Solver {
  const { name } = solver;
  if (!(share >= 0 && share < Infinity))
    fail("usage", `${name}: churn is ${share}`, "give a share of a step's length, from 0 up");
  if (share === 0) return solver;
  return {
    ...solver,
    require: (stage) => {
      solver.require?.(stage);
      const { process } = stage;
      if (!process.transition || !process.reversed || solver.stepIn !== "x")
        fail(
          "usage",
          `${name}: churn goes back by the Gaussian transition of a reverse process, in x`,
          "use a process that has one and step in x, or leave churn out",
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
