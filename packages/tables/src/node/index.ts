/** diffeo-tables/node: files of tables, densities and records of studies. */
export { loadDensity, saveDensity } from "./density-file.ts";
export { parquetBytes } from "./parquet.ts";
export { readCells, readTable } from "./table-file.ts";
export { loadTableModel, saveTableModel } from "./table-model-file.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { preparedTable, sourceFile, tableOf, uciFile, uciTable } from "./datasets.ts";
/** @internal */
export type { FitFolder } from "./fit-folder.ts";
/** @internal */
export { openFitFolder } from "./fit-folder.ts";
/** @internal */
export { densityFitJob, densityFitKind } from "./fit-job.ts";
/** @internal */
export { packed } from "./gzip.ts";
/** @internal */
export { readFitRecords, saveFitRecord } from "./study.ts";
/** @internal */
export { cellBatches } from "./table-file.ts";
