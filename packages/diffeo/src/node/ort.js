/**
 * Loads ONNX Runtime. In JavaScript because a worker thread starts from files that Node itself
 * reads, also where the rest runs from TypeScript sources.
 */

/**
 * @typedef {Pick<typeof import("onnxruntime-common"), "InferenceSession" | "Tensor" | "env">} Ort
 * @param {boolean} allowNative Whether to prefer the native runtime to the WebAssembly build. Only
 * after its telemetry has been turned off (`telemetry.ts`).
 * @returns {Promise<{ ort: Ort, native: boolean }>}
 */
export async function loadOrt(allowNative) {
  const native = allowNative ? await import("onnxruntime-node").catch(() => undefined) : undefined;
  const ort = native ?? (await import("onnxruntime-web/wasm"));
  ort.env.logLevel = "fatal"; // as for a session: errors are thrown, not logged
  // The web's threads start from scripts that a page serves; in Node one thread always works.
  if (!native) ort.env.wasm.numThreads = 1;
  return { ort, native: native !== undefined };
}
