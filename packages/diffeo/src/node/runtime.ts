/**
 * ONNX Runtime in Node: `onnxruntime`, `webgpu` (bundled, Dawn on Vulkan, Metal or D3D12), and
 * `cuda` if its libraries are installed. If the native runtime is not installed, or would send
 * telemetry, the WebAssembly build runs instead, which is slower and uses only the processor.
 */
import { isMainThread } from "node:worker_threads";
import type { InferenceSession } from "onnxruntime-common";
import {
  type Guard,
  guardSession,
  missingRuntime,
  refusal,
  serialiser,
  sessionOptions,
  startError,
  wrapSession,
} from "../engine/ort.ts";
import type { Create, Device, Runtime, Session } from "../engine/session.ts";
import type { OnnxModel } from "../graph/index.ts";
import { loadOrt } from "./ort.js";
import { disableTelemetry } from "./telemetry.ts";
import { openThreadSessions } from "./thread.ts";

const quiet = await disableTelemetry();
const { ort, native } = await loadOrt(quiet).catch((cause: unknown) => {
  throw missingRuntime("run npm install onnxruntime-node (or onnxruntime-web, slower)", cause);
});

const remedies: Readonly<Record<string, string>> = {
  webgpu:
    "install a Vulkan loader and a driver (on Debian libvulkan1; without a GPU, chromium's " +
    'SwiftShader through VK_ICD_FILENAMES), or use device "cpu"',
  cuda:
    "install onnxruntime-node with its CUDA libraries (ONNXRUNTIME_NODE_INSTALL=cuda12 npm " +
    'install onnxruntime-node), or use device "webgpu" or "cpu"',
};

const nativeDevices: readonly Device[] = [
  {
    name: "onnxruntime",
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
    description:
      "ONNX Runtime on an NVIDIA GPU through CUDA, where its libraries are installed; untested",
  },
];

const wasmDevices: readonly Device[] = [
  {
    name: "onnxruntime",
    target: "cpu",
    types: ["float32", "float64"],
    description: quiet
      ? "ONNX Runtime in WebAssembly: onnxruntime-node, which is faster, is not installed"
      : "ONNX Runtime in WebAssembly: the telemetry of onnxruntime-node, which is faster, " +
        "cannot be turned off from this worker thread; import diffeo in the main thread first, " +
        "or start Node with ORT_DISABLE_TELEMETRY=1",
  },
];

// The WebGPU provider is not re-entrant: two runs at once end the process. Nor is WebAssembly while
// it starts. One lock for the sessions of all threads.
const oneAtATime = serialiser();
const atOnce: Guard = (task) => task();

let warned = native;

/** Warns once per process that sessions run in WebAssembly, which is slower. */
function warnOfWasm(): void {
  if (warned || !isMainThread) return;
  warned = true;
  process.emitWarning(
    `${wasmDevices[0].description}. Sessions take about twice the time.`,
    "diffeo",
  );
}

/** Starts a session on this or another thread. */
type Start = (model: OnnxModel, options: InferenceSession.SessionOptions) => Promise<Session>;

const onThisThread: Start = async (model, options) => {
  const { preferredOutputLocation: _, ...elsewhere } = options;
  const session = await ort.InferenceSession.create(model.bytes, options);
  return wrapSession(ort, session, model, (other) => onThisThread(other, elsewhere), oneAtATime);
};

const createWith =
  (start: Start): Create =>
  async (model, device, options) => {
    const guard = device === "webgpu" || !native ? oneAtATime : atOnce;
    const provider = !native ? "wasm" : device === "onnxruntime" ? "cpu" : device;
    warnOfWasm();
    const open = (m: OnnxModel): Promise<Session> =>
      guard(() => start(m, sessionOptions(m, provider, options)));
    try {
      return guardSession(await open(model), guard);
    } catch (error) {
      throw device === "onnxruntime"
        ? refusal(error, device)
        : await startError(error, device, remedies[device], open);
    }
  };

export const runtime: Runtime = {
  available: async () => true,
  devices: native ? nativeDevices : wasmDevices,
  create: createWith(onThisThread),
  thread: () => createWith(openThreadSessions(native)),
};
