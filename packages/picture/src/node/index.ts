/** diffeo-picture/node: pictures as PNG. */
export { renderPng } from "./png.ts";
