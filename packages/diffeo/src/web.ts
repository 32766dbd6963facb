/**
 * diffeo/web: all of diffeo for a page, with the settings that only a page has. The ONNX Runtime
 * for browsers is fetched when the first function is compiled.
 */

export { configureWeb } from "./engine/web.ts";
export type { WebOptions } from "./engine/web-thread.ts";
export * from "./index.ts";
