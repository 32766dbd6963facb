/** diffeo-picture/node: pictures as PNG. */
export { hasFont, renderPng } from "./png.ts";
