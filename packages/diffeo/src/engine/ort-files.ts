/** The files of ONNX Runtime for browsers, where a bundler or an import map finds the package. */
import type * as Ort from "onnxruntime-web";

/** Where the files of WebAssembly are: a folder, or each by itself. */
type WasmFiles = Ort.Env.WasmPrefixOrFilePaths;

/**
 * The two builds by device, fetched when first used.
 *
 * @param _folder where the page says that the files are, which bundlers know by themselves
 */
export const builds: Readonly<Record<string, (_folder?: string) => Promise<typeof Ort>>> = {
  onnxruntime: () => import("onnxruntime-web/wasm"),
  webgpu: () => import("onnxruntime-web/webgpu"),
};

/**
 * The script that WebAssembly's threads start from must be a file of its own: the runtime's default
 * is its own module, and in a bundle that would run the whole page again on every thread. Bundlers
 * that know `new URL(…, import.meta.url)` emit the file and rewrite these addresses; where one did
 * not, and this module was bundled all the same, the answer is `undefined`. Without a bundler the
 * default is right.
 */
export function threadScript(): WasmFiles | "default" | undefined {
  const mjs = new URL("onnxruntime-web/ort-wasm-simd-threaded.mjs", import.meta.url).href;
  const wasm = new URL("onnxruntime-web/ort-wasm-simd-threaded.wasm", import.meta.url).href;
  if (!mjs.endsWith("onnxruntime-web/ort-wasm-simd-threaded.mjs")) return { mjs, wasm };
  return /\/engine\/ort-files\.[jt]s$/.test(import.meta.url) ? "default" : undefined;
}

/** Where WebAssembly's files are looked for, if the page does not say: the runtime decides. */
export const defaultFolder: string | undefined = undefined;
