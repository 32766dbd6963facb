/**
 * Predictor–corrector: an Euler–Maruyama step of the reverse SDE, then Langevin steps at the time it arrives at,
 *
 *   x ← x + ε s(x, t) + √(2ε) z,   ε = 2 (r σ(t))²
 *
 * which leave p_t unchanged as ε → 0 and so mend what the predictor got wrong; at a fixed ratio r they widen a law of
 * variance v by about r²σ²/v of it, so a smaller r belongs with smaller steps. Song et al. (ICLR 2021) take
 * ε = 2 (r ‖z‖/‖s‖)² with norms averaged over the batch; ‖s‖ ≈ ‖z‖/σ(t), so this is the same ε without making one sample
 * depend on the others. All steps are in x: the image of Langevin dynamics there is Langevin dynamics in y under the
 * metric that φ carries over.
 */
import { add, fail, mul, sqrt, square } from "../graph/index.ts";
import type { ReverseProcess } from "../sde/index.ts";
import { controlOf, type Sampler } from "./options.ts";
import { integrate } from "./run.ts";
import { eulerScheme } from "./stochastic.ts";

export const predictorCorrector: Sampler = (process, options) => {
  const { steps = 1, ratio = 0.16 } = options.corrector ?? {};
  const { transition } = process.sde;
  const { driftScale, timeDilation } = controlOf(options);
  if (!process.score || !transition)
    fail("usage", `predictorCorrector: ${process.name} has no score or no σ(t)`, "use another method");
  if (driftScale !== 1 || timeDilation !== 1)
    fail(
      "usage",
      "predictorCorrector: the corrector would undo driftScale and timeDilation",
      "use domainPreserving with them, or leave them at 1",
    );
  if (options.space === "y")
    fail("usage", "predictorCorrector: Langevin steps are taken in x", 'leave space out, or make it "x"');
  if (!(Number.isInteger(steps) && steps >= 0 && ratio > 0))
    fail("usage", `predictorCorrector: ${steps} steps of ratio ${ratio}`, "use steps ≥ 0 and ratio > 0");
  return integrate(process, options, (batch) => {
    const predictor = eulerScheme(batch, "x");
    const { score } = batch.process as ReverseProcess;
    return {
      space: "x",
      evaluations: 1 + steps,
      draws: [...predictor.draws, ...new Array(steps).fill(batch.event)],
      step: (x, t, dt, [z, ...more]) => {
        const to = add(t, dt);
        const epsilon = mul(square(mul(transition.std(to), ratio)), 2);
        return more
          .slice(0, steps)
          .reduce(
            (p, noise) => add(add(p, mul(score(p, to), epsilon)), mul(noise, sqrt(mul(epsilon, 2)))),
            predictor.step(x, t, dt, [z]),
          );
      },
    };
  });
};
