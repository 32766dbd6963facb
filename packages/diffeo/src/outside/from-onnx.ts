/**
 * A score network from an ONNX file of any exporter.
 *
 * The file runs unchanged in its own session, on the device of the compiled graphs. Copying its
 * nodes into the graphs would save one call per step, but a model has one version of ONNX's
 * operators, so files of other versions would have to be translated, and the weights would be
 * copied into the graph of every batch size.
 */

import { openModel } from "../engine/index.ts";
import {
  DiffeoError,
  fail,
  type NdArray,
  type OnnxModel,
  type OutsideCall,
  type Place,
  type Shape,
} from "../graph/index.ts";
import { convert, showShape, toFloat64 } from "../graph/ndarray.ts";
import type { MarginalScore } from "../sde/index.ts";
import { type Answer, doubtOf } from "./at-noise.ts";
import { described } from "./describe-onnx.ts";
import { inRows } from "./external.ts";
import { type OnnxFile, readOnnxFile } from "./onnx-file.ts";
import { type PredictionOptions, scoreFrom } from "./prediction.ts";
import {
  answers,
  fixedRows,
  onnxModelOf,
  type PortOptions,
  type Ports,
  portsOf,
  type Runner,
  statedEvent,
  timeForms,
  type Wiring,
} from "./wiring.ts";

/** Options of `fromOnnx`: what the file predicts, its ports, and the shape of an event. */
export interface FromOnnxOptions extends PredictionOptions, PortOptions {
  /**
   * The shape of one event, if the file leaves its sizes open. Without it the file is checked at
   * the first call.
   */
  readonly shape?: Shape;
  /**
   * Converts the time of the SDE to that of the file, such as `(t) => 999 * t` for steps 0 … 999.
   * Default: t itself.
   */
  readonly time?: (t: number) => number;
}

/** A score from an ONNX file, with a description of the file. */
export interface OnnxScore extends MarginalScore {
  /** A description of the file, as text; warnings come last. */
  describe(): string;
  readonly file: OnnxFile;
}

/**
 * Makes a score of an ONNX file. The file is checked by runs with two batch sizes.
 *
 * @throws DiffeoError of kind `data` if the file is damaged or cannot be a score, and of kind
 * `usage` if the options do not match the file
 */
export async function fromOnnx(bytes: Uint8Array, options: FromOnnxOptions): Promise<OnnxScore> {
  const { name = "the ONNX score", batch, constants = {}, time } = options;
  const file = readOnnxFile(bytes);
  const ports = portsOf(file, options);
  if (ports.t?.type.startsWith("int") && !time)
    fail(
      "usage",
      `port "${ports.t.name}" of the ONNX file takes integers (${ports.t.type}), but t is ` +
        `between 0 and ${options.sde?.horizon ?? 1}`,
      "set `time` to convert t, as in (t) => 999 * t for steps 0 … 999; the result is rounded",
    );
  const rows = fixedRows(ports);
  const unformed = {
    ports,
    constants,
    time: time ?? ((t: number) => t),
    rows,
  };
  const event = options.shape ?? statedEvent(ports);
  const horizon = options.sde?.horizon ?? 1;
  const model = onnxModelOf(bytes, file, ports);
  const checked = async (session: Runner, shape: Shape): Promise<Wiring> =>
    checkedWiring(session, unformed, shape, horizon);
  const { known, doubt } = event
    ? await tried(model, event, options, (session) => checked(session, event))
    : {};
  const open = sharedSessions((place) => place.start(model));
  const score = scoreFrom(
    name,
    async (place): Promise<OutsideCall> => {
      const { session, dispose } = await open(place);
      const wired = known ? { ...known } : undefined;
      const forms = new Map<string, Promise<Wiring>>();
      const wiringFor = (shape: Shape): Promise<Wiring> => {
        if (wired && sameEvent(event, shape)) return Promise.resolve(wired);
        const kept = forms.get(`${shape}`) ?? checked(session, shape);
        forms.set(`${shape}`, kept);
        return kept;
      };
      return {
        run: ([x, t]) =>
          inRows(x, t, batch, async (points, times) => {
            const wiring = await wiringFor(points.shape.slice(1));
            const values = await answers(session, wiring, points, toFloat64(times.data));
            return { ...points, data: convert(values, points.dtype) };
          }),
        dispose,
      };
    },
    options,
  );
  return Object.assign(
    (x: Parameters<MarginalScore>[0], t: Parameters<MarginalScore>[1]) => score(x, t),
    {
      file,
      describe: () => described(file, ports, { form: known?.form, rows, doubt }, options),
    },
  );
}

/** Runs the file on an event of known shape, to find the wiring and to check the prediction. */
async function tried(
  model: OnnxModel,
  event: Shape,
  options: FromOnnxOptions,
  checked: (session: Runner) => Promise<Wiring>,
): Promise<{ readonly known?: Wiring; readonly doubt?: string }> {
  const session = await openModel(model, { threads: 1 });
  try {
    const known = await checked(session);
    const answer: Answer = async (x, t) =>
      answers(session, known, x, new Float64Array(x.shape[0]).fill(t));
    const doubt = options.sde && (await doubtOf(answer, event, options, options.sde));
    return { known, doubt };
  } finally {
    await session.dispose();
  }
}

const sameEvent = (a: Shape | undefined, b: Shape): boolean => a !== undefined && `${a}` === `${b}`;

type Sessions = Awaited<ReturnType<Place["start"]>>;

/** One session per device, shared by all graphs that call it; it ends with the last of them. */
function sharedSessions(start: (place: Place) => Promise<Sessions>) {
  const open = new Map<string, { readonly session: Promise<Sessions>; holders: number }>();
  return async (place: Place): Promise<{ session: Sessions; dispose: () => Promise<void> }> => {
    const entry = open.get(place.name) ?? { session: start(place), holders: 0 };
    open.set(place.name, entry);
    entry.holders++;
    const leave = async (): Promise<void> => {
      if (--entry.holders > 0) return;
      open.delete(place.name);
      await (await entry.session).dispose();
    };
    const session = await entry.session.catch((error: unknown) => {
      open.delete(place.name);
      throw error;
    });
    return { session, dispose: leave };
  };
}

/** The form of t with which batches of two sizes run, with independent rows. */
async function checkedWiring(
  session: Runner,
  unformed: Omit<Wiring, "form">,
  event: Shape,
  horizon: number,
): Promise<Wiring> {
  requireEvent(unformed.ports, event);
  const refusals: DiffeoError[] = [];
  const forms = unformed.ports.t ? timeForms(unformed.ports) : (["[]"] as const);
  for (const form of forms) {
    const wiring = { ...unformed, form };
    const few = await probe(session, wiring, event, 2, horizon);
    const more = few instanceof DiffeoError ? few : await probe(session, wiring, event, 3, horizon);
    if (few instanceof DiffeoError) refusals.push(few);
    else if (more instanceof DiffeoError) refusals.push(more);
    else {
      requireOwnRows(few, more);
      return wiring;
    }
  }
  if (refusals.length === 1 && refusals[0].kind === "shape") throw refusals[0];
  const problems = refusals.map(({ problem }, i) =>
    forms.length > 1 ? `with t of shape ${forms[i]}, ${problem}` : problem,
  );
  return fail(
    "shape",
    `the ONNX file does not run on events of shape ${showShape(event)}: ${problems.join("; ")}`,
    "check the shape of an event, and name the ports of x and t with `inputs`",
  );
}

function requireEvent({ x }: Ports, event: Shape): void {
  const sizes = x.sizes?.slice(1);
  if (
    sizes &&
    (sizes.length !== event.length || sizes.some((d, i) => typeof d === "number" && d !== event[i]))
  )
    fail(
      "shape",
      `port "${x.name}" of the ONNX file takes events of shape ` +
        `[${sizes.map((d) => d ?? "any").join(", ")}], not ${showShape(event)}`,
      "sample events of its shape",
    );
}

/** The outputs for rows 0, 1, … of a fixed array with any number of rows, or the error. */
async function probe(
  session: Runner,
  wiring: Wiring,
  event: Shape,
  rows: number,
  horizon: number,
): Promise<Float64Array | DiffeoError> {
  const n = event.reduce((a, b) => a * b, 1);
  const x: NdArray = {
    shape: [rows, ...event],
    dtype: "float64",
    data: Float64Array.from({ length: rows * n }, (_, i) => Math.sin(1 + 2.3 * i)),
  };
  return answers(
    session,
    wiring,
    x,
    Float64Array.from({ length: rows }, (_, i) => horizon * (0.4 + 0.1 * i)),
  );
}

function requireOwnRows(few: Float64Array, more: Float64Array): void {
  const bad = more.findIndex((v) => !Number.isFinite(v));
  if (bad >= 0)
    fail(
      "numerical",
      `the output of the ONNX file is ${more[bad]} for inputs of size 1`,
      "check the model that was exported",
    );
  const size = more.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-6);
  if (few.some((v, i) => Math.abs(v - more[i]) > 1e-2 * size))
    fail(
      "numerical",
      "the output of the ONNX file for an event depends on the other events of the batch",
      "export it in evaluation mode; in training mode dropout and batch normalisation make " +
        "rows random or dependent",
    );
}
