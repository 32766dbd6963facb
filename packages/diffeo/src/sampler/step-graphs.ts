/**
 * The graphs of a run over a grid. One of them is a step, with score, drift, scaled noise, update
 * and the check of the domain:
 *
 *   (point, t, dt, z, controls, known values, memory)
 *       ↦ (next point, exits, clamps)
 *
 * The others give the points of the process during the run and at its end.
 */
import type { OpenSpec, OpenSpecs } from "../engine/index.ts";
import {
  add,
  isSpec,
  mapTree,
  type NdArray,
  type Shape,
  type Spec,
  type Tensor,
  trace,
} from "../graph/index.ts";
import { allocate, sizeOf } from "../graph/ndarray.ts";
import type { Batch } from "./batch.ts";
import { byIndex, type NamedTensors } from "./compiler.ts";
import { applyControls } from "./controls.ts";
import { finalPoints, guardExits, type TimeStep, toProcess } from "./exits.ts";
import { type Condition, knownOf } from "./known.ts";
import { stageOf } from "./solver.ts";
import type { StepResult } from "./steps-module.ts";
import type { StepGraph } from "./steps-session.ts";

/** The arguments of a step. */
type StepArguments = readonly [
  point: Tensor,
  t: Tensor,
  dt: Tensor,
  noise: NamedTensors,
  values: NamedTensors,
  known: NamedTensors,
  past: NamedTensors,
];
type Specs<X extends readonly unknown[]> = { readonly [I in keyof X]: OpenSpecs<X[I]> };
type StepSpecs = Specs<StepArguments>;

/** The graph of a step for the samples of a batch, and the positions of its inputs. */
function stepGraph(
  step: (...args: StepArguments) => StepResult,
  specs: StepSpecs,
  draws: readonly Shape[],
  { count, type }: Batch,
): StepGraph {
  const concrete = specs.map((spec) => mapTree<OpenSpec, Spec>(spec, closed(count), isSpec));
  const traced = trace(step as unknown as (...args: never[]) => StepResult, concrete, type);
  const [values, known] = [specs[4], specs[5]].map((spec) => Object.keys(spec).length);
  const first = 3 + draws.length;
  const value = first + values + known;
  const noise = draws.map((_, i) => 3 + i);
  const past = traced.inputs.length > value ? { value, since: value + 1 } : {};
  return { traced, places: { point: 0, t: 1, dt: 2, noise, fixed: first, ...past }, draws };
}

/** A spec with the given size for its open axes. */
const closed =
  (count: number) =>
  (spec: OpenSpec): Spec => {
    const { shape, dtype } = "shape" in spec ? spec : { shape: spec, dtype: undefined };
    return { shape: shape.map((d) => d ?? count), dtype };
  };

/** The graphs of a run, and the noise that one step of them takes. */
export function graphsOf(batch: Batch, condition: Condition, shape: Shape) {
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
  const step = (...[p, t, dt, z, values, known, past]: StepArguments): StepResult => {
    const to = add(t, dt);
    const noise = Object.values(z);
    const { value, since } = past;
    const inputs = { point: p, t, dt, noise, ...(value && { memory: { value, since } }) };
    const { next, memory } = solver.step(stageOf(run(values, known), solver.stepIn), inputs);
    const landed = condition.apply(next, to, noise.at(-1), known);
    return { ...guardExits(process, solver, p, landed, to), ...(memory && { memory }) };
  };
  const inputs: StepSpecs = [open, [], [], specs.noise, specs.values, specs.known, specs.memory];
  const name = `move${controls.name}`;
  const move = () => build(name, step, inputs);
  const graph = (): StepGraph => stepGraph(step, inputs, draws, batch);
  const module = () => batch.buildSteps(name, batch.count, graph);
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
  // Only one of `move` and `module` is used and compiled.
  return { draws, move, module, show, finish };
}

/** The arguments of the loops over a grid. */
export interface GridRun {
  readonly batch: Batch;
  readonly times: readonly number[];
  readonly condition: Condition;
  readonly graphs: ReturnType<typeof graphsOf>;
  readonly start: NdArray;
}

/** The result of a loop. */
export interface Ended {
  readonly point: NdArray;
  readonly exits: number;
  readonly clamps: number;
}

export const stepAt = (times: readonly number[], k: number): TimeStep => ({
  step: k,
  from: times[k],
  to: times[k + 1],
});

/** Reports step k to the caller. */
export async function report(
  { batch, times, graphs }: GridRun,
  k: number,
  point: NdArray,
): Promise<void> {
  const { options, first, count } = batch;
  const [step, steps, t] = [k + 1, times.length - 1, times[k + 1]];
  await options.onStep?.({ step, steps, t, first, count, points: () => graphs.show(point, t) });
}

/**
 * The memory of a step; repeated steps have none, because the previous step is not on the same
 * path.
 */
export function memoryFor(
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
