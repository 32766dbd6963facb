/** ONNX Runtime in Node: `cpu`, `webgpu` (bundled, Dawn on Vulkan, Metal or D3D12), and `cuda` where its libraries are. */
import * as ort from "onnxruntime-node";
import { DiffeoError } from "../graph/index.ts";
import { serialiser, wrapSession } from "./ort.ts";
import type { Device, Runtime } from "./session.ts";

const remedies: Readonly<Record<string, string>> = {
  webgpu:
    'install a Vulkan loader and a driver (on Debian libvulkan1; without a GPU, chromium\'s SwiftShader through VK_ICD_FILENAMES), or use device "cpu"',
  cuda: 'install onnxruntime-node with its CUDA libraries (npm install --onnxruntime-node-install=cuda12), or use device "webgpu" or "cpu"',
};

const devices: readonly Device[] = [
  { name: "cpu", target: "cpu", description: "ONNX Runtime on the processor, float32 and float64" },
  { name: "webgpu", target: "gpu", description: "ONNX Runtime on a GPU through WebGPU, float32" },
  {
    name: "cuda",
    target: "gpu",
    description: "ONNX Runtime on an NVIDIA GPU through CUDA, where its libraries are installed",
  },
];

// The WebGPU provider is not re-entrant: two runs at once end the process. One lock for all sessions.
const oneAtATime = serialiser();
const atOnce = <T>(task: () => Promise<T>): Promise<T> => task();

export const runtime: Runtime = {
  devices,
  async create(model, device, { threads }) {
    const guard = device === "webgpu" ? oneAtATime : atOnce;
    try {
      const session = await guard(() =>
        ort.InferenceSession.create(model.bytes, {
          executionProviders: [device],
          graphOptimizationLevel: "all",
          logSeverityLevel: 4,
          extra: { optimization: { disable_specified_optimizers: "QuickGeluFusion" } },
          ...(threads !== undefined && { intraOpNumThreads: threads }),
        }),
      );
      return wrapSession(ort, session, model, guard);
    } catch (error) {
      if (device === "cpu") throw error;
      throw new DiffeoError(
        "device",
        `device "${device}" did not start: ${(error as Error).message}`,
        remedies[device],
        { cause: error },
      );
    }
  },
};
