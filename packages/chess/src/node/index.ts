/**
 * diffeo-chess/node: files of positions and of the study of w, and the models that come with the
 * package.
 */
export { readDataset, writeDataset } from "./dataset.ts";
export { type Format, type Reading, type ReadOptions, readPositions } from "./read.ts";
export { shippedModel, shippedModels } from "./shipped.ts";
export { type BoardRun, trainBoards } from "./train.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { decodeDataset } from "./dataset.ts";
/** @internal */
export { splitRows } from "./read.ts";
/** @internal */
export { parseRecord, readScaleRecords, saveScaleRecord } from "./study-records.ts";
/** @internal */
export { BOARD_MODEL } from "./train.ts";
