/**
 * Samplers that are opened once and called often:
 *
 *     const draw = await openSampler(process, { shape: [2] });
 *     const { samples } = await draw({ key: key(7), count: 100, driftScale: 1.02 });
 *     await draw.dispose();
 *
 * The graphs, including the network, are compiled at the first call that needs them: one set per
 * batch size and per set of controls in use (w ≠ 1, c ≠ 1, `known`, a likelihood of known values,
 * the names of aims). Keys, times, and the values of controls and known coordinates are inputs of
 * the graphs, so they can change without compiling again. To compile ahead, make a call of one step
 * with a `tEnd` just before T. A smaller batch is not padded to a compiled size: one sample would
 * cost as much as 64 at every call to save one compilation, and rounding depends on the size. With
 * `batch: b` there are at most b sizes.
 */
import {
  constant,
  type FloatType,
  fail,
  input,
  type NdArray,
  type Shape,
  sizeOf,
} from "../graph/index.ts";
import { showShape } from "../graph/ndarray.ts";
import { batches, type Closable, disposable, rowsOf, stackArrays } from "../host/index.ts";
import { type Process, requireScoreOfState } from "../sde/index.ts";
import type { Batch, OpenedSampler } from "./batch.ts";
import { compiler, floatType } from "./compiler.ts";
import { controlsOf } from "./controls.ts";
import {
  refuseUnknownDraw,
  refuseUnknownOpening,
  refuseUnknownSample,
  splitOptions,
} from "./known-options.ts";
import type {
  DrawOptions,
  Exactly,
  OpenOptions,
  SampleOptions,
  SampleResult,
  Samples,
  TypeOf,
} from "./options.ts";
import { runGrid } from "./run.ts";
import { runAdaptive } from "./run-adaptive.ts";
import { stageOf } from "./solver.ts";
import { solverOf } from "./solvers.ts";

/** A sampler that is opened once and called often; `dispose` closes it. */
export interface OpenSampler<T extends FloatType = FloatType> extends Closable {
  (options: DrawOptions): Promise<SampleResult<T>>;
  /** Frees the graphs. Calling the sampler afterwards is an error. */
  dispose(): Promise<void>;
}

/**
 * Opens a sampler of a process. Graphs are compiled at the first call that needs them, and kept
 * until `dispose`.
 *
 * @example
 * const draw = await openSampler(reverse(vp(), (x) => neg(x)), { shape: [2] });
 * const { samples } = await draw({ key: random.key(7), count: 100 });
 * await draw.dispose();
 */
export async function openSampler<const O extends OpenOptions>(
  process: Process,
  options: Exactly<O, OpenOptions>,
): Promise<OpenSampler<TypeOf<O>>> {
  refuseUnknownOpening(options);
  const {
    shape: event,
    solver: chosen,
    denoise = false,
    energy,
    likelihood,
    given,
    aim,
    ...engine
  }: OpenOptions = options;
  if (event.length !== process.eventRank)
    fail(
      "shape",
      `\`shape\` is ${showShape(event)}, but the process has eventRank ${process.eventRank}`,
      "set the shape of one event, without the axis of samples",
    );
  const solver = solverOf(chosen);
  solver.require?.(stageOf(process, solver.stepIn));
  const type = floatType(engine);
  if (process.score) requireScoreOfState(process.score, event, type, process.name);
  const { build, buildSteps, dispose } = compiler(engine, type);
  const opened: OpenedSampler = {
    process,
    solver,
    type,
    event,
    denoise,
    worker: engine.worker ?? false,
    build,
    buildSteps,
    energy,
    likelihood,
    given,
    aim,
  };
  let open = true;
  const draw = async (call: DrawOptions): Promise<SampleResult> => {
    if (!open) fail("disposed", "this sampler is disposed", "open a new one");
    refuseUnknownDraw(call);
    return inBatches(opened, call);
  };
  const close = async (): Promise<void> => {
    open = false;
    await dispose();
  };
  return Object.assign(draw, disposable(close)) as OpenSampler<TypeOf<O>>;
}

/**
 * Samples a process, by default with the domain-preserving solver. Opens a sampler for one call; to
 * sample more than once, use `openSampler`.
 *
 * @throws DiffeoError of kind `usage` or `shape` if options are wrong, of kind `numerical` if a
 * sample is not finite after a step or leaves the domain
 */
export async function sample<const O extends SampleOptions>(
  process: Process,
  options: Exactly<O, SampleOptions>,
): Promise<SampleResult<TypeOf<O>>> {
  refuseUnknownSample(options);
  const all = options as SampleOptions;
  const [opening, call] = splitOptions(all);
  const event = all.shape ?? (call.start && startEvent(process, call.start, floatType(all)));
  if (!event)
    fail(
      "usage",
      "the shape of an event is not known",
      "set `shape`, as in shape: [2], or `start`",
    );
  const draw = await openSampler(process, { ...opening, shape: event });
  return draw(call).finally(() => draw.dispose()) as Promise<SampleResult<TypeOf<O>>>;
}

/** The most numbers in one array of a result: 2 GB of float32. */
const MOST_NUMBERS = 2 ** 29;

/** Runs the batches of a call. */
async function inBatches(opened: OpenedSampler, options: DrawOptions): Promise<SampleResult> {
  const { start, first = 0 } = options;
  const { solver, process } = opened;
  const count = options.count ?? start?.shape[0];
  if (count === undefined)
    fail("usage", "`count` is missing", "set the number of samples, or `start`");
  if (start && start.shape[0] !== count)
    fail(
      "shape",
      `\`start\` has ${start.shape[0]} points, \`count\` is ${count}`,
      "leave `count` out, or make both equal",
    );
  const numbers = count * sizeOf(opened.event);
  if (numbers > MOST_NUMBERS)
    fail(
      "usage",
      `\`count\` is ${count}: samples of shape ${showShape(opened.event)} have ${numbers} ` +
        `numbers, the limit is ${MOST_NUMBERS}`,
      "use fewer per call; the next call continues with `first`",
    );
  const controls = controlsOf(options, opened, solver);
  solver.require?.(stageOf(process, solver.stepIn));
  const adaptive =
    options.steps === undefined && options.grid === undefined ? solver.tolerance : undefined;
  const parts: SampleResult[] = [];
  for (const [from, rows] of batches(count, options.batch)) {
    const own = start ? { ...options, start: rowsOf(start, from, rows) } : options;
    const batch: Batch = { ...opened, options: own, controls, first: first + from, count: rows };
    parts.push(adaptive === undefined ? await runGrid(batch) : await runAdaptive(batch, adaptive));
  }
  return joinResults(parts);
}

/** The shape in x of one point of `start`: that of y, unless φ is an embedding. */
function startEvent({ chart, horizon }: Process, { shape }: NdArray, dtype: FloatType): Shape {
  const y = input("y", [1, ...shape.slice(1)], dtype);
  return (chart ? chart.phi.inverse(y, constant(horizon, y.dtype)) : y).shape.slice(1);
}

/** Joins the results of batches: the most steps of any batch, and the sums of exits and clamps. */
export const joinReports = <R extends Omit<SampleResult, "samples">>(
  parts: readonly R[],
): Omit<SampleResult, "samples"> => {
  const total = (of: (part: R) => number): number => parts.reduce((n, part) => n + of(part), 0);
  const most = (of: (part: R) => number): number => Math.max(...parts.map(of));
  return {
    steps: most((part) => part.steps),
    rejected: most((part) => part.rejected),
    scoreEvaluations: most((part) => part.scoreEvaluations),
    exits: total((part) => part.exits),
    clamps: total((part) => part.clamps),
    times: parts[0].times,
  };
};

const joinResults = (parts: readonly SampleResult[]): SampleResult => ({
  samples: stackArrays(parts.map(({ samples }) => samples)) as Samples,
  ...joinReports(parts),
});
