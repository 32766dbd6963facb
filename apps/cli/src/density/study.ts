/**
 * diffeo density study: datasets × losses × seeds over the cores, one process a worker. What has a record is not run
 * again, so a study that was stopped continues with the same command.
 */
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { fail } from "diffeo/graph";
import { type ObjectiveName, objectives } from "diffeo/matching";
import { inFolder, openPool, type Pool, tidyTemporaries } from "diffeo/node";
import {
  type DatasetName,
  fitTaskName,
  isSynthetic,
  isUci,
  openFitTasks,
  type RunRecord,
  synthetics,
  type Task,
  uciSets,
} from "diffeo-tables";
import { readFitRecords, saveFitRecord } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { integer, positive } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { progress } from "../shell/progress.ts";
import { STUDY_FOLDER, tableFile, writeReport } from "./report.ts";
import type { FitParameters } from "./worker.ts";

export interface StudyCommand {
  readonly data: string;
  readonly out: string;
  readonly datasets: readonly DatasetName[];
  readonly losses: readonly ObjectiveName[];
  readonly seeds: number;
  readonly workers: number;
  readonly minutes?: number;
  readonly samples: number;
}

/** Runs the tasks until none is left or the signal is set. Returns what became of those that failed. */
async function runAll(
  io: Io,
  pool: Pool,
  tasks: readonly Task[],
  { out, data: folder, samples }: StudyCommand,
  signal: AbortSignal,
): Promise<string[]> {
  const bar = progress(io.stderr, tasks.length, "study");
  const at = new Map<string, number>();
  let done = 0;
  const show = (): void => {
    const now = [...at].slice(0, 3).map(([name, step]) => `${name} ${step}`);
    bar.update(done, now.join("  "));
  };
  const runOne = async (task: Task): Promise<void> => {
    const name = fitTaskName(task);
    const parameters: FitParameters = { task, folder, samples };
    const onProgress = (step: unknown): void => {
      at.set(name, step as number);
      show();
    };
    const record = (await pool.run({ kind: "densityFit", parameters }, { onProgress, signal })) as RunRecord;
    await saveFitRecord(out, record);
    at.delete(name);
    done++;
    show();
    const { chosen, steps, seconds } = record;
    if (!io.stderr.isTTY)
      io.stderr.write(
        `${done}/${tasks.length} ${name}: ${steps} steps, chosen ${chosen.step}, score matching ${chosen.scoreMatching.mean.toFixed(2)}, ${seconds.toFixed(1)} s\n`,
      );
  };
  try {
    const ended = await Promise.allSettled(tasks.map(runOne));
    return ended.flatMap((end, i) =>
      end.status === "rejected" && !signal.aborted
        ? [`${fitTaskName(tasks[i])}: ${(end.reason as Error).message}`]
        : [],
    );
  } finally {
    bar.end();
  }
}

/** Runs of one table are measured alike: those to come as those there are. */
function requireSamples(records: readonly RunRecord[], { out, datasets, samples }: StudyCommand): void {
  for (const record of records.filter(({ dataset }) => datasets.includes(dataset))) {
    const draws = record.chosen.importance?.samples ?? samples;
    if (draws !== samples)
      fail(
        "usage",
        `${fitTaskName(record)} in ${out} has ${draws} draws of the plain normaliser, not ${samples}`,
        `give --samples ${draws}, or another --out`,
      );
  }
}

/** Worker processes run the script beside this one; from its source, Node needs what reads it. */
function workers(count: number): Pool {
  const fromSource = import.meta.url.endsWith(".ts");
  return openPool(new URL(fromSource ? "./worker.ts" : "./worker.js", import.meta.url), {
    workers: count,
    ...(fromSource && { execArgv: ["--conditions=diffeo-source", "--import", "tsx"] }),
  });
}

/** The longest that a timer can wait, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1;

/** @param open opens the pool that runs the fits */
export async function study(io: Io, options: StudyCommand, open: (workers: number) => Pool = workers): Promise<void> {
  const { out, datasets, losses, seeds, minutes } = options;
  await outputs([tableFile(out)]);
  const there = await readFitRecords(out);
  requireSamples(there, options);
  const tasks = openFitTasks(there, datasets, losses, seeds);
  await inFolder(out, async () => {
    await tidyTemporaries(join(out, "runs"));
    const pool = open(Math.min(options.workers, tasks.length));
    const time = AbortSignal.timeout(Math.min(LONGEST, Math.ceil((minutes ?? Infinity) * 60_000)));
    const signal = AbortSignal.any([io.signal, time]);
    setMaxListeners(0, signal); // every task listens
    const failed = await runAll(io, pool, tasks, options, signal).finally(() => pool.close());
    const records = await readFitRecords(out);
    if (records.length > 0) await writeReport(io, out, records);
    const left = openFitTasks(records, datasets, losses, seeds).length;
    if (left > 0) io.stdout.write(`${left} runs are still open; the same command continues\n`);
    for (const line of failed) io.stderr.write(`${line}\n`);
    io.signal.throwIfAborted();
    if (failed.length > 0) fail("data", `${failed.length} runs failed`, "the same command tries them again");
  });
}

const listOf =
  <T extends string>(known: (name: string) => name is T, names: readonly string[]) =>
  (text: string): T[] =>
    [...new Set(text.split(","))].map((name) => {
      if (!known(name)) throw new InvalidArgumentError(`"${name}" is none of ${names.join(", ")}.`);
      return name;
    });

const isDataset = (name: string): name is DatasetName => isUci(name) || isSynthetic(name);
const isLoss = (name: string): name is ObjectiveName => Object.hasOwn(objectives, name);

export const declare: Declare = (command, io) => {
  const losses = Object.keys(objectives) as ObjectiveName[];
  const sets = Object.keys(uciSets) as DatasetName[];
  command
    .option("--data <folder>", "where the UCI files are, or are fetched to", "data")
    .option("--out <folder>", "where records, table and figures go", STUDY_FOLDER)
    .option("--datasets <list>", "which datasets", listOf(isDataset, [...sets, ...Object.keys(synthetics)]), sets)
    .option("--losses <list>", "which losses", listOf(isLoss, losses), losses)
    .option("--seeds <n>", "seeds 0 … n − 1", integer(1, 10_000), 15)
    .option("--workers <n>", "processes", integer(1, 1024), availableParallelism())
    .option("--minutes <x>", "stop after this long; runs that are not done begin anew next time", positive)
    .option("--samples <n>", "draws of the plain normaliser, the same for all runs", integer(1000, 1e9), 1_000_000)
    .action((options) => study(io, options));
};
