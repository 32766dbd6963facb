/**
 * diffeo density study: datasets × losses × seeds over the cores, one process a worker. What has a record is not run
 * again, so a study that was stopped continues with the same command.
 */
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { fail } from "diffeo/graph";
import { type ObjectiveName, objectives } from "diffeo/matching";
import { writeFileAtomic } from "diffeo/node";
import { renderPng } from "diffeo-picture/node";
import {
  type DatasetName,
  isSynthetic,
  isUci,
  openTasks,
  type RunRecord,
  studyFigures,
  studyTable,
  synthetics,
  type Task,
  taskName,
  uciSets,
} from "diffeo-tables";
import { readRecords, recordPath, runTask, saveRecord } from "diffeo-tables/node";
import { checkWritable, integer, interruption, positive } from "./options.ts";
import { progress } from "./progress.ts";

interface StudyCommand {
  readonly data: string;
  readonly out: string;
  readonly datasets: DatasetName[];
  readonly losses: ObjectiveName[];
  readonly seeds: number;
  readonly workers: number;
  readonly minutes?: number;
  readonly samples: number;
}

/** What a worker says: that it has come to a step, that a run is done, or that it failed. */
type Message =
  | { readonly kind: "ready" }
  | { readonly kind: "step"; readonly step: number }
  | { readonly kind: "done"; readonly record: RunRecord }
  | { readonly kind: "failed"; readonly message: string };

interface Order {
  readonly task: Task;
  readonly folder: string;
  readonly samples: number;
}

/** A worker: one task after another, as they come. */
async function work(): Promise<void> {
  const say = (message: Message): void => void process.send?.(message);
  if (!process.send)
    fail("usage", "density worker is started by density study alone", "run diffeo density study instead");
  process.on("SIGINT", () => undefined); // Ctrl-C is the parent's to handle
  process.on("disconnect", () => process.exit());
  process.on("message", async ({ task, folder, samples }: Order) => {
    try {
      const record = await runTask(task, {
        folder,
        samples,
        onStep: ({ step }) => {
          if (step % 20 === 0) say({ kind: "step", step });
        },
      });
      say({ kind: "done", record });
    } catch (error) {
      say({ kind: "failed", message: (error as Error).message });
    }
  });
  say({ kind: "ready" });
  await new Promise(() => undefined);
}

/** The longest that a timer can wait, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1;

/** Runs the tasks on `count` processes until none is left, the signal is set or the time is over. */
function workAll(tasks: Task[], options: StudyCommand, signal: AbortSignal): Promise<{ failed: string[] }> {
  const { out, data: folder, samples, minutes } = options;
  const total = tasks.length;
  const bar = progress(total, "study");
  const children = new Map<ChildProcess, { task?: Task; step: number }>();
  const failed: string[] = [];
  let done = 0;
  return new Promise((resolve) => {
    const show = (): void => {
      const now = [...children.values()].flatMap(({ task, step }) => (task ? [`${taskName(task)} ${step}`] : []));
      bar.update(done, now.slice(0, 3).join("  "));
    };
    const finish = (): void => {
      clearTimeout(timer);
      const working = [...children.keys()];
      children.clear(); // what they say from here on, and how they end, is no news
      for (const child of working) child.kill();
      bar.end();
      resolve({ failed });
    };
    const timer = setTimeout(finish, Math.min(LONGEST, (minutes ?? Infinity) * 60_000));
    signal.addEventListener("abort", finish, { once: true });
    const fault = (task: Task | undefined, message: string): void =>
      void failed.push(`${task ? taskName(task) : "a worker"}: ${message}`);
    const keep = async (record: RunRecord): Promise<void> => {
      await saveRecord(out, record);
      done++;
      const { scoreMatching, step } = record.chosen;
      if (!process.stderr.isTTY)
        process.stderr.write(
          `${done}/${total} ${taskName(record)}: ${record.steps} steps, chosen ${step}, score matching ${scoreMatching.mean.toFixed(2)}, ${record.seconds.toFixed(1)} s\n`,
        );
    };
    const next = (child: ChildProcess): void => {
      const task = tasks.shift();
      if (!task) {
        children.delete(child);
        child.disconnect();
        if (children.size === 0) finish();
        return;
      }
      children.set(child, { task, step: 0 });
      child.send({ task, folder, samples } satisfies Order);
    };
    for (let i = 0; i < Math.min(options.workers, total); i++) {
      const child = fork(process.argv[1], ["density", "worker"]);
      children.set(child, { step: 0 });
      child.on("message", async (message: Message) => {
        const current = children.get(child);
        if (!current) return;
        if (message.kind === "step") {
          current.step = message.step;
          return show();
        }
        if (message.kind === "done") await keep(message.record).catch((e: Error) => fault(current.task, e.message));
        else if (message.kind === "failed") fault(current.task, message.message);
        if (!children.has(child)) return;
        show();
        next(child);
      });
      // A worker ends when nothing is left for it, and counts no more; one that still counts is lost.
      const lose = (how: string): void => {
        const current = children.get(child);
        if (!current) return;
        fault(current.task, `its process ${how}`);
        children.delete(child);
        child.kill();
        if (children.size === 0) finish();
      };
      child.on("exit", (code, killed) => lose(`ended with ${killed ?? `code ${code}`}`));
      child.on("error", ({ message }) => lose(`cannot be used: ${message}`));
    }
    if (total === 0) finish();
  });
}

/** One file of records a dataset, the table, and each figure as SVG and PNG. Returns the table. */
async function writeReport(out: string, records: readonly RunRecord[]): Promise<string> {
  for (const dataset of new Set(records.map((r) => r.dataset))) {
    const own = records.filter((r) => r.dataset === dataset);
    await writeFileAtomic(join(out, `${dataset}.json`), `[\n${own.map((r) => JSON.stringify(r)).join(",\n")}\n]\n`);
  }
  const table = studyTable(records);
  await writeFileAtomic(join(out, "table.md"), table);
  for (const [name, svg] of Object.entries(studyFigures(records))) {
    await writeFileAtomic(join(out, `${name}.svg`), svg);
    await writeFileAtomic(join(out, `${name}.png`), renderPng(svg));
  }
  return table;
}

/** Runs of one table are measured alike: those to come as those there are. */
function requireSamples(records: readonly RunRecord[], { out, datasets, samples }: StudyCommand): void {
  for (const record of records.filter(({ dataset }) => datasets.includes(dataset))) {
    const draws = record.chosen.importance?.samples ?? samples;
    if (draws !== samples)
      fail(
        "usage",
        `${taskName(record)} in ${out} has ${draws} draws of the plain normaliser, not ${samples}`,
        `give --samples ${draws}, or another --out`,
      );
  }
}

async function study(options: StudyCommand): Promise<void> {
  const { out, datasets, losses, seeds } = options;
  const there = await readRecords(out);
  requireSamples(there, options);
  const tasks = openTasks(there, datasets, losses, seeds);
  await checkWritable(join(out, "table.md"), ...tasks.slice(0, 1).map((task) => recordPath(out, task)));
  const signal = interruption();
  const { failed } = await workAll(tasks, options, signal);
  const records = await readRecords(out);
  if (records.length > 0) process.stdout.write(await writeReport(out, records));
  const open = openTasks(records, datasets, losses, seeds).length;
  if (open > 0) process.stdout.write(`${open} runs are still open; the same command continues\n`);
  for (const line of failed) process.stderr.write(`${line}\n`);
  if (signal.aborted) process.exitCode = 130;
  else if (failed.length > 0) process.exitCode = 1;
}

async function report(out: string): Promise<void> {
  const records = await readRecords(out);
  if (records.length === 0) fail("data", `${out} holds no records of runs`, "run diffeo density study first");
  process.stdout.write(await writeReport(out, records));
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

export function addDensityStudy(density: Command): void {
  const losses = Object.keys(objectives) as ObjectiveName[];
  const sets = Object.keys(uciSets) as DatasetName[];
  density
    .command("study")
    .description("compare the losses over datasets and seeds; continues where it was stopped")
    .option("--data <folder>", "where the UCI files are, or are fetched to", "data")
    .option("--out <folder>", "where records, table and figures go", "results/density")
    .option("--datasets <list>", "which datasets", listOf(isDataset, [...sets, ...Object.keys(synthetics)]), sets)
    .option("--losses <list>", "which losses", listOf(isLoss, losses), losses)
    .option("--seeds <n>", "seeds 0 … n − 1", integer(1), 15)
    .option("--workers <n>", "processes", integer(1), availableParallelism())
    .option("--minutes <x>", "stop after this long; runs that are not done begin anew next time", positive)
    .option("--samples <n>", "draws of the plain normaliser, the same for all runs", integer(1000), 1_000_000)
    .action(study);
  density
    .command("report")
    .description("write table and figures anew from the records of a study")
    .argument("[folder]", "the study's folder", "results/density")
    .action(report);
  density.command("worker", { hidden: true }).action(work);
}
