/**
 * ONNX Runtime in the browser, in two builds that are fetched when first used: `onnxruntime` is
 * WebAssembly (14 MB, a quarter of it compressed), with several threads if the page is cross-origin
 * isolated; `webgpu` is the GPU (27 MB).
 */
import type * as Ort from "onnxruntime-web";
import { fail, type OnnxModel } from "../graph/index.ts";
import {
  guardSession,
  missingRuntime,
  serialiser,
  sessionOptions,
  startError,
  wrapSession,
} from "./ort.ts";
import { builds, defaultFolder, threadScript } from "./ort-files.ts";
import {
  type Create,
  type Device,
  type OpeningOptions,
  type Runtime,
  requireThreads,
  type Session,
} from "./session.ts";
import { inWorker, type WebOptions } from "./web-thread.ts";

const devices: readonly Device[] = [
  {
    name: "onnxruntime",
    target: "cpu",
    types: ["float32", "float64"],
    description: "ONNX Runtime in WebAssembly",
  },
  {
    name: "webgpu",
    target: "gpu",
    types: ["float32"],
    description: "ONNX Runtime on the GPU through WebGPU",
  },
];

const remedies: Readonly<Record<string, string>> = {
  onnxruntime:
    "serve onnxruntime-web's .mjs and .wasm files, and set their address with configureWeb({ " +
    "wasmPaths })",
  webgpu: 'use a browser and a machine with WebGPU, or device "cpu"',
};

// A page has one WebAssembly memory and one thread pool per build, so this state belongs to the
// page and not to a caller.
const page: { options: WebOptions; started: boolean } = { options: {}, started: false };

/** Configures the runtime of a page. Call it before anything is compiled. */
export function configureWeb(options: WebOptions): void {
  if (page.started)
    fail(
      "usage",
      "configureWeb was called after the first session",
      "call it before the first computation",
    );
  requireThreads(options);
  page.options = options;
}

function threadCount({ threads }: WebOptions): number {
  const { crossOriginIsolated = false, navigator } = globalThis as {
    readonly crossOriginIsolated?: boolean;
    readonly navigator?: { readonly hardwareConcurrency?: number };
  };
  return crossOriginIsolated
    ? (threads ?? Math.min(4, Math.ceil((navigator?.hardwareConcurrency ?? 1) / 2)))
    : 1;
}

/** The runtime's module for a device; fails if it is missing or turned off. */
async function fetchBuild(device: string): Promise<typeof Ort> {
  const { onnxruntime = true, wasmPaths } = page.options;
  if (!onnxruntime) throw new Error("configureWeb({ onnxruntime: false }) turns it off");
  return builds[device](wasmPaths);
}

async function load(device: string): Promise<typeof Ort> {
  const wasmPaths = page.options.wasmPaths ?? defaultFolder;
  const ort = await fetchBuild(device).catch((cause: unknown) => {
    throw missingRuntime(
      "install onnxruntime-web, or serve its files and call configureWeb({ wasmPaths })",
      cause,
    );
  });
  page.started = true;
  const script = wasmPaths ?? threadScript();
  const threads = device === "onnxruntime" && script !== undefined ? threadCount(page.options) : 1;
  ort.env.wasm.numThreads = threads;
  if (wasmPaths !== undefined) ort.env.wasm.wasmPaths = wasmPaths;
  else if (threads > 1 && typeof script === "object") ort.env.wasm.wasmPaths = script;
  return ort;
}

// Neither build is re-entrant while it starts, and WebGPU never is.
const oneAtATime = serialiser();

const create: Create = async (model, device, { keep, once }) => {
  const provider = device === "onnxruntime" ? "wasm" : device;
  const start = async (m: OnnxModel, options: OpeningOptions = {}): Promise<Session> => {
    const ort = await load(device);
    const session = await ort.InferenceSession.create(
      m.bytes,
      sessionOptions(m, provider, options),
    );
    return wrapSession(ort, session, m, start, oneAtATime);
  };
  const open = async (m: OnnxModel, options: OpeningOptions = {}): Promise<Session> =>
    guardSession(await oneAtATime(() => start(m, options)), oneAtATime);
  try {
    return await open(model, { keep, once });
  } catch (error) {
    throw await startError(error, device, remedies[device], open);
  }
};

const threaded = inWorker(() => page.options);

export const runtime: Runtime = {
  devices,
  available: () =>
    fetchBuild("onnxruntime").then(
      () => true,
      () => false,
    ),
  create,
  // A worker is already off the page's main thread.
  thread: () => ("document" in globalThis ? threaded : create),
};
