/**
 * Integrators of the probability flow dy = v̂ dt, an ordinary differential equation with the
 * marginals of the SDE:
 *
 *   Heun         order 2, two score evaluations per step
 *   rungeKutta   Dormand–Prince 5(4): adaptive steps with a tolerance, or order 5 on a given grid
 *
 * Steps are in x by default, and results are mapped. The flow of y is the image of the flow of x,
 * without an Itô term, so this is the same flow.
 */
import { add, mul } from "../graph/index.ts";
import { type ChurnOptions, withChurn } from "./churn.ts";
import { dormandPrince, type StateField, stagesPerStep } from "./rungekutta.ts";
import { type Solver, type Stage, type SteppingOptions, velocityOf } from "./solver.ts";

/** Heun's method on the probability flow: order 2, two score evaluations per step. */
export const heun = ({ churn, ...options }: SteppingOptions & ChurnOptions = {}): Solver =>
  withChurn(heunSteps(options), churn);

const heunSteps = ({ stepIn = "x", onExit = "fail" }: SteppingOptions): Solver => ({
  name: "heun",
  stepIn,
  onExit,
  grid: "uniform",
  evaluations: 2,
  require: (stage) => void velocityOf(stage, "heun"),
  draws: () => [],
  step: (stage, { point, t, dt }) => {
    const v = velocityOf(stage, "heun");
    const slope = v(point, t);
    const ahead = v(add(point, mul(slope, dt)), add(t, dt));
    return { next: add(point, mul(add(slope, ahead), mul(dt, 0.5))) };
  },
});

/** Options of `rungeKutta`. */
export interface RungeKuttaOptions extends SteppingOptions {
  /**
   * The relative and absolute error of an adaptive step, used if neither `steps` nor `grid` is
   * given. Default 1e-5.
   */
  readonly tolerance?: number;
}

/**
 * Dormand–Prince 5(4) on the probability flow: adaptive steps with a `tolerance`, or order 5 on the
 * grid of `steps` or `grid`.
 */
export const rungeKutta = ({ tolerance = 1e-5, ...options }: RungeKuttaOptions = {}): Solver => ({
  ...heunSteps(options),
  name: "rungeKutta",
  tolerance,
  evaluations: stagesPerStep,
  require: (stage) => void velocityOf(stage, "rungeKutta"),
  step: (stage, { point, t, dt }) => {
    const field = fieldOf(stage);
    return { next: dormandPrince(field, [point], field([point], t, []), t, dt).next[0] };
  },
});

/** The flow as a field of one tensor. */
export function fieldOf(stage: Stage): StateField {
  const v = velocityOf(stage, "rungeKutta");
  return ([p], t) => [v(p, t)];
}
