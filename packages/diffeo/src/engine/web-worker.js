/**
 * The script of a page's worker: sessions by number, for `web-thread.ts`. It is JavaScript so that
 * its address is the same in the sources and in the build.
 */
import { configureWeb, runtime } from "./web.ts";

/** @type {Map<number, import("./session.ts").Session>} */
const sessions = new Map();

/**
 * @param {import("./web-thread.ts").Request} request
 * @returns {Promise<Record<string, import("../graph/index.ts").NdArray>>}
 */
async function answer(request) {
  if (request.kind === "create") {
    if (sessions.size === 0 && request.number === 0) configureWeb(request.page);
    sessions.set(
      request.number,
      await runtime.create(request.model, request.device, request.options),
    );
    return {};
  }
  const session = sessions.get(request.number);
  if (request.kind === "run") return (await session?.run(request.feeds)) ?? {};
  sessions.delete(request.number);
  await session?.dispose();
  return {};
}

globalThis.addEventListener("message", async ({ data: { call, request } }) => {
  try {
    const results = await answer(request);
    const buffers = new Set(
      Object.values(results).map(({ data }) => /** @type {ArrayBuffer} */ (data.buffer)),
    );
    postMessage({ call, results }, { transfer: [...buffers] });
  } catch (error) {
    const { message, kind, remedy } = /** @type {import("../graph/index.ts").DiffeoError} */ (
      error
    );
    postMessage({ call, error: { message, kind, remedy } });
  }
});
