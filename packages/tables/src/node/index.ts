/** diffeo-tables/node: tables, densities and records of studies on disk. */
export {
  type PreparedOptions,
  preparedTable,
  sourceFile,
  type TableOptions,
  tableOf,
  uciFile,
  uciTable,
} from "./datasets.ts";
export { loadDensity, saveDensity } from "./density-file.ts";
export { type FitFolder, type FitFolderOptions, openFitFolder } from "./fit-folder.ts";
export {
  type DensityFitInputs,
  type DensityFitParameters,
  densityFitJob,
  densityFitKind,
} from "./fit-job.ts";
export { packed } from "./gzip.ts";
export { parquetBytes } from "./parquet.ts";
export {
  type FitTaskOptions,
  readFitRecords,
  recordPath,
  runTask,
  saveFitRecord,
} from "./study.ts";
export { cellBatches, readCells, readTable } from "./table-file.ts";
export { loadTableModel, saveTableModel } from "./table-model-file.ts";
