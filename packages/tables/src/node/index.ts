/** diffeo-tables/node: tables, densities and records of studies on disk. */
export { type PreparedOptions, preparedTable, type TableOptions, tableOf, uciTable } from "./datasets.ts";
export { loadDensity, saveDensity } from "./density-file.ts";
export { type RunOptions, readRecords, recordPath, runTask, saveRecord } from "./study.ts";
export { readTable } from "./table-file.ts";
