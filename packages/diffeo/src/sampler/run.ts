/**
 * The loop under every solver with a time grid: one graph a step,
 *
 *   (point, t, dt, z, controls, known values, memory) ↦ (next point, how many left the domain, how many were put back)
 *
 * score, drift, scaled noise, update and the check of the domain together.
 */
import type { OpenSpec } from "../engine/index.ts";
import { add, type NdArray, type Shape, type Tensor } from "../graph/index.ts";
import { allocate, sizeOf } from "../graph/ndarray.ts";
import type { Batch } from "./batch.ts";
import { byIndex, type NamedTensors } from "./compiler.ts";
import { applyControls } from "./controls.ts";
import {
  failNotFinite,
  failOutside,
  finalPoints,
  finalTime,
  firstNotFinite,
  guardExits,
  startingPoints,
  type TimeStep,
  toProcess,
} from "./exits.ts";
import { type Condition, conditioning, knownOf } from "./known.ts";
import { independentNoise } from "./noise.ts";
import { gridOf, type SampleResult, type Samples } from "./options.ts";
import { pauses, turn } from "./pauses.ts";
import { stageOf } from "./solver.ts";

/** The graphs of a run, and the noise that one step of them takes. */
function graphsOf(batch: Batch, condition: Condition, shape: Shape) {
  const { process, solver, event, build, controls, type } = batch;
  const draws = [...solver.draws(stageOf(process, solver.stepIn), shape, type), ...condition.draws];
  const open = [null, ...shape];
  const memory: Record<string, OpenSpec> = solver.remembers ? { value: open, since: [] } : {};
  const specs = {
    noise: byIndex(draws.map((one) => [null, ...one])),
    values: Object.fromEntries(Object.keys(controls.values).map((name) => [name, []])),
    known: Object.fromEntries(
      Object.entries(condition.values).map(([name, { dtype }]) => [
        name,
        { shape: [null, ...event], dtype },
      ]),
    ),
    memory,
  };
  const seen = new Set<string>();
  const run = (values: NamedTensors, known: NamedTensors) =>
    applyControls(process, batch, values, knownOf(known), seen);
  const move = build(
    `move${controls.name}`,
    (
      p: Tensor,
      t: Tensor,
      dt: Tensor,
      z: NamedTensors,
      values: NamedTensors,
      known: NamedTensors,
      past: NamedTensors,
    ) => {
      const to = add(t, dt);
      const noise = Object.values(z);
      const { value, since } = past;
      const step = { point: p, t, dt, noise, ...(value && { memory: { value, since } }) };
      const { next, memory } = solver.step(stageOf(run(values, known), solver.stepIn), step);
      const landed = condition.apply(next, to, noise.at(-1), known);
      return { ...guardExits(process, solver, p, landed, to), ...(memory && { memory }) };
    },
    [open, [], [], specs.noise, specs.values, specs.known, specs.memory],
  );
  const show = build("show", (p: Tensor, t: Tensor) => toProcess(process, solver.stepIn, p, t), [
    open,
    [],
  ]);
  const finish = build(
    `finish${controls.name}`,
    (p: Tensor, t: Tensor, values: NamedTensors, known: NamedTensors) =>
      finalPoints(batch, run(values, known), p, t, (x) => condition.settle(x, known)),
    [open, [], specs.values, specs.known],
  );
  return { draws, move, show, finish };
}

/** What is drawn for each step. */
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

/** What a step remembers of the last; steps that are repeated have no last one on the same path. */
function memoryFor(
  { solver, type }: Batch,
  condition: Condition,
  times: readonly number[],
  shape: Shape,
) {
  let value: NdArray = {
    shape,
    dtype: type,
    data: allocate(type, solver.remembers ? sizeOf(shape) : 0),
  };
  return {
    of: (k: number): Readonly<Record<string, NdArray | number>> => {
      if (!solver.remembers) return {};
      const used = condition.repeats === 1 && solver.remembers(k, times.length - 1);
      return { value, since: times[used ? k - 1 : k] };
    },
    keep: (left: NdArray | undefined): void => {
      if (left) value = left;
    },
  };
}

/** Takes a batch along the grid. */
export async function runGrid(batch: Batch): Promise<SampleResult> {
  const { process, options, solver, first, count, event, controls, worker } = batch;
  const times = gridOf(process, options, solver.grid);
  const steps = times.length - 1;
  let point = await startingPoints(batch, times[0]);
  const condition = await conditioning(batch, finalTime(batch, times[steps]));
  const { draws, move, show, finish } = graphsOf(batch, condition, point.shape.slice(1));
  const { draw, drawAll } = drawer(batch, times, draws, condition.repeats);
  const memory = memoryFor(batch, condition, times, point.shape);
  const { values } = controls;
  let [exits, clamps] = [0, 0];
  const pause = pauses();
  let upcoming = drawAll(0, 0);
  for (let k = 0; k < steps; k++) {
    const step: TimeStep = { step: k, from: times[k], to: times[k + 1] };
    const { from, to } = step;
    for (let repeat = 0; repeat < condition.repeats; repeat++) {
      options.signal?.throwIfAborted();
      const moving = move(point, from, to - from, upcoming, values, condition.values, memory.of(k));
      // On a worker the next noise is drawn while the device moves; a turn of the loop first, for
      // the request to leave. What fails meanwhile is raised where the result is awaited.
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
        point = await condition.back(point, to, from, draw(k, repeat, event, draws.length));
      await pause();
    }
    await options.onStep?.({
      step: k + 1,
      steps,
      t: to,
      first,
      count,
      points: () => show(point, to),
    });
  }
  const samples = await finish(point, times[steps], values, condition.values);
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
