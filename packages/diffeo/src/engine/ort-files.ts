/** The files of ONNX Runtime for browsers, if a bundler or an import map finds the package. */
import type * as Ort from "onnxruntime-web";

/** The addresses of the WebAssembly files: a folder, or one per file. */
type WasmFiles = Ort.Env.WasmPrefixOrFilePaths;

/**
 * The two builds by device, fetched when first used.
 *
 * @param _folder the folder that the page sets; not needed with bundlers
 */
export const builds: Readonly<Record<string, (_folder?: string) => Promise<typeof Ort>>> = {
  onnxruntime: () => import("onnxruntime-web/wasm"),
  webgpu: () => import("onnxruntime-web/webgpu"),
};

/**
 * The script of WebAssembly's threads must be a separate file. The runtime's default is its own
 * module, which in a bundle would run the whole page again on every thread. Bundlers that support
 * `new URL(…, import.meta.url)` emit the file and rewrite these addresses. If this module was
 * bundled without that, the result is `undefined`. Without a bundler the default is correct.
 */
export function threadScript(): WasmFiles | "default" | undefined {
  const mjs = new URL("onnxruntime-web/ort-wasm-simd-threaded.mjs", import.meta.url).href;
  const wasm = new URL("onnxruntime-web/ort-wasm-simd-threaded.wasm", import.meta.url).href;
  if (!mjs.endsWith("onnxruntime-web/ort-wasm-simd-threaded.mjs")) return { mjs, wasm };
  return /\/engine\/ort-files\.[jt]s$/.test(import.meta.url) ? "default" : undefined;
}

/** The default folder of the WebAssembly files; undefined leaves it to the runtime. */
export const defaultFolder: string | undefined = undefined;
