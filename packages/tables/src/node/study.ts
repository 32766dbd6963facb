/** The files of the study: a run from its name to its record, and the records of a folder. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DiffeoError } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import type { DensityFitProgress } from "../dkef/settings.ts";
import { runDensity } from "../measure/density-run.ts";
import { parseRecords, requireRecord } from "../study/record.ts";
import {
  EQUAL_STEPS,
  type FitTask,
  fitTaskName,
  type RunRecord,
  recordOf,
} from "../study/study.ts";
import { preparedOf } from "./datasets.ts";

/** The input of a run of the study. */
export interface FitTaskOptions {
  /** The bytes of a UCI table's file. */
  readonly file?: Uint8Array;
  /** Draws of plain importance sampling for the state that the protocol chooses. Default 10⁶. */
  readonly samples?: number;
  readonly onStep?: (progress: DensityFitProgress) => void;
  readonly signal?: AbortSignal;
}

/** A run, as a function of its name and its table only. */
export async function runTask(task: FitTask, options: FitTaskOptions): Promise<RunRecord> {
  const { dataset, loss, seed } = task;
  const { file, ...more } = options;
  const data = preparedOf(dataset, seed, file);
  return recordOf(
    task,
    data,
    await runDensity(data, { loss, seed, leastSteps: EQUAL_STEPS, both: true, ...more }),
  );
}

const runsFolder = (out: string): string => join(out, "runs");

/** The path of a run's record in the folder of a study. */
const recordPath = (out: string, task: FitTask): string =>
  join(runsFolder(out), `${fitTaskName(task)}.json`);

/**
 * Writes a record that can be read again. Throws if a number is not finite, because JSON cannot
 * represent it.
 */
export const saveFitRecord = async (out: string, record: RunRecord): Promise<void> =>
  writeFileAtomic(
    recordPath(out, record),
    `${JSON.stringify(requireRecord(record, "the result of the run"))}\n`,
  );

const recordsIn = async (path: string): Promise<RunRecord[]> =>
  parseRecords(await readFile(path, "utf8"), path);

/**
 * The records in a study's folder: those of its runs, and files with one list per dataset from an
 * earlier study.
 */
export async function readFitRecords(out: string): Promise<RunRecord[]> {
  const found = new Map<string, RunRecord>();
  for (const folder of [out, runsFolder(out)]) {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw new DiffeoError("data", `cannot read ${folder} (${error.code})`, "check the path", {
        cause: error,
      });
    });
    for (const name of names.filter((file) => file.endsWith(".json")))
      for (const record of await recordsIn(join(folder, name)))
        found.set(fitTaskName(record), record);
  }
  return [...found.values()].sort(
    (a, b) => a.dataset.localeCompare(b.dataset) || a.loss.localeCompare(b.loss) || a.seed - b.seed,
  );
}
