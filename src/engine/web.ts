/** ONNX Runtime in the browser: `cpu` is threaded WebAssembly, `webgpu` the GPU. */
import * as ort from "onnxruntime-web/webgpu";
import { DiffeoError } from "../graph/index.ts";
import { serialiser, wrapSession } from "./ort.ts";
import type { Device, Runtime } from "./session.ts";

const devices: readonly Device[] = [
  { name: "cpu", target: "cpu", description: "ONNX Runtime in WebAssembly, float32 and float64" },
  { name: "webgpu", target: "gpu", description: "ONNX Runtime on the GPU through WebGPU, float32" },
];

const oneAtATime = serialiser();

export const runtime: Runtime = {
  devices,
  async create(model, device, { threads }) {
    if (threads !== undefined) ort.env.wasm.numThreads = threads;
    try {
      const session = await oneAtATime(() =>
        ort.InferenceSession.create(model.bytes, {
          executionProviders: [device === "cpu" ? "wasm" : device],
          graphOptimizationLevel: "all",
        }),
      );
      return wrapSession(ort, session, model, oneAtATime);
    } catch (error) {
      throw new DiffeoError(
        "device",
        `device "${device}" did not start: ${(error as Error).message}`,
        'use a browser with WebGPU, or device "cpu"',
        { cause: error },
      );
    }
  },
};
