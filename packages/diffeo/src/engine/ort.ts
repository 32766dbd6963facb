/**
 * The code that ONNX Runtime in Node and in browsers shares: options, conversion of arrays, one run
 * at a time.
 */
import type { InferenceSession, Tensor as OrtTensor, TensorConstructor } from "onnxruntime-common";
import type { NdArray, OnnxModel } from "../graph/index.ts";
import { add, DiffeoError, input, writeOnnx } from "../graph/index.ts";
import { DeviceArray } from "./device-array.ts";
import { keeps, type OpeningOptions, type Session } from "./session.ts";

interface OrtModule {
  readonly Tensor: TensorConstructor;
}

/** The error if the runtime is needed but not installed. */
export const missingRuntime = (remedy: string, cause: unknown): DiffeoError =>
  new DiffeoError(
    "device",
    "this graph needs ONNX Runtime, which is not installed",
    `${remedy}; small graphs without convolutions run without it`,
    { cause },
  );

/** Determines when a task may start. */
export type Guard = <T>(task: () => Promise<T>) => Promise<T>;

/** Runs tasks one after another, also if some fail. */
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
 * Graphs with more nodes are opened without the runtime's optimisers, whose time grows with the
 * square of the number of nodes. A graph of 2,000 parameters declared one by one opened in 29 s;
 * without optimisers one of 4,000 takes 9 s.
 */
const MOST_OPTIMISED = 10_000;

export const sessionOptions = (
  model: OnnxModel,
  provider: string,
  { threads, keep = [], once = false }: OpeningOptions,
): InferenceSession.SessionOptions => ({
  // Buffers are cached by their exact size. A training step needs the same sizes every time; the
  // default caches only a few fixed sizes and allocates the others again. This halves the time of a
  // U-Net's step on an NVIDIA card.
  executionProviders: [
    provider === "webgpu" ? { name: "webgpu", storageBufferCacheMode: "simple" } : provider,
  ],
  graphOptimizationLevel: once || (model.nodes ?? 0) > MOST_OPTIMISED ? "disabled" : "all",
  // Failures are thrown as errors, so they are not logged.
  logSeverityLevel: FATAL,
  // The runtime rejects undefined values.
  ...(threads !== undefined && { intraOpNumThreads: threads }),
  ...(provider === "webgpu" &&
    keep.length > 0 && { preferredOutputLocation: locations(model, keep) }),
  extra: {
    optimization: { disable_specified_optimizers: unwantedFusions(model, provider).join(";") },
    // Waiting threads spin as long as waking a thread takes, then sleep, and all sleep between
    // runs. By default they spin for a millisecond, also after a run, which takes twice the
    // processor time for the same boards (docs/results/performance.md). Without spinning every
    // small operation waits for a thread to wake, which takes a fifth of a table's step.
    session: {
      intra_op: { allow_spinning: "1", spin_duration_us: "50" },
      force_spinning_stop: "1",
    },
  },
});

/** Optimisers of the runtime that are disabled. */
const unwantedFusions = (model: OnnxModel, provider: string): string[] => [
  // These fuse x·σ(x) into an operator that is float32 only, and the factor of a product into an
  // attribute that is float32 for all types of products.
  ...(model.types.has("float64") ? ["QuickGeluFusion", "MatMulScaleFusion"] : []),
  // This fuses a sum and layer normalisation into an operator that is four times slower on a CPU,
  // and on a GPU does not return r for the backward pass.
  "SkipLayerNormFusion",
  // This replaces a deliberately transposed factor by a product with a transposed factor, which is
  // 3.6 times slower on a GPU.
  ...(provider === "webgpu" ? ["GemmTransposeFusion"] : []),
];

/** The location of every result of a model. */
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

/** Starts a session of a model on the device of a session. */
export type StartModel = (model: OnnxModel) => Promise<Session>;

/**
 * Reads arrays from the device, with graphs that return their input, because the runtime's own
 * download ends the process (1.30). There is one session per shape until `dispose`; afterwards each
 * read has its own.
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
 * A session of ONNX Runtime on this thread. Freeing it waits for runs that have been started. Only
 * reads of arrays kept on the device go through `guard`; the caller guards the session itself.
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
      // The results themselves are not kept, which would be a memory leak.
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

/** A session whose calls go through a guard, and whose errors are converted to `DiffeoError`. */
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

/** The message of the runtime without its source locations and node names. */
const shortMessage = (message: string): string =>
  message
    .replace(/^.*(?:Status Message:|was false\.)/s, "")
    .trim()
    .replace(/^\S+\.(?:cc|h):\d+ \S+ /, "")
    .replace(/\.$/, "");

/** The error for a failed run, which may depend on the numbers, such as an index out of range. */
function runError(error: unknown): unknown {
  if (error instanceof DiffeoError) return error;
  const { message } = error as Error;
  const [, operator] = /while running (\w+) node/.exec(message) ?? [];
  const place = operator ? ` in the ONNX operator ${operator}` : "";
  const cause = `the runtime failed${place}: ${shortMessage(message)}`;
  if (/out of memory|failed to allocate|alloc_failed|bad_alloc/i.test(message))
    return new DiffeoError("device", cause, "use smaller batches, or a device with more memory", {
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

/** The error if the runtime rejects a graph on a device that works. */
export const refusal = (error: unknown, device: string): unknown =>
  error instanceof DiffeoError
    ? error
    : new DiffeoError(
        "device",
        `device "${device}" rejected the graph: ${shortMessage((error as Error).message)}`,
        'use another device ("reference" runs every graph), or other operations',
        { cause: error },
      );

/**
 * The error if a device rejects a graph: if it also rejects x + 1, the device is missing, and the
 * error has a remedy.
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
