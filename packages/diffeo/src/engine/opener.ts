/** Selects the engine of a graph: the compiler, ONNX Runtime, or the float64 reference. */
import {
  fail,
  type OnnxModel,
  type Place,
  type Tensor,
  type Trace,
  writeOnnx,
} from "../graph/index.ts";
import { referenceSession } from "./reference.ts";
import { deviceNamed, hasRuntime, loadRuntime, ofRuntime } from "./runtime.ts";
import type { Create, OpeningOptions, Session } from "./session.ts";
import { callsOutside, splitSession } from "./split.ts";
import { sweepOf, sweepSession } from "./sweep.ts";

/** Opens the sessions of one compiled function, on this thread or all on one worker. */
export function opener(
  name: string,
  options: OpeningOptions,
): (traced: Trace<unknown>) => Promise<Session> {
  let create: Promise<Create> | undefined;
  const start = async (model: OnnxModel, own: OpeningOptions): Promise<Session> => {
    create ??= loadRuntime().then((runtime) =>
      options.worker ? runtime.thread() : runtime.create,
    );
    return (await create)(model, ofRuntime(name), own);
  };
  const { keep: _, ...unkept } = options;
  const place: Place = {
    name: JSON.stringify([name, options.threads ?? null, options.worker ?? false]),
    start: (model) => start(model, unkept),
  };
  const open = async (traced: Trace<unknown>): Promise<Session> => {
    if (callsOutside(traced)) return splitSession(traced, open, place);
    const device = await deviceNamed(name);
    if (options.worker && isOwn(name))
      fail(
        "usage",
        `\`worker\`: device "${name}" runs on the calling thread only`,
        'leave "worker" out, or use device "cpu"',
      );
    if (name === "reference") return referenceSession(traced);
    const compiled = await ownSession(traced, name, options);
    if (compiled) return compiled;
    const swept = name === "cpu" || name === "onnxruntime";
    const sweep = swept && !options.worker ? sweepOf(traced, options.keep ?? []) : undefined;
    if (sweep) return sweepSession(sweep, open);
    const model = writeOnnx(traced.outputs, device.target);
    if (model.types.has("float64") && !device.types.includes("float64"))
      fail(
        "type",
        `device "${name}" does not compute in float64`,
        'compile with type "float32", or use device "cpu"',
      );
    if (options.worker && options.keep)
      fail("usage", "results of a worker cannot be kept on the device", "leave out worker or keep");
    return start(model, options);
  };
  return open;
}

/** Devices of this library that run on the calling thread only. */
const isOwn = (name: string): boolean => name === "reference" || name === "wasm";

/**
 * A session of the compiler, if it is the device or predicted to be faster; undefined if ONNX
 * Runtime runs the graph. Training keeps its state and uses ONNX Runtime. Runs of the compiler are
 * too short to need a worker, so `worker` changes neither the choice nor the results.
 */
async function ownSession(
  traced: Trace<unknown>,
  name: string,
  options: OpeningOptions,
): Promise<Session | undefined> {
  const outputs = await ownOutputs(traced, name, options);
  return outputs && (await import("./wasm/index.ts")).wasmSession(traced, outputs);
}

/**
 * The outputs of a trace in the compiler's own primitives, if it runs the graph on this device.
 *
 * @param saved microseconds that a run saves in the compiler, in addition to the graph's own
 */
export async function ownOutputs(
  traced: Trace<unknown>,
  name: string,
  { keep, threads, once }: OpeningOptions,
  saved = 0,
): Promise<Tensor[] | undefined> {
  if (name !== "wasm" && (name !== "cpu" || keep)) return undefined;
  const { lowered, predict } = await import("./wasm/index.ts");
  if (name === "cpu") {
    const outputs = lowered(traced, once ? MOST_NODES_ONCE : MOST_NODES);
    const times = outputs && predict(outputs, threads);
    if (times && times.wasm <= times.onnxruntime + saved && times.wasm < LONG) return outputs;
    if (await hasRuntime()) return undefined;
  }
  return lowered(traced);
}

/** Graphs with more nodes take long to compile, and are rarely small. */
const MOST_NODES = 20_000;

/** Compiling a graph takes longer than opening a session: 0.1 ms per node compared with 0.03 ms. */
const MOST_NODES_ONCE = 150;

/** The most microseconds of a run that may block the thread. */
const LONG = 10_000;
