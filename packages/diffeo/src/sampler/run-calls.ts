/** Steps with one call of the engine each, and noise from a given source. */
import type { NdArray, Shape } from "../graph/index.ts";
import type { Batch } from "./batch.ts";
import { byIndex } from "./compiler.ts";
import { failNotFinite, failOutside, firstNotFinite } from "./exits.ts";
import { independentNoise } from "./noise.ts";
import { pauses, turn } from "./pauses.ts";
import { type Ended, type GridRun, memoryFor, report, stepAt } from "./step-graphs.ts";

/** The noise of each step. */
function drawer(
  { options, type, first, count }: Batch,
  times: readonly number[],
  draws: readonly Shape[],
  repeats: number,
) {
  const noise = options.noise ?? independentNoise(options.key);
  const draw = (k: number, repeat: number, shape: Shape, index: number): NdArray => {
    const step = k * repeats + repeat;
    const data = noise({
      step,
      index,
      from: times[k],
      to: times[k + 1],
      first,
      count,
      shape,
      dtype: type,
    });
    return { shape: [count, ...shape], dtype: type, data };
  };
  const drawAll = (k: number, repeat: number): Readonly<Record<string, NdArray>> =>
    byIndex(draws.map((shape, index) => draw(k, repeat, shape, index)));
  return { draw, drawAll };
}

export async function runCalls(run: GridRun): Promise<Ended> {
  const { batch, times, condition, graphs } = run;
  const { options, event, controls, worker } = batch;
  const steps = times.length - 1;
  const { draw, drawAll } = drawer(batch, times, graphs.draws, condition.repeats);
  const memory = memoryFor(batch, condition, times, run.start.shape);
  const move = graphs.move();
  let point = run.start;
  let [exits, clamps] = [0, 0];
  const pause = pauses();
  let upcoming = drawAll(0, 0);
  for (let k = 0; k < steps; k++) {
    const step = stepAt(times, k);
    const { from, to } = step;
    for (let repeat = 0; repeat < condition.repeats; repeat++) {
      options.signal?.throwIfAborted();
      const { values } = controls;
      const moving = move(point, from, to - from, upcoming, values, condition.values, memory.of(k));
      // On a worker the next noise is computed while the device runs the step; yield first, so that
      // the request is sent. Errors are thrown where the result is awaited.
      moving.catch(() => undefined);
      if (worker) await turn();
      if (repeat + 1 < condition.repeats) upcoming = drawAll(k, repeat + 1);
      else if (k + 1 < steps) upcoming = drawAll(k + 1, 0);
      const result = await moving;
      const bad = firstNotFinite(result.landed ?? result.next);
      if (bad !== undefined) await failNotFinite(batch, point, bad, step);
      const lost = Number(result.lost.data[0]);
      if (lost > 0) failOutside(batch, lost, step);
      exits += Number(result.exits.data[0]);
      clamps += Number(result.clamps.data[0]);
      point = result.next;
      memory.keep(result.memory);
      if (repeat < condition.repeats - 1)
        point = await condition.back(point, to, from, draw(k, repeat, event, graphs.draws.length));
      await pause();
    }
    await report(run, k, point);
  }
  return { point, exits, clamps };
}
