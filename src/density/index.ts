/** diffeo/density: tables of numbers fitted by score matching, measured and used. */
export { type Annealed, type AnnealOptions, annealedNormaliser } from "./annealed.ts";
export { type DatasetName, prepareNamed, uciTable } from "./datasets.ts";
export { importanceNormaliser, measurePoints, type Normaliser, type PointMeasures } from "./evaluate.ts";
export { type Fit, type FitOptions, type FitProgress, type Fitted, fitDensity } from "./fit.ts";
export { type MeasureOptions, type Measures, measureFitted, type Summary } from "./measure.ts";
export { type DensityModel, type DensitySpec, loadDensity, saveDensity } from "./model-file.ts";
export { densityPicture } from "./picture.ts";
export { type Prepared, type PrepareOptions, prepare, prune, type Whitening } from "./prepare.ts";
export { openTasks, type RunRecord, readRecords, runTask, saveRecord, type Task } from "./study.ts";
export { generate, type SyntheticName } from "./synthetic.ts";
export { type Heading, parseTable, readTable, type Selection, type Table, without } from "./table.ts";
export { type RowScores, type SampleOptions, sampleRows, scoreRows } from "./use.ts";
