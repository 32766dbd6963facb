/** What of chess needs Node: files of positions, of models and of their calibrations, and PNG. */

export { loadModel } from "../categorical/files.ts";
export type { Model } from "../categorical/model.ts";
export { renderPng } from "../figure/png.ts";
export { calibrationPath, readCalibration, writeCalibration } from "./calibration-file.ts";
export { readDataset, writeDataset } from "./dataset.ts";
export { type Format, type Reading, type ReadOptions, readPositions, splitPositions } from "./read.ts";
