/**
 * diffeo/web: the exports of `diffeo` for web pages, and the settings that only pages have. The
 * ONNX Runtime for browsers is fetched when the first function is compiled.
 */

export { configureWeb } from "./engine/web.ts";
export type { WebOptions } from "./engine/web-thread.ts";
export * from "./index.ts";
