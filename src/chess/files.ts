/** What of chess needs Node: files of positions, read and written, and PNG. */
export { readDataset, writeDataset } from "./dataset.ts";
export { renderPng } from "./png.ts";
export { type Format, type Reading, type ReadOptions, readPositions, splitPositions } from "./read.ts";
