/**
 * Predictor–corrector: an Euler–Maruyama step of the reverse SDE, then Langevin steps at its end
 * time,
 *
 *   x ← x + ε s(x, t) + √(2ε) z,   ε = 2 (r σ(t))²
 *
 * which leave p_t invariant as ε → 0 and so correct errors of the predictor. At a fixed ratio r
 * they increase a variance v by about r²σ², so use a smaller r with smaller steps. Song et al.
 * (ICLR 2021) take ε = 2 (r ‖z‖/‖s‖)² with norms averaged over the batch; As ‖s‖ ≈ ‖z‖/σ(t), this
 * is the same ε, but samples do not depend on each other. All steps are in x; their image is
 * Langevin dynamics in y under the metric induced by φ.
 */
import { add, fail, mul, sqrt, square } from "../graph/index.ts";
import { type MarginalScore, type Process, scoreAt, type Transition } from "../sde/index.ts";
import { drawnShape, type Solver } from "./solver.ts";
import { eulerStep } from "./stochastic.ts";

/** Options of `predictorCorrector`. */
export interface CorrectorOptions {
  /** Langevin steps after each step. Default 1. */
  readonly steps?: number;
  /** r, the size of a Langevin step relative to the noise σ(t). Default 0.16. */
  readonly ratio?: number;
}

/**
 * Predictor–corrector: Euler–Maruyama steps of the reverse SDE, each followed by Langevin steps.
 */
export function predictorCorrector({ steps = 1, ratio = 0.16 }: CorrectorOptions = {}): Solver {
  if (!(Number.isInteger(steps) && steps >= 0 && ratio > 0))
    fail(
      "usage",
      `predictorCorrector: \`steps\` is ${steps} and \`ratio\` is ${ratio}`,
      "use steps ≥ 0 and ratio > 0",
    );
  return {
    name: "predictorCorrector",
    stepIn: "x",
    onExit: "fail",
    grid: "uniform",
    evaluations: 1 + steps,
    scalable: false,
    require: ({ process }) => void langevinOf(process),
    draws: (stage, event, dtype) => [
      drawnShape(stage, event, dtype),
      ...new Array(steps).fill(event),
    ],
    step: (stage, { noise: [z, ...more], ...step }) => {
      const { score, transition } = langevinOf(stage.process);
      const to = add(step.t, step.dt);
      const epsilon = mul(square(mul(transition.std(to), ratio)), 2);
      const next = more
        .slice(0, steps)
        .reduce(
          (p, noise) =>
            add(
              add(p, mul(scoreAt(score, p, to, stage.process.eventRank), epsilon)),
              mul(noise, sqrt(mul(epsilon, 2))),
            ),
          eulerStep(stage, { ...step, noise: [z] }),
        );
      return { next };
    },
  };
}

/** What Langevin steps need of a process. */
function langevinOf({ score, transition, name }: Process): {
  score: MarginalScore;
  transition: Transition;
} {
  if (!score || !transition)
    fail(
      "usage",
      `predictorCorrector: ${name} has no score or no Gaussian transition`,
      "use another solver",
    );
  return { score, transition };
}
