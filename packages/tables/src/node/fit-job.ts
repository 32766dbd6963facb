/**
 * A fit of the study of densities as a job: a dataset, a loss and a seed, from the table to the
 * record of the run.
 */
import { type Input, type Job, jobOf, type Kind } from "diffeo/job";
import { type ObjectiveName, objectives } from "diffeo/matching";
import * as v from "valibot";
import { parseRecords } from "../study/record.ts";
import { type FitTask, fitTaskName, type RunRecord } from "../study/study.ts";
import { type DatasetName, isSynthetic, isUci } from "../table/uci.ts";
import { runTask } from "./study.ts";

/** A fit of the study, and the options of its measures. */
export interface DensityFitParameters extends FitTask {
  /** Samples of the plain normaliser. */
  readonly samples: number;
}

/** The file of a UCI dataset; synthetic datasets have none. */
export interface DensityFitInputs {
  readonly table?: Uint8Array;
}

const natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const parameters: v.GenericSchema<unknown, DensityFitParameters> = v.strictObject({
  dataset: v.custom<DatasetName>(
    (name) => typeof name === "string" && (isUci(name) || isSynthetic(name)),
  ),
  loss: v.custom<ObjectiveName>(
    (name) => typeof name === "string" && Object.hasOwn(objectives, name),
  ),
  seed: natural,
  samples: v.pipe(natural, v.maxValue(1e9)),
});

/** Steps between two reports, and the usual number of steps of a fit. */
const EVERY = 20;
const STEPS = 1000;

/** A fit of the study of densities as a kind of job. */
export const densityFitKind: Kind<DensityFitParameters, DensityFitInputs, RunRecord> = {
  name: "density/fit",
  version: 1,
  parameters,
  inputs: { table: (bytes) => bytes },
  run: async ({ samples, ...task }, { input, report, signal }) =>
    runTask(task, {
      samples,
      file: isUci(task.dataset) ? await input("table") : undefined,
      signal,
      onStep: ({ step }) => {
        if (step % EVERY === 0) report(Math.min(0.95, step / STEPS));
      },
    }),
  serialize: (record) => new TextEncoder().encode(`${JSON.stringify(record)}\n`),
  parse: (bytes, source) => parseRecords(new TextDecoder().decode(bytes), source)[0],
  misfit: (record, task) =>
    fitTaskName(record) === fitTaskName(task)
      ? undefined
      : `it is a record of ${fitTaskName(record)}, but the job is ${fitTaskName(task)}`,
};

/**
 * A fit of the study as a job.
 *
 * @param task a dataset, a loss and a seed
 * @param samples of the plain normaliser
 * @param table the file of the dataset, if it has one
 */
export const densityFitJob = (
  task: FitTask,
  samples: number,
  table?: Input<Uint8Array>,
): Job<DensityFitParameters, DensityFitInputs, RunRecord> =>
  jobOf(densityFitKind, { ...task, samples }, { inputs: table ? { table } : {} });
