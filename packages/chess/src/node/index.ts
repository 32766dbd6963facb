/**
 * diffeo-chess/node: files of positions and of the study of w, and the models that come with the
 * package.
 */
export { decodeDataset, readDataset, writeDataset } from "./dataset.ts";
export {
  type Format,
  type Reading,
  type ReadOptions,
  readPositions,
  splitPositions,
  splitRows,
} from "./read.ts";
export { shippedModel, shippedModels } from "./shipped.ts";
export { parseRecord, readScaleRecords, saveScaleRecord } from "./study-records.ts";
export { BOARD_MODEL, type BoardRun, trainBoards } from "./train.ts";
