/** Runs over a time grid: in a module if the compiler supports it, else one call per step. */
import type { Batch } from "./batch.ts";
import { failNotFinite, finalTime, firstNotFinite, startingPoints } from "./exits.ts";
import { conditioning } from "./known.ts";
import { gridOf, type SampleResult, type Samples } from "./options.ts";
import { runCalls } from "./run-calls.ts";
import { runModule } from "./run-module.ts";
import { type GridRun, graphsOf } from "./step-graphs.ts";

/** Runs a batch over the times of a grid. */
export async function runGrid(batch: Batch): Promise<SampleResult> {
  const { process, options, solver, controls } = batch;
  const times = gridOf(process, options, solver.grid);
  const steps = times.length - 1;
  const start = await startingPoints(batch, times[0]);
  const condition = await conditioning(batch, finalTime(batch, times[steps]));
  const graphs = graphsOf(batch, condition, start.shape.slice(1));
  const run: GridRun = { batch, times, condition, graphs, start };
  const inside = options.noise === undefined && condition.repeats === 1;
  const module = inside ? await graphs.module() : undefined;
  const { point, exits, clamps } = module ? await runModule(run, module) : await runCalls(run);
  const samples = await graphs.finish(point, times[steps], controls.values, condition.values);
  const bad = firstNotFinite(samples);
  if (bad !== undefined)
    await failNotFinite(batch, point, bad, {
      step: steps - 1,
      from: times[steps],
      to: times[steps],
    });
  const evaluations = process.score ? solver.evaluations : 0;
  const scoreEvaluations = steps * condition.repeats * evaluations + (batch.denoise ? 1 : 0);
  return {
    samples: samples as Samples,
    steps,
    rejected: 0,
    scoreEvaluations,
    exits,
    clamps,
    times,
  };
}
