/** Many steps per call, in a module that also computes their noise. */
import type { NdArray } from "../graph/index.ts";
import { allocate } from "../graph/ndarray.ts";
import { sampleKeys } from "../random/index.ts";
import { failNotFinite, failOutside, firstNotFinite } from "./exits.ts";
import { noiseRoot } from "./noise.ts";
import { pauses } from "./pauses.ts";
import { type Ended, type GridRun, memoryFor, report, stepAt } from "./step-graphs.ts";
import type { StepsSession } from "./steps-session.ts";

export async function runModule(run: GridRun, module: StepsSession): Promise<Ended> {
  const { batch, times, condition } = run;
  const { options, controls, first, count, solver, type } = batch;
  const memory = memoryFor(batch, condition, times, run.start.shape);
  const keys = sampleKeys(noiseRoot(options.key), count, first);
  const numbers = Object.values(controls.values).map((v) => allocate(type, 1).fill(v as never));
  const fixed = [...numbers, ...Object.values(condition.values).map(({ data }) => data)];
  const list = times.slice(0, -1).map((t, k) => {
    const { since = t } = memory.of(k);
    return { t, dt: times[k + 1] - t, since: since as number };
  });
  let point = run.start;
  let past = solver.remembers ? (memory.of(0).value as NdArray) : undefined;
  let [exits, clamps] = [0, 0];
  const pause = pauses();
  for (let k = 0; k < list.length; ) {
    options.signal?.throwIfAborted();
    const steps = list.slice(k, options.onStep ? k + 1 : undefined);
    const end = module.run({ first: k, steps, point, memory: past, keys, fixed });
    k += end.taken;
    exits += end.exits;
    clamps += end.clamps;
    [point, past] = [end.point, end.memory];
    if (end.stopped) {
      const bad = firstNotFinite(end.stopped.landed);
      if (bad !== undefined) await failNotFinite(batch, point, bad, stepAt(times, k));
      failOutside(batch, end.stopped.lost, stepAt(times, k));
    }
    await report(run, k - 1, point);
    await pause();
  }
  return { point, exits, clamps };
}
