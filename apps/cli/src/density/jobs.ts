/**
 * A fit of the study of densities as a job: a dataset, a loss and a seed, from the table to the
 * record of the run.
 */
import { type ObjectiveName, objectives } from "diffeo/matching";
import { jobOf, type Kind } from "diffeo-queue";
import {
  type DatasetName,
  type FitTask,
  isSynthetic,
  isUci,
  parseRecords,
  type RunRecord,
} from "diffeo-tables";
import { runTask } from "diffeo-tables/node";
import * as v from "valibot";
import { RELEASE, type SizedJob } from "../shell/jobs.ts";
import { MOST } from "../shell/options.ts";

export interface FitJob extends FitTask {
  /** Draws of the plain normaliser. */
  readonly samples: number;
}

const natural = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MOST.seed));

const parameters: v.GenericSchema<unknown, FitJob> = v.strictObject({
  dataset: v.custom<DatasetName>(
    (name) => typeof name === "string" && (isUci(name) || isSynthetic(name)),
  ),
  loss: v.custom<ObjectiveName>(
    (name) => typeof name === "string" && Object.hasOwn(objectives, name),
  ),
  seed: natural,
  samples: v.pipe(natural, v.maxValue(1e9)),
});

/** Steps between two words of progress, and steps that a fit takes about. */
const EVERY = 20;
const STEPS = 1000;

export const fitKind: Kind<FitJob, RunRecord> = {
  name: "density/fit",
  version: 1,
  parameters,
  run: async ({ samples, ...task }, { input, report, signal }) =>
    runTask(task, {
      samples,
      ...(isUci(task.dataset) && { file: await input("table") }),
      signal,
      onStep: ({ step }) => {
        if (step % EVERY === 0) report(Math.min(0.95, step / STEPS));
      },
    }),
  make: (record) => Buffer.from(`${JSON.stringify(record)}\n`),
  parse: (bytes, source) => parseRecords(new TextDecoder().decode(bytes), source)[0],
};

/** @param table the SHA-256 of the dataset's file, where it has one */
export const fitJob = (task: FitTask, samples: number, table?: string): SizedJob => {
  const inputs: Record<string, string> = table === undefined ? {} : { table };
  const setting = { release: RELEASE, device: "cpu", inputs };
  return { job: jobOf(fitKind, { ...task, samples }, setting), size: 1 };
};
