/**
 * The worker's side of `thread.ts`: sessions of ONNX Runtime by number, one request after another.
 * In JavaScript because a worker starts from a file that Node itself reads, also where the rest
 * runs from TypeScript sources.
 */
import { parentPort, workerData } from "node:worker_threads";
import { loadOrt } from "./ort.js";

/** @type {{ readonly state: Int32Array, readonly native: boolean }} */
const { state, native } = workerData;
const { ort } = await loadOrt(native);

const BUSY = 0;
const CLOSING = 1;
const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);

/** @type {Map<number, import("onnxruntime-common").InferenceSession>} */
const sessions = new Map();

/**
 * @typedef {{ readonly shape: readonly number[], readonly dtype: "float32", readonly data:
 * Float32Array }} NdArray
 */
/**
 * @typedef {{ call: number, session: number } & (
 *   { kind: "create", bytes: Uint8Array, options:
 *   import("onnxruntime-common").InferenceSession.SessionOptions } | { kind: "run", feeds:
 *   Record<string, NdArray> } | { kind: "dispose" } | { kind: "end" }
 * )} Request
 */

/**
 * @param {Request} request
 * @returns {Promise<Record<string, unknown>>}
 */
async function answer(request) {
  if (request.kind === "create") {
    sessions.set(
      request.session,
      await ort.InferenceSession.create(request.bytes, request.options),
    );
    return {};
  }
  const session = /** @type {import("onnxruntime-common").InferenceSession} */ (
    sessions.get(request.session)
  );
  if (request.kind !== "run") {
    sessions.delete(request.session);
    // A rejected graph has no session.
    await session?.release();
    return {};
  }
  const feeds = Object.entries(request.feeds).map(([name, a]) => [
    name,
    new ort.Tensor(a.dtype, a.data, a.shape),
  ]);
  const results = await session.run(Object.fromEntries(feeds));
  return Object.fromEntries(
    Object.entries(results).map(([name, t]) => [
      name,
      { shape: t.dims, dtype: t.type, data: t.data },
    ]),
  );
}

/** @param {Request} request */
async function handle(request) {
  if (request.kind === "end") {
    for (const session of sessions.values()) await session.release();
    process.exit();
  }
  // Sets busy first, then checks the other word; closing does this in the opposite order and waits.
  Atomics.store(state, BUSY, 1);
  if (request.kind === "dispose" || Atomics.load(state, CLOSING) === 0)
    try {
      const results = await answer(request);
      const buffers = new Set(
        Object.values(results).map((r) => /** @type {NdArray} */ (r).data.buffer),
      );
      port.postMessage(
        { call: request.call, results },
        /** @type {ArrayBuffer[]} */ ([...buffers]),
      );
    } catch (error) {
      port.postMessage({ call: request.call, error });
    }
  Atomics.store(state, BUSY, 0);
  Atomics.notify(state, BUSY);
}

let last = Promise.resolve();
port.on("message", (request) => {
  last = last.then(() => handle(request));
});
