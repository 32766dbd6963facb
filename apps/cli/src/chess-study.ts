/**
 * diffeo chess study: w against pieces and legality, by two samplers. What has a record is not run again, so a study that was
 * stopped continues with the same command.
 */
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Model } from "diffeo/categorical";
import { fail } from "diffeo/graph";
import { loadModel, modelDigest, writeFileAtomic } from "diffeo/node";
import {
  openTasks,
  runTask,
  type StudyMethod,
  type StudyRecord,
  type StudyTask,
  studyFigure,
  studyPage,
  taskName,
} from "diffeo-chess";
import { readRecords, saveRecord } from "diffeo-chess/node";
import { renderPng } from "diffeo-picture/node";
import { modelOption } from "./chess-aim.ts";
import { checkWritable, integer, integers, interruption, numbers, type RunOptions, withRunOptions } from "./options.ts";
import { stepper } from "./stepper.ts";

interface StudyCommand extends RunOptions {
  readonly model: string;
  readonly out: string;
  readonly w: number[];
  readonly count: number;
  readonly steps: Record<StudyMethod, number>;
  readonly batch: number;
  readonly json?: boolean;
}

const OUT = "results/chess/drift-scale";

/** Runs task after task until none is left or the signal is set. */
async function runAll(
  model: Model,
  tasks: readonly StudyTask[],
  options: StudyCommand,
  signal: AbortSignal,
): Promise<void> {
  const { out, batch } = options;
  const batches = Math.ceil(options.count / batch);
  const steps = tasks.reduce((n, task) => n + task.steps * batches, 0);
  await stepper(options, signal)(steps, "study", async (how, note) => {
    for (const [i, task] of tasks.entries()) {
      const name = `${i + 1} of ${tasks.length}: ${taskName(task)}`;
      note(name);
      const record = await runTask(model, task, { batch, ...how });
      await saveRecord(out, record);
      if (!process.stderr.isTTY)
        process.stderr.write(
          `${name}: ${record.pieces.mean.toFixed(1)} pieces, ${record.legal.toFixed(3)} legal, ${record.seconds.toFixed(1)} s\n`,
        );
    }
  });
}

/** The page and the figure, as SVG and PNG. Prints the page, or the records. */
async function writeReport(out: string, json: boolean): Promise<void> {
  const records: StudyRecord[] = await readRecords(out);
  if (records.length === 0) fail("data", `${out} holds no records of runs`, "run diffeo chess study first");
  const page = studyPage(records, "drift-scale.png");
  const svg = studyFigure(records);
  await writeFileAtomic(join(out, "README.md"), page);
  await writeFileAtomic(join(out, "drift-scale.svg"), svg);
  await writeFileAtomic(join(out, "drift-scale.png"), renderPng(svg));
  process.stdout.write(json ? `${JSON.stringify(records, undefined, 1)}\n` : page);
}

async function study(options: StudyCommand): Promise<void> {
  const { out, w, count, seed, steps, json = false } = options;
  await checkWritable(join(out, "README.md"));
  const model = await loadModel(options.model);
  const settings = { count, seed, steps, model: await modelDigest(options.model) };
  const signal = interruption();
  try {
    await runAll(model, openTasks(await readRecords(out), w, settings), options, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = 130;
  }
  const open = openTasks(await readRecords(out), w, settings).length;
  if (open > 0) process.stderr.write(`\n${open} runs are still open; the same command continues\n`);
  else await writeReport(out, json);
}

/** Two whole numbers: steps of the one sampler and of the other. */
function stepsOfBoth(text: string): Record<StudyMethod, number> {
  const [domainPreserving, eulerMaruyama, ...more] = integers(1)(text);
  if (eulerMaruyama === undefined || more.length > 0)
    throw new InvalidArgumentError("give two numbers, such as 250,1000.");
  return { domainPreserving, eulerMaruyama };
}

export function addChessStudy(chess: Command): void {
  const command = chess
    .command("study")
    .description(
      "w against pieces and legality, for steps in logits and on the simplex; continues where it was stopped",
    )
    .addOption(modelOption())
    .option("--out <folder>", "where records, table and figure go", OUT)
    .option("--w <list>", "drift scales", numbers, [0.9, 0.95, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.05, 1.1])
    .option("--count <n>", "boards for each sampler and w", integer(1), 1000)
    .addOption(
      new Option("--steps <list>", "steps of the domain-preserving sampler, and of Euler–Maruyama on the simplex")
        .argParser(stepsOfBoth)
        .default({ domainPreserving: 250, eulerMaruyama: 1000 }, "250,1000"),
    )
    .option("--batch <n>", "boards at a time", integer(1), 64)
    .option("--json", "print the records");
  withRunOptions(command, 7).action(study);
  chess
    .command("report")
    .description("write table and figure anew from the records of a study")
    .argument("[folder]", "the study's folder", OUT)
    .option("--json", "print the records")
    .action((out: string, { json = false }: { readonly json?: boolean }) => writeReport(out, json));
}
