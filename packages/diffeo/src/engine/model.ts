/// <reference lib="esnext.disposable" preserve="true" />

/** Runs ONNX models without a graph, such as one that was read from a file. */
import type { OnnxModel } from "../graph/index.ts";
import { deviceNamed, loadRuntime, ofRuntime } from "./runtime.ts";
import { requireThreads, type Session, type SessionOptions } from "./session.ts";

/** An ONNX model on a device; `dispose` frees it. */
export interface OpenModel extends Session, AsyncDisposable {}

/**
 * Opens an ONNX file on a device.
 *
 * @throws DiffeoError of kind `device` if the device is not available, of kind `usage` if the
 * options are invalid
 */
export async function openModel(
  model: OnnxModel,
  { device = "cpu", ...options }: SessionOptions & { readonly device?: string } = {},
): Promise<OpenModel> {
  requireThreads(options);
  await deviceNamed(device);
  const { create } = await loadRuntime();
  const session = await create(model, ofRuntime(device), options);
  return { ...session, [Symbol.asyncDispose]: session.dispose };
}
