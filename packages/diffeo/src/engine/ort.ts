/**
 * What both ONNX Runtimes, Node's and the browser's, share: options, arrays to tensors and back,
 * one run at a time.
 */
import type { InferenceSession, Tensor as OrtTensor, TensorConstructor } from "onnxruntime-common";
import type { NdArray, OnnxModel } from "../graph/index.ts";
import { add, DiffeoError, input, writeOnnx } from "../graph/index.ts";
import { DeviceArray } from "./device-array.ts";
import { keeps, type OpeningOptions, type Session } from "./session.ts";

interface OrtModule {
  readonly Tensor: TensorConstructor;
}

/** What to raise where the runtime is needed and not there. */
export const missingRuntime = (remedy: string, cause: unknown): DiffeoError =>
  new DiffeoError(
    "device",
    "this graph needs ONNX Runtime, which is not installed",
    `${remedy}; small graphs without convolutions run without it`,
    { cause },
  );

/** When a task may start. */
export type Guard = <T>(task: () => Promise<T>) => Promise<T>;

/** Runs tasks one after another, whatever becomes of each. */
export function serialiser(): Guard {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task, task);
    last = next.catch(() => undefined);
    return next;
  };
}

const FATAL = 4;

/**
 * Graphs of more nodes are opened as they are: the time of the runtime's optimisers grows with the
 * square of the number of nodes. The graph of 2,000 parameters declared one by one opened in 29 s;
 * opened as it is, the graph of 4,000 takes 9 s.
 */
const MOST_OPTIMISED = 10_000;

export const sessionOptions = (
  model: OnnxModel,
  provider: string,
  { threads, keep = [], once = false }: OpeningOptions,
): InferenceSession.SessionOptions => ({
  // Buffers are kept by their exact size. A training step needs the same sizes every time, and the
  // default, which keeps only sizes near a few fixed ones, would allocate the rest again. This
  // halves the step of a U-Net on an NVIDIA card.
  executionProviders: [
    provider === "webgpu" ? { name: "webgpu", storageBufferCacheMode: "simple" } : provider,
  ],
  graphOptimizationLevel: once || (model.nodes ?? 0) > MOST_OPTIMISED ? "disabled" : "all",
  // A failure is returned as an error; the log would repeat it.
  logSeverityLevel: FATAL,
  // The runtime refuses an undefined value.
  ...(threads !== undefined && { intraOpNumThreads: threads }),
  ...(provider === "webgpu" &&
    keep.length > 0 && { preferredOutputLocation: locations(model, keep) }),
  extra: {
    optimization: { disable_specified_optimizers: unwantedFusions(model, provider).join(";") },
    // Threads that wait for work spin as long as waking one takes, then sleep, and all sleep
    // between runs. By default they spin for a millisecond and on after a run, while the host draws
    // noise or takes a step of its own: twice the processor's time for the same boards
    // (docs/results/performance.md), taken from whatever else runs. Without any spinning every
    // small operation waits for a thread to wake, a fifth of a table's step.
    session: {
      intra_op: { allow_spinning: "1", spin_duration_us: "50" },
      force_spinning_stop: "1",
    },
  },
});

/** What the runtime would do to a graph that is better left as it is. */
const unwantedFusions = (model: OnnxModel, provider: string): string[] => [
  // x·σ(x) into an operator that it has in float32 alone, and the factor of a product into an
  // attribute that is a float32 number whatever the product's type is.
  ...(model.types.has("float64") ? ["QuickGeluFusion", "MatMulScaleFusion"] : []),
  // A sum with the layer normalisation after it into an operator that is four times slower than the
  // two on a CPU, and on a GPU has no r to give to the backward pass.
  "SkipLayerNormFusion",
  // A factor that was turned on purpose, back into a product with a transposed factor, which is 3.6
  // times slower on a GPU.
  ...(provider === "webgpu" ? ["GemmTransposeFusion"] : []),
];

/** Where every result of a model goes. */
const locations = (
  model: OnnxModel,
  keep: readonly string[],
): Record<string, "gpu-buffer" | "cpu"> =>
  Object.fromEntries(
    model.outputs.map(({ name }) => [name, keeps(keep, name) ? "gpu-buffer" : "cpu"]),
  );

function toOrt(ort: OrtModule, array: NdArray): OrtTensor {
  if (array instanceof DeviceArray) return array.handle as OrtTensor;
  return new ort.Tensor(array.dtype as "float32", array.data as Float32Array, array.shape);
}

type Read = (array: DeviceArray) => Promise<NdArray>;

function fromOrt(t: OrtTensor, read: Read): NdArray {
  const dtype = t.type as NdArray["dtype"];
  if (t.location !== "gpu-buffer") return { shape: t.dims, dtype, data: t.data as NdArray["data"] };
  const kept: DeviceArray = new DeviceArray(
    t.dims,
    dtype,
    "webgpu",
    t,
    () => read(kept),
    () => t.dispose(),
  );
  return kept;
}

/** Starts a session of a model on the device a session is on. */
export type StartModel = (model: OnnxModel) => Promise<Session>;

/**
 * Reads arrays off the device. The runtime's own download ends the process (1.30); a graph that
 * gives its input back reads as well. Its session, one for every shape, stays until `dispose`;
 * after that, each read has its own.
 */
function reader(start: StartModel, guard: Guard): { read: Read; dispose: () => Promise<void> } {
  const sessions = new Map<string, Session>();
  let disposed = false;
  const open = ({ shape, dtype }: DeviceArray): Promise<Session> =>
    start(writeOnnx([{ name: "y", tensor: input("x", shape, dtype) }]));
  return {
    read: (array) =>
      guard(async () => {
        const name = `${array.dtype} ${array.shape.join("×")}`;
        const session = sessions.get(name) ?? (await open(array));
        if (!disposed) sessions.set(name, session);
        const { y } = await session.run({ x: array });
        if (disposed) await session.dispose();
        return y;
      }),
    dispose: async () => {
      disposed = true;
      for (const session of sessions.values()) await session.dispose();
      sessions.clear();
    },
  };
}

/**
 * A session of ONNX Runtime on this thread. Freeing it waits for runs that have been started.
 * Only reading what it keeps on its device goes through `guard`: the session itself is for the
 * caller to guard.
 */
export function wrapSession(
  ort: OrtModule,
  session: InferenceSession,
  model: OnnxModel,
  start: StartModel,
  guard: Guard,
): Session {
  let last: Promise<unknown> = Promise.resolve();
  const kept = reader(start, guard);
  return {
    run: (feeds) => {
      const tensors = Object.fromEntries(
        model.inputs.map(({ name }) => [name, toOrt(ort, feeds[name])]),
      );
      const results = session.run(tensors);
      // Not the outcomes themselves: they would hold every result there ever was.
      last = Promise.allSettled([last, results]).then(() => undefined);
      return results.then((r) =>
        Object.fromEntries(model.outputs.map(({ name }) => [name, fromOrt(r[name], kept.read)])),
      );
    },
    dispose: async () => {
      await last;
      await session.release();
      await kept.dispose();
    },
  };
}

/** A session whose calls all go through a guard, and whose errors are ours. */
export const guardSession = (session: Session, guard: Guard): Session => ({
  run: async (feeds) => {
    try {
      return await guard(() => session.run(feeds));
    } catch (error) {
      throw runError(error);
    }
  },
  dispose: () => guard(() => session.dispose()),
});

/** What the runtime said, without the place in its sources and the names of its nodes. */
const shortMessage = (message: string): string =>
  message
    .replace(/^.*(?:Status Message:|was false\.)/s, "")
    .trim()
    .replace(/^\S+\.(?:cc|h):\d+ \S+ /, "")
    .replace(/\.$/, "");

/**
 * What to raise when a run failed: a graph may ask for what only its numbers forbid, as an entry
 * that is not there.
 */
function runError(error: unknown): unknown {
  if (error instanceof DiffeoError) return error;
  const { message } = error as Error;
  const [, operator] = /while running (\w+) node/.exec(message) ?? [];
  const place = operator ? ` in the ONNX operator ${operator}` : "";
  const cause = `the runtime failed${place}: ${shortMessage(message)}`;
  if (/out of memory|failed to allocate|alloc_failed|bad_alloc/i.test(message))
    return new DiffeoError("device", cause, "take smaller batches, or a device with more memory", {
      cause: error,
    });
  return new DiffeoError(
    "numerical",
    cause,
    "if memory did not run out, an index is out of range or an integer was divided by 0: " +
      'device "reference" with checkFinite names an operation that makes NaN of it',
    { cause: error },
  );
}

/** What to raise when the runtime refused a graph on a device that works. */
export const refusal = (error: unknown, device: string): unknown =>
  error instanceof DiffeoError
    ? error
    : new DiffeoError(
        "device",
        `device "${device}" refused the graph: ${shortMessage((error as Error).message)}`,
        'use another device ("reference" runs every graph), or other operations',
        { cause: error },
      );

/**
 * What to raise when a device refused a graph: that the device is missing, with a remedy, if it
 * refuses x + 1 too; otherwise that it refused.
 */
export async function startError(
  error: unknown,
  device: string,
  remedy: string,
  start: (model: OnnxModel) => Promise<Session>,
): Promise<unknown> {
  if (error instanceof DiffeoError) return error;
  try {
    const trivial = await start(writeOnnx([{ name: "y", tensor: add(input("x", [1]), 1) }]));
    await trivial.dispose();
    return refusal(error, device);
  } catch (cause) {
    return new DiffeoError(
      "device",
      `device "${device}" did not start: ${shortMessage((cause as Error).message)}`,
      remedy,
      {
        cause,
      },
    );
  }
}
