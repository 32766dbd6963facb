/**
 * ONNX Runtime in the browser, in two builds that are fetched when first used: `cpu` is WebAssembly (14 MB, a quarter of
 * it compressed), on several threads where the page is cross-origin isolated; `webgpu` is the GPU (27 MB).
 */
import type * as Ort from "onnxruntime-web";
import { fail, type OnnxModel } from "../graph/index.ts";
import { guarded, serialiser, sessionOptions, startError, wrapSession } from "./ort.ts";
import type { Create, Device, Runtime, Session, SessionOptions } from "./session.ts";

export interface WebOptions {
  /**
   * Where onnxruntime-web's .mjs and .wasm files are served, ending in a slash. By default a bundler puts them beside
   * the script.
   */
  readonly wasmPaths?: string;
  /** Threads of the page's one pool: by default half of the cores, at most 4. One where the page is not cross-origin isolated. */
  readonly threads?: number;
}

const devices: readonly Device[] = [
  { name: "cpu", target: "cpu", types: ["float32", "float64"], description: "ONNX Runtime in WebAssembly" },
  { name: "webgpu", target: "gpu", types: ["float32"], description: "ONNX Runtime on the GPU through WebGPU" },
];

const remedies: Readonly<Record<string, string>> = {
  cpu: "serve onnxruntime-web's .mjs and .wasm files and tell configureWeb({ wasmPaths }) where",
  webgpu: 'use a browser and a machine with WebGPU, or device "cpu"',
};

const builds: Readonly<Record<string, () => Promise<typeof Ort>>> = {
  cpu: () => import("onnxruntime-web/wasm"),
  webgpu: () => import("onnxruntime-web/webgpu"),
};

// A page has one WebAssembly memory and one thread pool a build, so this is the page's state and not a caller's.
const page: { options: WebOptions; started: boolean } = { options: {}, started: false };

/** Settings of the page. Call it before anything is compiled. */
export function configureWeb(options: WebOptions): void {
  if (page.started) fail("usage", "configureWeb came after the first session", "call it before the first computation");
  if (options.threads !== undefined && !(Number.isInteger(options.threads) && options.threads >= 1))
    fail("usage", `configureWeb: ${options.threads} threads`, "give a whole number from 1");
  page.options = options;
}

function threadCount({ threads }: WebOptions): number {
  const { crossOriginIsolated = false, navigator } = globalThis as {
    readonly crossOriginIsolated?: boolean;
    readonly navigator?: { readonly hardwareConcurrency?: number };
  };
  return crossOriginIsolated ? (threads ?? Math.min(4, Math.ceil((navigator?.hardwareConcurrency ?? 1) / 2))) : 1;
}

async function load(device: string): Promise<typeof Ort> {
  const ort = await builds[device]();
  const { wasmPaths } = page.options;
  page.started = true;
  ort.env.wasm.numThreads = threadCount(page.options);
  if (wasmPaths !== undefined) ort.env.wasm.wasmPaths = wasmPaths;
  return ort;
}

// Neither build is re-entrant while it starts, and WebGPU never is.
const oneAtATime = serialiser();

const create: Create = async (model, device, { keep }) => {
  const provider = device === "cpu" ? "wasm" : device;
  const open = (m: OnnxModel, options: SessionOptions = {}): Promise<Session> =>
    oneAtATime(async () => {
      const ort = await load(device);
      const session = await ort.InferenceSession.create(m.bytes, sessionOptions(m, provider, options));
      return wrapSession(ort, session, m, open);
    });
  try {
    return guarded(await open(model, keep ? { keep } : {}), oneAtATime);
  } catch (error) {
    throw await startError(error, device, remedies[device], open);
  }
};

export const runtime: Runtime = {
  devices,
  create,
  // Off the page's main thread there is nothing more to do.
  thread: () =>
    "document" in globalThis
      ? fail(
          "usage",
          "worker: a page cannot start diffeo on another thread by itself",
          "start a Web Worker whose script imports diffeo/web, and compile there",
        )
      : create,
};
