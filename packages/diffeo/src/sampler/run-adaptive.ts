/** A run with adaptive steps. */
import { fail, ndarray, type Tensor } from "../graph/index.ts";
import { followFlow } from "./adaptive.ts";
import type { Batch } from "./batch.ts";
import { applyControls } from "./controls.ts";
import { blameScore, finalPoints, guardExits, startingPoints, toProcess } from "./exits.ts";
import { fieldOf } from "./flow.ts";
import { type SampleResult, type Samples, timeSpan } from "./options.ts";
import { stagesPerStep } from "./rungekutta.ts";
import { stageOf } from "./solver.ts";

export async function runAdaptive(batch: Batch, tolerance: number): Promise<SampleResult> {
  const { process, options, build, first, count, solver, controls, type } = batch;
  const { signal } = options;
  for (const name of ["known", "noise"] as const)
    if (options[name] !== undefined)
      fail(
        "usage",
        `rungeKutta: \`${name}\` cannot be used with adaptive steps`,
        "leave it out, or set `steps`",
      );
  if (solver.onExit !== "fail")
    fail(
      "usage",
      "rungeKutta: `onExit` cannot be used with adaptive steps, which are shortened if they " +
        "leave the domain",
      "leave it out, or set `steps`",
    );
  const [from, to] = timeSpan(process, options);
  const start = await startingPoints(batch, from);
  const open = [null, ...start.shape.slice(1)];
  const names = Object.keys(controls.values);
  const run = (values: readonly Tensor[]) =>
    applyControls(process, batch, Object.fromEntries(names.map((name, i) => [name, values[i]])));
  const show = build("show", (p: Tensor, t: Tensor) => toProcess(process, solver.stepIn, p, t), [
    open,
    [],
  ]);
  const { state, times, rejected, exits } = await followFlow({
    build,
    name: controls.name,
    field: (state, t, values) => fieldOf(stageOf(run(values), solver.stepIn))(state, t, []),
    fixed: Object.values(controls.values).map((value) => ndarray(value, type)),
    start: [start],
    from,
    to,
    tolerance,
    outside: ([p], t) => guardExits(process, solver, p, p, t).exits,
    signal,
    onAccept: async ([p], step, t) =>
      options.onStep?.({ step, steps: undefined, t, first, count, points: () => show(p, t) }),
    onStuck: ([p], step) => blameScore(batch, p, step),
  });
  const specs = Object.fromEntries(names.map((name) => [name, []]));
  const finish = build(
    `finish${controls.name}`,
    (p: Tensor, t: Tensor, values: Readonly<Record<string, Tensor>>) =>
      finalPoints(batch, run(Object.values(values)), p, t),
    [open, [], specs],
  );
  const samples = (await finish(state[0], to, controls.values)) as Samples;
  const steps = times.length - 1;
  const scoreEvaluations = 1 + stagesPerStep * (steps + rejected) + (batch.denoise ? 1 : 0);
  return { samples, steps, rejected, scoreEvaluations, exits, clamps: 0, times };
}
