/**
 * diffeo density study: compares datasets × losses × seeds, on several cores or machines. Runs with
 * a record are not repeated, so the same command continues a study that was stopped.
 */
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { fail } from "diffeo/graph";
import { type Input, inputOf } from "diffeo/job";
import { type ObjectiveName, objectives, paperObjectives } from "diffeo/matching";
import { inFolder, tidyTemporaries } from "diffeo/node";
import {
  type DatasetName,
  fitTaskName,
  isSynthetic,
  isUci,
  openFitTasks,
  type RunRecord,
  synthetics,
  uciSets,
} from "diffeo-tables/density";
import { densityFitJob, readFitRecords, saveFitRecord, uciFile } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { doGroups, type Failed, planOrShard, requireNone } from "../shell/job-groups.ts";
import { type JobOptions, withJobOptions } from "../shell/job-options.ts";
import { integer, positive } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { STUDY_FOLDER, tableFile, writeReport } from "./report.ts";

export interface StudyCommand extends JobOptions {
  readonly data: string;
  readonly out: string;
  readonly datasets: readonly DatasetName[];
  readonly losses: readonly ObjectiveName[];
  readonly seeds: number;
  readonly minutes?: number;
  readonly samples: number;
}

/**
 * Runs the fits without a record until all are done or the signal is aborted, and stores each
 * record as soon as it arrives.
 * @returns the fits that failed, or undefined if this process collects no results
 */
async function runAll(
  io: Io,
  known: ReadonlySet<string>,
  options: StudyCommand,
  signal: AbortSignal,
): Promise<readonly Failed[] | undefined> {
  const { out, data, samples, datasets, losses, seeds, queue } = options;
  const files = new Map<DatasetName, Input<Uint8Array>>();
  for (const dataset of datasets)
    if (isUci(dataset)) files.set(dataset, inputOf(await uciFile(dataset, data)));
  const groups = openFitTasks([], datasets, losses, seeds).map((task) => {
    const name = fitTaskName(task);
    const job = densityFitJob(task, samples, files.get(task.dataset));
    return { name, jobs: [job], known: known.has(name) };
  });
  const work = {
    what: "study",
    unit: "fits",
    device: "cpu",
    threads: 1,
    folder: `${out}.jobs`,
    signal,
  };
  const workers = queue === undefined ? availableParallelism() : undefined;
  const own = { workers, ...options };
  if (await planOrShard(io, own, work, () => groups)) return undefined;
  const open = groups.filter((group) => !group.known).length;
  let done = 0;
  return doGroups(io, own, work, groups, async ({ results: [record], seconds }) => {
    await saveFitRecord(out, record);
    const { chosen, steps } = record;
    const line =
      `${++done}/${open} ${fitTaskName(record)}: ${steps} steps, chosen ${chosen.step}, score ` +
      `matching ${chosen.scoreMatching.mean.toFixed(2)}`;
    if (!io.stderr.isTTY) io.stderr.write(`${line}, ${seconds.toFixed(1)} s\n`);
  });
}

/** All runs of one table use the same number of samples. */
function requireSamples(
  records: readonly RunRecord[],
  { out, datasets, samples }: StudyCommand,
): void {
  for (const record of records.filter(({ dataset }) => datasets.includes(dataset))) {
    const draws = record.chosen.importance?.samples ?? samples;
    if (draws !== samples)
      fail(
        "usage",
        `${fitTaskName(record)} in ${out} has ${draws} samples for the plain normaliser, not ` +
          `${samples}`,
        `use --samples ${draws}, or another --out`,
      );
  }
}

/** The longest delay of a timer, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1;

async function study(io: Io, options: StudyCommand): Promise<void> {
  const { out, datasets, losses, seeds, minutes } = options;
  await outputs([tableFile(out)]);
  const there = await readFitRecords(out);
  requireSamples(there, options);
  const time = AbortSignal.timeout(Math.min(LONGEST, Math.ceil((minutes ?? Infinity) * 60_000)));
  const signal = AbortSignal.any([io.signal, time]);
  setMaxListeners(0, signal); // every job listens
  const run = (): Promise<readonly Failed[] | undefined> =>
    runAll(io, new Set(there.map(fitTaskName)), options, signal).catch((error: unknown) => {
      if (time.aborted && !io.signal.aborted) return []; // time is up; finished runs are kept
      throw error;
    });
  if (options.shard || options.dryRun) return void (await run());
  await inFolder(out, async () => {
    await tidyTemporaries(join(out, "runs"));
    const failed = (await run().catch((error: unknown) => {
      if (!io.signal.aborted) throw error;
      return [];
    })) as readonly Failed[];
    const records = await readFitRecords(out);
    if (records.length > 0) await writeReport(io, out, records);
    const left = openFitTasks(records, datasets, losses, seeds).length;
    if (left > 0) io.stdout.write(`${left} runs are not done. Repeat the command to resume\n`);
    io.signal.throwIfAborted();
    requireNone(io, failed);
  });
}

const listOf =
  <T extends string>(known: (name: string) => name is T, names: readonly string[]) =>
  (text: string): T[] =>
    [...new Set(text.split(","))].map((name) => {
      if (!known(name))
        throw new InvalidArgumentError(`"${name}" is not one of ${names.join(", ")}.`);
      return name;
    });

const isDataset = (name: string): name is DatasetName => isUci(name) || isSynthetic(name);
const isLoss = (name: string): name is ObjectiveName => Object.hasOwn(objectives, name);

export const declare: Declare = (command, io) => {
  const losses = Object.keys(objectives) as ObjectiveName[];
  const sets = Object.keys(uciSets) as DatasetName[];
  withJobOptions(command, io)
    .option("--data <folder>", "folder of the UCI files; missing ones are fetched", "data")
    .option("--out <folder>", "folder for records, table and figures", STUDY_FOLDER)
    .option(
      "--datasets <list>",
      "datasets, separated by commas",
      listOf(isDataset, [...sets, ...Object.keys(synthetics)]),
      sets,
    )
    .option("--losses <list>", "losses, separated by commas", listOf(isLoss, losses), [
      ...paperObjectives,
    ])
    .option("--seeds <n>", "use seeds 0 … n − 1", integer(1, 10_000), 15)
    .option(
      "--minutes <x>",
      "stop after this many minutes; unfinished runs start over the next time",
      positive,
    )
    .option(
      "--samples <n>",
      "samples for the plain normaliser, the same for all runs",
      integer(1000, 1e9),
      1_000_000,
    )
    .action((options) => study(io, options));
};
