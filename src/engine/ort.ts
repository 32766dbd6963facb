/** What both ONNX Runtimes, Node's and the browser's, share: arrays to tensors and back, and one run at a time on WebGPU. */
import type { InferenceSession, Tensor as OrtTensor, TensorConstructor } from "onnxruntime-common";
import type { NdArray, OnnxModel } from "../graph/index.ts";
import type { Session } from "./session.ts";

interface OrtModule {
  readonly Tensor: TensorConstructor;
}

/** Runs tasks one after another, whatever becomes of each. */
export function serialiser(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task, task);
    last = next.catch(() => undefined);
    return next;
  };
}

const toOrt = (ort: OrtModule, { dtype, data, shape }: NdArray): OrtTensor =>
  new ort.Tensor(dtype as "float32", data as Float32Array, shape);

const fromOrt = (t: OrtTensor): NdArray => ({
  shape: t.dims,
  dtype: t.type as NdArray["dtype"],
  data: t.data as NdArray["data"],
});

/** Wraps a runtime's session; `guard` decides when a run may start. */
export function wrapSession(
  ort: OrtModule,
  session: InferenceSession,
  model: OnnxModel,
  guard: <T>(task: () => Promise<T>) => Promise<T>,
): Session {
  return {
    run: (feeds) =>
      guard(async () => {
        const tensors = Object.fromEntries(model.inputs.map(({ name }) => [name, toOrt(ort, feeds[name])]));
        const results = await session.run(tensors);
        return Object.fromEntries(model.outputs.map(({ name }) => [name, fromOrt(results[name])]));
      }),
    dispose: () => guard(() => session.release()),
  };
}
