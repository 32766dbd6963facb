/**
 * diffeo chess study: w against pieces and legality, by two samplers. What has a record is not run again, so a study that was
 * stopped continues with the same command.
 */
import { join } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import type { Model } from "diffeo/categorical";
import { inFolder, loadModel, modelDigest, tidyTemporaries } from "diffeo/node";
import { openScaleTasks, openStudy, type StudyMethod, type StudyTask, scaleTaskName } from "diffeo-chess";
import { readScaleRecords, saveScaleRecord } from "diffeo-chess/node";
import type { Declare, Io } from "../shell/io.ts";
import { engineOf, integer, integers, MOST, numbers, type RunOptions, withRunOptions } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { stepping } from "../shell/progress.ts";
import { modelOption } from "./aim.ts";
import { reportFiles, STUDY_FOLDER, writeReport } from "./report.ts";

interface StudyCommand extends RunOptions {
  readonly model: string;
  readonly out: string;
  readonly w: number[];
  readonly count: number;
  readonly steps: Record<StudyMethod, number>;
  readonly batch: number;
  readonly json?: boolean;
}

/** Runs task after task until none is left or the signal is set. */
async function runAll(io: Io, model: Model, tasks: readonly StudyTask[], options: StudyCommand): Promise<void> {
  const { out, batch } = options;
  const batches = Math.ceil(options.count / batch);
  const steps = tasks.reduce((n, task) => n + task.steps * batches, 0);
  const study = openStudy(model, engineOf(options));
  await stepping(io, options, steps, "study", async ({ signal, onStep }, note) => {
    for (const [i, task] of tasks.entries()) {
      const name = `${i + 1} of ${tasks.length}: ${scaleTaskName(task)}`;
      note(name);
      const record = await study.run(task, { batch, signal, onStep });
      await saveScaleRecord(out, record);
      if (!io.stderr.isTTY)
        io.stderr.write(
          `${name}: ${record.pieces.mean.toFixed(1)} pieces, ${record.legal.toFixed(3)} legal, ${record.seconds.toFixed(1)} s\n`,
        );
    }
  }).finally(() => study.dispose());
}

async function study(io: Io, options: StudyCommand): Promise<void> {
  const { out, w, count, seed, steps, json = false } = options;
  await outputs(reportFiles(out), { inputs: [options.model] });
  const model = await loadModel(options.model);
  const settings = { count, seed, steps, model: await modelDigest(options.model) };
  const openNow = async (): Promise<StudyTask[]> => openScaleTasks(await readScaleRecords(out), w, settings);
  await inFolder(out, async () => {
    await tidyTemporaries(join(out, "runs"));
    const tasks = await openNow();
    try {
      await runAll(io, model, tasks, options);
    } catch (error) {
      if (!io.signal.aborted) throw error;
      io.stderr.write(`\n${(await openNow()).length} runs are still open; the same command continues\n`);
      throw error;
    }
    await writeReport(io, out, json);
  });
}

/** Two whole numbers: steps of the one sampler and of the other. */
function stepsOfBoth(text: string): Record<StudyMethod, number> {
  const [domainPreserving, eulerMaruyama, ...more] = integers(1, MOST.steps)(text);
  if (eulerMaruyama === undefined || more.length > 0)
    throw new InvalidArgumentError("give two numbers, such as 250,1000.");
  return { domainPreserving, eulerMaruyama };
}

export const declare: Declare = (command, io) => {
  command
    .addOption(modelOption())
    .option("--out <folder>", "where records, table and figure go", STUDY_FOLDER)
    .option("--w <list>", "drift scales", numbers, [0.9, 0.95, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.05, 1.1])
    .option("--count <n>", "boards for each sampler and w", integer(1, MOST.boards), 1000)
    .addOption(
      new Option("--steps <list>", "steps of the domain-preserving sampler, and of Euler–Maruyama on the simplex")
        .argParser(stepsOfBoth)
        .default({ domainPreserving: 250, eulerMaruyama: 1000 }, "250,1000"),
    )
    .option("--batch <n>", "boards at a time", integer(1, MOST.batch), 64)
    .option("--json", "print the records");
  withRunOptions(command, 7).action((options) => study(io, options));
};
