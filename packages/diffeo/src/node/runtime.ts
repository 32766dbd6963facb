/** ONNX Runtime in Node: `cpu`, `webgpu` (bundled, Dawn on Vulkan, Metal or D3D12), and `cuda` where its libraries are. */
import * as ort from "onnxruntime-node";
import { type Guard, guarded, refusal, serialiser, sessionOptions, startError, wrapSession } from "../engine/ort.ts";
import type { Create, Device, Runtime, Session } from "../engine/session.ts";
import type { OnnxModel } from "../graph/index.ts";
import { threaded } from "./thread.ts";

const remedies: Readonly<Record<string, string>> = {
  webgpu:
    'install a Vulkan loader and a driver (on Debian libvulkan1; without a GPU, chromium\'s SwiftShader through VK_ICD_FILENAMES), or use device "cpu"',
  cuda: 'install onnxruntime-node with its CUDA libraries (npm install --onnxruntime-node-install=cuda12), or use device "webgpu" or "cpu"',
};

const devices: readonly Device[] = [
  {
    name: "cpu",
    target: "cpu",
    types: ["float32", "float64"],
    description: "ONNX Runtime on the processor",
  },
  {
    name: "webgpu",
    target: "gpu",
    types: ["float32"],
    description: "ONNX Runtime on a GPU through WebGPU",
  },
  {
    name: "cuda",
    target: "gpu",
    types: ["float32", "float64"],
    description: "ONNX Runtime on an NVIDIA GPU through CUDA, where its libraries are installed",
  },
];

// The WebGPU provider is not re-entrant: two runs at once end the process. One lock for the sessions of all threads.
const oneAtATime = serialiser();
const atOnce: Guard = (task) => task();

/** Starts a session on some thread. */
type Start = (model: OnnxModel, options: ort.InferenceSession.SessionOptions) => Promise<Session>;

const onThisThread: Start = async (model, options) => {
  const { preferredOutputLocation: _, ...elsewhere } = options;
  ort.env.logLevel = "fatal"; // as for a session: errors are thrown, not logged
  const session = await ort.InferenceSession.create(model.bytes, options);
  return wrapSession(ort, session, model, (other) => onThisThread(other, elsewhere), oneAtATime);
};

const createWith =
  (start: Start): Create =>
  async (model, device, options) => {
    const guard = device === "webgpu" ? oneAtATime : atOnce;
    const open = (m: OnnxModel): Promise<Session> => guard(() => start(m, sessionOptions(m, device, options)));
    try {
      return guarded(await open(model), guard);
    } catch (error) {
      throw device === "cpu" ? refusal(error, device) : await startError(error, device, remedies[device], open);
    }
  };

export const runtime: Runtime = {
  devices,
  create: createWith(onThisThread),
  thread: () => createWith(threaded()),
};
