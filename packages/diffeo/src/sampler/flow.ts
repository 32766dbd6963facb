/**
 * Integrators of the probability flow dy = v̂ dt, an ordinary equation with the marginals of the SDE:
 *
 *   Heun         order 2, two score evaluations a step
 *   rungeKutta   Dormand–Prince 5(4): steps chosen by a tolerance, or order 5 on a given grid
 *
 * In x by default, then mapped. The flow of y is the image of the flow of x, with no Itô term, so this is the same flow.
 */
import { add, fail, mul, type Tensor } from "../graph/index.ts";
import type { Process, ReverseProcess } from "../sde/index.ts";
import { followFlow } from "./adaptive.ts";
import { type Batch, inBatches } from "./batch.ts";
import { type Control, velocityInX, velocityInY } from "./control.ts";
import { blameScore, finalPoints, guardExits, startingPoints, toProcess, toX } from "./domain.ts";
import { controlOf, type SampleResult, type Sampler, type Space, timeSpan } from "./options.ts";
import { integrate } from "./run.ts";
import { dormandPrince, type Field, stagesPerStep } from "./rungekutta.ts";

/** The flow's velocity at a point of the space steps are taken in. */
function velocityOf(process: ReverseProcess, control: Control, space: Space): (p: Tensor, t: Tensor) => Tensor {
  if (space === "x") return (p, t) => velocityInX(process, control, p, t);
  return (p, t) => velocityInY(process, control, toX(process, space, p, t), t);
}

function requireScore(process: Process, method: string): void {
  if (!process.score)
    fail(
      "usage",
      `${method}: ${process.name} has no score, hence no probability flow`,
      "make it with reverse or reversePush",
    );
}

export const heun: Sampler = async (process, options) => {
  const { space = "x" } = options;
  requireScore(process, "heun");
  return integrate(process, options, (batch) => {
    const v = velocityOf(batch.process as ReverseProcess, controlOf(options), space);
    return {
      space,
      evaluations: 2,
      draws: [],
      step: (p, t, dt) => {
        const slope = v(p, t);
        const ahead = v(add(p, mul(slope, dt)), add(t, dt));
        return add(p, mul(add(slope, ahead), mul(dt, 0.5)));
      },
    };
  });
};

/** With `steps` or a `grid`, order 5 on it; otherwise steps as long as `tolerance` allows. */
export const rungeKutta: Sampler = async (process, options) => {
  const { space = "x" } = options;
  requireScore(process, "rungeKutta");
  const fieldOf = (batch: Batch): Field => {
    const v = velocityOf(batch.process as ReverseProcess, controlOf(options), space);
    return ([p], t) => [v(p, t)];
  };
  if (options.steps === undefined && options.grid === undefined)
    return inBatches(process, options, (batch) => adaptive(batch, space, fieldOf(batch)));
  return integrate(process, options, (batch) => {
    const field = fieldOf(batch);
    return {
      space,
      evaluations: stagesPerStep,
      draws: [],
      step: (p, t, dt) => dormandPrince(field, [p], field([p], t, []), t, dt).next[0],
    };
  });
};

async function adaptive(batch: Batch, space: Space, field: Field): Promise<SampleResult> {
  const { process, options, build, first, count } = batch;
  const { tolerance = 1e-5, signal } = options;
  for (const name of ["known", "noise", "onExit"] as const)
    if (options[name] !== undefined)
      fail("usage", `rungeKutta: ${name} means nothing to steps chosen by tolerance`, "leave it out, or give steps");
  const [from, to] = timeSpan(process, options);
  const start = await startingPoints(batch, space, from);
  const show = build("show", (p: Tensor, t: Tensor) => toProcess(process, space, p, t), [
    [null, ...start.shape.slice(1)],
    [],
  ]);
  const { state, times, rejected, exits } = await followFlow({
    build,
    field,
    start: [start],
    from,
    to,
    tolerance,
    outside: ([p], t) => guardExits(process, space, "fail", p, p, t).exits,
    ...(signal && { signal }),
    onAccept: async ([p], step, t) =>
      options.onStep?.({ step, steps: undefined, t, first, count, points: () => show(p, t) }),
    onStuck: ([p], stretch) => blameScore(batch, space, p, stretch),
  });
  const finish = build("finish", (p: Tensor) => finalPoints(batch, space, p, to), [[null, ...start.shape.slice(1)]]);
  const samples = await finish(state[0]);
  const steps = times.length - 1;
  const scoreEvaluations = 1 + stagesPerStep * (steps + rejected) + (options.denoise ? 1 : 0);
  return { samples, steps, rejected, scoreEvaluations, exits, clamps: 0, times };
}
