/**
 * The loop under every method with a time grid: one graph a step, compiled once,
 *
 *   (point, t, dt, z) ↦ (next point, how many left the domain, how many were put back)
 *
 * score, drift, scaled noise, update and the check of the domain together.
 */
import { add, type NdArray, type Shape, type Tensor } from "../graph/index.ts";
import type { Process } from "../sde/index.ts";
import { type Batch, inBatches, numbered } from "./batch.ts";
import {
  failNotFinite,
  failOutside,
  finalPoints,
  finalTime,
  guardExits,
  startingPoints,
  toProcess,
  unfinished,
} from "./domain.ts";
import { conditioning } from "./known.ts";
import { independentNoise } from "./noise.ts";
import { gridOf, type SampleOptions, type SampleResult, type Space } from "./options.ts";

/** One step of a method, as a graph. */
export interface Scheme {
  readonly space: Space;
  /** Score evaluations a step. */
  readonly evaluations: number;
  /** The shapes of the standard normals that a step takes, for one event. */
  readonly draws: readonly Shape[];
  readonly step: (point: Tensor, t: Tensor, dt: Tensor, noise: readonly Tensor[]) => Tensor;
}

type Tensors = Readonly<Record<string, Tensor>>;

/** Takes a scheme along the grid, for all samples. */
export const integrate = (
  process: Process,
  options: SampleOptions,
  schemeFor: (batch: Batch) => Scheme,
): Promise<SampleResult> => inBatches(process, options, (batch) => integrateBatch(batch, schemeFor));

async function integrateBatch(batch: Batch, schemeFor: (batch: Batch) => Scheme): Promise<SampleResult> {
  const { process, options, type, first, count, event, build } = batch;
  const scheme = schemeFor(batch);
  const { space } = scheme;
  const { onExit = "fail", signal } = options;
  const noise = options.noise ?? independentNoise(options.key);
  const times = gridOf(process, options);
  const steps = times.length - 1;

  let point = await startingPoints(batch, space, times[0]);
  const condition = await conditioning(batch, space, finalTime(batch, times[steps]));
  const draws = [...scheme.draws, ...condition.draws];
  const open = [null, ...point.shape.slice(1)];
  const values = condition.values.map(({ shape, dtype }) => ({
    shape: shape.length === point.shape.length ? open : shape,
    dtype,
  }));
  const informed = (known: Tensors): Batch => ({ ...batch, process: condition.process(Object.values(known)) });
  const move = build(
    "move",
    (p: Tensor, t: Tensor, dt: Tensor, z: Tensors, known: Tensors) => {
      const to = add(t, dt);
      const noise = Object.values(z);
      const { step } = schemeFor(informed(known));
      const landed = condition.apply(step(p, t, dt, noise), to, noise.at(-1), Object.values(known));
      return guardExits(process, space, onExit, p, landed, to);
    },
    [open, [], [], numbered(draws.map((shape) => [null, ...shape])), numbered(values)],
  );
  const show = build("show", (p: Tensor, t: Tensor) => toProcess(process, space, p, t), [open, []]);
  const finish = build(
    "finish",
    (p: Tensor, known: Tensors) =>
      finalPoints(informed(known), space, p, times[steps], (x) => condition.settle(x, Object.values(known))),
    [open, numbered(values)],
  );

  const known = numbered(condition.values);
  let exits = 0;
  let clamps = 0;
  const pause = pauses();
  const draw = (k: number, repeat: number, shape: Shape, index: number): NdArray => {
    const step = k * condition.repeats + repeat;
    const data = noise({ step, index, from: times[k], to: times[k + 1], first, count, shape, dtype: type });
    return { shape: [count, ...shape], dtype: type, data };
  };
  const drawAll = (k: number, repeat: number): Readonly<Record<string, NdArray>> =>
    numbered(draws.map((shape, index) => draw(k, repeat, shape, index)));
  let upcoming = drawAll(0, 0);
  for (let k = 0; k < steps; k++) {
    const stretch = { step: k, from: times[k], to: times[k + 1] };
    const { from, to } = stretch;
    for (let repeat = 0; repeat < condition.repeats; repeat++) {
      signal?.throwIfAborted();
      const moving = move(point, from, to - from, upcoming, known);
      // On a worker the next noise is drawn while the device moves; a turn of the loop first, for the request to leave. What
      // fails meanwhile is raised where the result is awaited.
      moving.catch(() => undefined);
      if (options.worker) await turn();
      if (repeat + 1 < condition.repeats) upcoming = drawAll(k, repeat + 1);
      else if (k + 1 < steps) upcoming = drawAll(k + 1, 0);
      const result = await moving;
      const bad = unfinished(result.landed ?? result.next);
      if (bad !== undefined) await failNotFinite(batch, space, point, bad, stretch);
      const lost = Number(result.lost.data[0]);
      if (lost > 0) failOutside(batch, lost, stretch);
      exits += Number(result.exits.data[0]);
      clamps += Number(result.clamps.data[0]);
      point = result.next;
      if (repeat < condition.repeats - 1)
        point = await condition.back(point, to, from, draw(k, repeat, event, draws.length));
      await pause();
    }
    await options.onStep?.({ step: k + 1, steps, t: to, first, count, points: () => show(point, to) });
  }
  const samples = await finish(point, known);
  const bad = unfinished(samples);
  if (bad !== undefined)
    await failNotFinite(batch, space, point, bad, { step: steps - 1, from: times[steps], to: times[steps] });
  const scoreEvaluations = steps * condition.repeats * scheme.evaluations + (options.denoise ? 1 : 0);
  return { samples, steps, rejected: 0, scoreEvaluations, exits, clamps, times };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Lets timers, signals and the screen have their turn a few times a second: a run of the engine blocks the thread. */
export function pauses(): () => Promise<void> {
  let last = Date.now();
  return async () => {
    if (Date.now() - last < 50) return;
    await turn();
    last = Date.now();
  };
}
