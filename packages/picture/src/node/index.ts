/** diffeo-picture/node: pictures as PNG. */
export { renderPng } from "./png.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { hasFont } from "./png.ts";
