/**
 * diffeo chess study: measures pieces and legality against w, with two samplers. Runs with a record
 * are not repeated, so the same command continues a study that was stopped.
 */
import { join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { parseModel } from "diffeo/categorical";
import { inputOf } from "diffeo/job";
import { inFolder, loadModel, modelDigest, readBytes, tidyTemporaries } from "diffeo/node";
import { key } from "diffeo/random";
import {
  type BoardsParameters,
  type BoardsRun,
  boardsJobs,
  joinBoards,
  openScaleTasks,
  requireDrawable,
  type StudySolver,
  type StudyTask,
  scaleRecord,
  scaleTaskName,
} from "diffeo-chess";
import { readScaleRecords, saveScaleRecord } from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import { doGroups, type Failed, planOrShard, requireNone } from "../shell/job-groups.ts";
import { type JobOptions, withJobOptions } from "../shell/job-options.ts";
import type { Work } from "../shell/jobs.ts";
import {
  integer,
  integers,
  MOST,
  numbers,
  type RunOptions,
  withRunOptions,
} from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { modelOption } from "./aim.ts";
import { reportFiles, STUDY_FOLDER, writeReport } from "./report.ts";

interface StudyCommand extends RunOptions, JobOptions {
  readonly model: string;
  readonly out: string;
  readonly w: number[];
  readonly count: number;
  readonly steps: Record<StudySolver, number>;
  readonly batch: number;
  readonly json?: boolean;
}

/**
 * Runs the tasks that have no record, and stores each record when it is done. Returns undefined if
 * this process collects no results.
 */
async function runAll(
  io: Io,
  tasks: readonly StudyTask[],
  known: ReadonlySet<string>,
  options: StudyCommand,
): Promise<readonly Failed[] | undefined> {
  const { out, batch, device, threads } = options;
  const bytes = await readBytes(options.model);
  const model = inputOf(bytes, parseModel(bytes, options.model));
  const groups = tasks.map((task) => {
    const { method: solver, w, steps, count, seed } = task;
    const run: BoardsRun = { space: "simplex", solver, w, steps, key: key(seed), device };
    const name = scaleTaskName(task);
    return { name, jobs: boardsJobs(model, run, count, batch), known: known.has(name) };
  });
  const work: Work<BoardsParameters> = {
    what: "study",
    unit: "boards",
    sizeOf: ({ count }) => count,
    device,
    threads,
    folder: `${out}.jobs`,
    signal: io.signal,
  };
  if (await planOrShard(io, options, work, () => groups)) return undefined;
  const open = groups.filter((group) => !group.known).length;
  let done = 0;
  return doGroups(io, options, work, groups, async ({ results, seconds }, i) => {
    const record = scaleRecord(tasks[i], joinBoards(results), device);
    await saveScaleRecord(out, record);
    const line =
      `${++done} of ${open}: ${groups[i].name}: ${record.pieces.mean.toFixed(1)} ` +
      `pieces, ${record.legal.toFixed(3)} legal`;
    if (!io.stderr.isTTY) io.stderr.write(`${line}, ${seconds.toFixed(1)} s\n`);
  });
}

async function study(io: Io, options: StudyCommand): Promise<void> {
  const { out, w, count, seed, steps, json = false } = options;
  await outputs(reportFiles(out), { inputs: [options.model] });
  requireDrawable(await loadModel(options.model));
  const settings = { count, seed, steps, model: await modelDigest(options.model) };
  const openNow = async (): Promise<StudyTask[]> =>
    openScaleTasks(await readScaleRecords(out), w, settings);
  const run = async (): Promise<void> => {
    const known = new Set((await readScaleRecords(out)).map(scaleTaskName));
    await openNow(); // throws if records were made with other settings
    const failed = await runAll(io, openScaleTasks([], w, settings), known, options);
    if (!failed) return;
    if (known.size > 0 || (await readScaleRecords(out)).length > 0)
      await writeReport(io, out, json);
    requireNone(io, failed);
  };
  if (options.shard || options.dryRun) return run();
  await inFolder(out, async () => {
    await tidyTemporaries(join(out, "runs"));
    await run().catch(async (error: unknown) => {
      if (io.signal.aborted)
        io.stderr.write(
          `\n${(await openNow()).length} runs are not done. Repeat the command to resume\n`,
        );
      throw error;
    });
  });
}

/** Two integers: the steps of each sampler. */
function stepsOfBoth(text: string): Record<StudySolver, number> {
  const [domainPreserving, eulerMaruyama, ...more] = integers(1, MOST.steps)(text);
  if (eulerMaruyama === undefined || more.length > 0)
    throw new InvalidArgumentError("Give two numbers, such as 250,1000.");
  return { domainPreserving, eulerMaruyama };
}

export const declare: Declare = (command, io) => {
  command
    .addOption(modelOption())
    .option("--out <folder>", "folder for records, table and figure", STUDY_FOLDER)
    .option(
      "--w <list>",
      "drift scales",
      numbers,
      [0.9, 0.95, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.05, 1.1],
    )
    .option("--count <n>", "boards per sampler and w", integer(1, MOST.boards), 1000)
    .addOption(
      new Option(
        "--steps <list>",
        "steps of the domain-preserving sampler, and of Euler–Maruyama on the simplex",
      )
        .argParser(stepsOfBoth)
        .default({ domainPreserving: 250, eulerMaruyama: 1000 }, "250,1000"),
    )
    .option("--batch <n>", "boards per batch", integer(1, MOST.batch), 64)
    .option("--json", "print the records");
  withRunOptions(withJobOptions(command, io), 7).action((options) => study(io, options));
};
