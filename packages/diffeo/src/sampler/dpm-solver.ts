/**
 * Exponential integrators in data prediction: DPM-Solver++(2M) and SDE-DPM-Solver++(2M) (C. Lu et
 * al., "DPM-Solver++", 2022), for X_t | x₀ ~ N(m(t) x₀, σ(t)² I). With λ = log m/σ and D = E[x₀ |
 * x] = (x + σ²s)/m the motions of X are
 *
 *   flow       v = (log σ)˙ x + m λ̇ D         d(x/σ) = e^λ D dλ
 *   reverse    f̄ = (log σ²/m)˙ x + 2 m λ̇ D    d(x m/σ²) = 2 e^{2λ} D dλ + (m/σ²) g dW̄
 *
 * with g² = −2σ²λ̇, since s = (m D − x)/σ². The stiff part, which is linear in x, is integrated
 * exactly, and D is approximated by a line in λ through its values at this and the previous step.
 * From t to t′, with h = λ(t′) − λ(t), h₀ = λ(t) − λ(last) and D* = D + ½ (h/h₀)(D − D_last):
 *
 *   flow       x′ = (σ′/σ) x + m′(1 − e^{−h}) D*
 *   reverse    x′ = (σ′/σ) e^{−h} x + m′(1 − e^{−2h}) D* + σ′√(1 − e^{−2h}) z
 *
 * With D* = D throughout, of first order, the reverse step is the ancestral one of DDPM (J. Ho et
 * al., 2020): x′ is sampled as if x₀ were D. D is a martingale, so earlier predictions do not tell
 * its direction, and these steps are closest to the paths of the process (fitted.ts). A line
 * through two values has a better mean, and so a higher weak order.
 *
 * D* = D also in the first step, which has no previous one, and, as in the paper, in the last of
 * fewer than 15 steps. The reverse step is exact in distribution for any h if D does not depend on
 * x, as for data of a single point.
 */
import { eventOf } from "../bijector/event.ts";
import {
  add,
  div,
  equal,
  exp,
  expm1,
  fail,
  jvp,
  log,
  mul,
  neg,
  onesLike,
  sqrt,
  sub,
  type Tensor,
  where,
} from "../graph/index.ts";
import { applyDiffusion, type Process, type Transition } from "../sde/index.ts";
import { drawnShape, type Solver, type StepInputs, velocityOf } from "./solver.ts";

/** With fewer steps the last one is of first order. */
const FEW = 15;

const shared = {
  stepIn: "x",
  onExit: "fail",
  grid: "logSnr",
  takesFitted: true,
  evaluations: 1,
} as const;

const remembers = (k: number, steps: number): boolean => k > 0 && !(k === steps - 1 && steps < FEW);

/**
 * DPM-Solver++(2M): second-order exponential steps of the probability flow. Its grid is `logSnr` by
 * default.
 */
export const dpmSolver2M = (): Solver => ({
  ...shared,
  remembers,
  name: "dpmSolver2M",
  require: (stage) => {
    transitionOf(stage.process, "dpmSolver2M");
    velocityOf(stage, "dpmSolver2M");
  },
  draws: () => [],
  step: (stage, step) => {
    const { point, t, dt } = step;
    const at = levels(transitionOf(stage.process, "dpmSolver2M"), t, dt);
    const data = div(
      sub(velocityOf(stage, "dpmSolver2M")(point, t), mul(point, at.sigmaRate)),
      mul(at.m, at.lambdaRate),
    );
    const { kept, gained } = flowWeights(at);
    const next = add(mul(point, kept), mul(extrapolated(data, step, at), gained));
    return { next, memory: data };
  },
});

/**
 * SDE-DPM-Solver++(2M): second-order exponential steps of the reverse SDE. Its grid is `logSnr` by
 * default.
 */
export const dpmSolver2MSde = (): Solver => ({ ...ancestral(), name: "dpmSolver2MSde", remembers });

/** The ancestral sampler of DDPM: first-order exponential steps of the reverse SDE. */
export const ancestral = (): Solver => ({
  ...shared,
  name: "ancestral",
  require: ({ process }) => {
    transitionOf(process, "ancestral steps");
    if (!process.reversed)
      fail(
        "usage",
        `exponential steps need a reverse process, ${process.name} runs forward`,
        "use eulerMaruyama, or a reverse process",
      );
  },
  draws: (stage, event, dtype) => [drawnShape(stage, event, dtype)],
  step: ({ process, motion }, step) => {
    const { point, t, dt } = step;
    const at = levels(transitionOf(process, "ancestral steps"), t, dt);
    const linear = sub(mul(at.sigmaRate, 2), at.mRate);
    const data = div(
      sub(motion.drift(point, t), mul(point, linear)),
      mul(mul(at.m, at.lambdaRate), 2),
    );
    const kept = mul(point, mul(div(at.sigmaNext, at.sigma), exp(neg(at.h))));
    const fresh = neg(expm1(mul(at.h, -2)));
    const gained = mul(extrapolated(data, step, at), mul(at.mNext, fresh));
    const g = mul(at.sigma, sqrt(mul(at.lambdaRate, -2)));
    const noise = mul(
      applyDiffusion(motion.diffusion(point, t), step.noise[0], eventOf(point, process.eventRank)),
      div(mul(at.sigmaNext, sqrt(fresh)), g),
    );
    return { next: add(add(kept, gained), noise), ...(step.memory && { memory: data }) };
  },
});

function transitionOf({ transition, name }: Process, solver: string): Transition {
  return (
    transition ??
    fail(
      "usage",
      `${solver}: ${name} has no Gaussian transition`,
      "use another solver, or give the SDE a `transition`",
    )
  );
}

/** m, σ and λ at both ends of a step, and their rates (log m)˙, (log σ)˙ and λ̇ at its start. */
function levels({ meanFactor, std }: Transition, t: Tensor, dt: Tensor) {
  const rate = (f: (t: Tensor) => Tensor): Tensor =>
    jvp((s: Tensor) => log(f(s)), t, onesLike(t))[1];
  const lambda = (s: Tensor): Tensor => log(div(meanFactor(s), std(s)));
  const to = add(t, dt);
  const [mRate, sigmaRate] = [rate(meanFactor), rate(std)];
  return {
    m: meanFactor(t),
    sigma: std(t),
    mNext: meanFactor(to),
    sigmaNext: std(to),
    mRate,
    sigmaRate,
    lambdaRate: sub(mRate, sigmaRate),
    lambda,
    h: sub(lambda(to), lambda(t)),
  };
}

/** σ and m of a step of the flow, and its length h in λ = log m/σ. */
export interface StepLevels {
  readonly sigma: Tensor;
  readonly sigmaNext: Tensor;
  readonly mNext: Tensor;
  readonly h: Tensor;
}

/** The factors of x and D* in a step of the flow: σ′/σ and m′(1 − e^{−h}). */
export const flowWeights = ({ sigma, sigmaNext, mNext, h }: StepLevels) => ({
  kept: div(sigmaNext, sigma),
  gained: mul(mNext, neg(expm1(neg(h)))),
});

/** D*, or D if there is no previous step or no memory of it. */
function extrapolated(
  data: Tensor,
  { t, memory }: StepInputs,
  { lambda, h }: ReturnType<typeof levels>,
): Tensor {
  if (!memory) return data;
  const { value, since } = memory;
  const weight = where(equal(since, t), 0, mul(div(h, sub(lambda(t), lambda(since))), 0.5));
  return add(data, mul(sub(data, value), weight));
}
