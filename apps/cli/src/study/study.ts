/**
 * diffeo study: runs the tasks of a study that have no record, on several cores or machines, and
 * writes records, tables and figures. To resume a stopped study, repeat the command.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Argument, Option } from "commander";
import { fail } from "diffeo/graph";
import { type Input, inputOf } from "diffeo/job";
import { inFolder, readBytes, tidyTemporaries, writeFileAtomic } from "diffeo/node";
import { readPositions, shippedModel } from "diffeo-chess/node";
import {
  type Study,
  type StudyName,
  type StudyRecord,
  studies,
  studyNamed,
  taskJob,
} from "diffeo-studies";
import { readStudyRecords, saveStudyRecord, saveStudyRecords } from "diffeo-studies/node";
import { isUci } from "diffeo-tables/density";
import { uciFile } from "diffeo-tables/node";
import type { Declare, Io } from "../shell/io.ts";
import { doGroups, type Failed, planOrShard, requireNone } from "../shell/job-groups.ts";
import { type JobOptions, withJobOptions } from "../shell/job-options.ts";
import { integer } from "../shell/options.ts";
import { outputs } from "../shell/outputs.ts";
import { writePicture } from "../shell/pictures.ts";

interface StudyCommand extends JobOptions {
  readonly out?: string;
  readonly data: string;
  readonly model: string;
  readonly device: string;
  readonly positions?: string;
  readonly seeds?: number;
  readonly only?: string;
  readonly report?: boolean;
  readonly json?: boolean;
}

/** The table of a study. A file that does not look like one is never replaced. */
const tableFile = (out: string, { name }: Study) => ({
  path: join(out, "table.md"),
  like: new RegExp(`^# ${name}\\b`),
});

async function writeReport(
  io: Io,
  study: Study,
  out: string,
  records: readonly StudyRecord<object>[],
  { json = false, positions: real }: StudyCommand,
): Promise<void> {
  await saveStudyRecords(study, out, records);
  const positions = real === undefined ? undefined : (await readPositions(real)).positions;
  const { text, figures } = await study.report(records, { positions });
  const page = `# ${study.name}: ${study.about}\n\n${text}`;
  await writeFileAtomic(join(out, "table.md"), page);
  for (const [name, svg] of Object.entries(figures)) await writePicture(io, join(out, name), svg);
  io.stdout.write(json ? `${JSON.stringify(records)}\n` : page);
}

/** The files that tasks need, by name. */
async function filesOf(
  study: Study,
  tasks: readonly object[],
  { data, model }: StudyCommand,
): Promise<ReadonlyMap<string, Input<Uint8Array>>> {
  const names = new Set(tasks.flatMap((task) => study.file?.(task) ?? []));
  const files = new Map<string, Input<Uint8Array>>();
  for (const name of names)
    files.set(name, inputOf(await (isUci(name) ? uciFile(name, data) : readBytes(model))));
  return files;
}

/** @returns the tasks that failed, or undefined if this process collects no results */
async function runAll(
  io: Io,
  study: Study,
  out: string,
  tasks: readonly object[],
  known: ReadonlySet<string>,
  options: StudyCommand,
): Promise<readonly Failed[] | undefined> {
  const isKnown = (task: object): boolean => known.has(study.nameOf(task));
  const open = tasks.filter((task) => !isKnown(task));
  const files = await filesOf(study, open, options);
  const { device } = options;
  const groups = tasks.map((task) => {
    const job = taskJob(study, task, files.get(study.file?.(task) ?? ""), device);
    return { name: study.nameOf(task), jobs: [job], known: isKnown(task) };
  });
  const work = {
    what: study.name,
    unit: "tasks",
    device,
    threads: 1,
    folder: `${out}.jobs`,
    signal: io.signal,
  };
  const workers = options.queue === undefined ? availableParallelism() : undefined;
  const own = { workers, ...options };
  if (await planOrShard(io, own, work, () => groups)) return undefined;
  let done = 0;
  return doGroups(io, own, work, groups, async ({ results: [result], seconds }, i) => {
    await saveStudyRecord(study, out, { task: tasks[i], result });
    const line = `${++done}/${open.length} ${groups[i].name}, ${seconds.toFixed(1)} s`;
    if (!io.stderr.isTTY) io.stderr.write(`${line}\n`);
  });
}

async function study(io: Io, name: StudyName, options: StudyCommand): Promise<void> {
  const { out = `studies/${name}`, only } = options;
  const chosen = await studyNamed(name);
  await outputs([tableFile(out, chosen)]);
  const all = chosen.tasks(options.seeds ?? chosen.seeds);
  const tasks = only === undefined ? all : all.filter((t) => chosen.nameOf(t).startsWith(only));
  if (tasks.length === 0)
    fail(
      "usage",
      `no task name of ${name} begins with "${only}"`,
      `use the beginning of a name such as ${chosen.nameOf(all[0])}`,
    );
  const namesOf = async (): Promise<ReadonlySet<string>> =>
    new Set((await readStudyRecords(chosen, out)).map(({ task }) => chosen.nameOf(task)));
  const run = async () => runAll(io, chosen, out, tasks, await namesOf(), options);
  if (options.shard || options.dryRun) return void (await run());
  await inFolder(out, async () => {
    await tidyTemporaries(join(out, "runs"));
    const failed = options.report ? [] : await run();
    const records = await readStudyRecords(chosen, out);
    if (records.length === 0)
      fail("data", `${out} holds no records of ${name}`, `run diffeo study ${name} first`);
    await writeReport(io, chosen, out, records, options);
    const existing = await namesOf();
    const left = tasks.filter((task) => !existing.has(chosen.nameOf(task))).length;
    if (left > 0) io.stderr.write(`${left} tasks are not done. Repeat the command to resume\n`);
    requireNone(io, failed ?? []);
  });
}

export const declare: Declare = (command, io) => {
  withJobOptions(command, io)
    .addArgument(new Argument("<name>", "the study").choices(Object.keys(studies)))
    .option("--out <folder>", "folder for records, table and figures (default: studies/NAME)")
    .option("--data <folder>", "folder of the UCI files; missing ones are fetched", "data")
    .addOption(
      new Option("--model <file>", "the chess model that equal-pieces samples").default(
        shippedModel,
        "the shipped model",
      ),
    )
    .addOption(
      new Option("--device <name>", "where the network of equal-pieces runs")
        .choices(["cpu", "webgpu"])
        .default("cpu"),
    )
    .option("--positions <file>", "real positions that equal-pieces compares boards with")
    .option("--seeds <n>", "use seeds 0 … n − 1 (default: set by the study)", integer(1, 10_000))
    .option("--only <text>", "only tasks whose names begin with this")
    .addOption(new Option("--report", "only write table and figures from existing records"))
    .option("--json", "print the records")
    .addHelpText(
      "after",
      "\nExample:\n  diffeo study gssm --workers 16 --out studies/gssm\n\nTo resume a stopped " +
        "study, repeat the command.",
    )
    .action((name, options) => study(io, name, options));
};
