/**
 * Commands whose work is cut into jobs: --queue lets workers anywhere do them, --shard does some of
 * them into a folder that machines share, and without either local processes do them. Who does a
 * job changes nothing in what comes of it.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { DiffeoError, fail } from "diffeo/graph";
import {
  type Executor,
  type Job,
  type JobResult,
  type Kind,
  ofShard,
  parseShard,
  type Shard,
} from "diffeo-queue";
import {
  inputsOf,
  openLocal,
  openQueue,
  type ProcessScript,
  parseAddress,
  withFolder,
} from "diffeo-queue/node";
import type { Io } from "./io.ts";
import { integer } from "./options.ts";
import { progress } from "./progress.ts";
import { acceptOldOption } from "./renamed.ts";
import { version } from "./version.ts";

export interface JobOptions {
  readonly queue?: string;
  readonly shard?: Shard;
  readonly jobs?: string;
  readonly workers?: number;
  readonly dryRun?: boolean;
}

const shard = (text: string): Shard => {
  try {
    return parseShard(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

export const queueOption = (): Option =>
  new Option(
    "--queue <url>",
    "a Redis or Valkey server: redis://host:6379, rediss://user:password@host, unix:///socket",
  );

/** Adds the options of work that is cut into jobs. */
export const withJobOptions = (command: Command, io: Io): Command =>
  acceptOldOption(
    command
      .addOption(queueOption().helpGroup("Many machines:"))
      .addOption(
        new Option(
          "--shard <i/n>",
          "do every n-th job, beginning with the i-th; the command without it collects",
        )
          .argParser(shard)
          .helpGroup("Many machines:"),
      )
      .addOption(
        new Option(
          "--jobs <folder>",
          "where shards leave their jobs (default: --out with .jobs)",
        ).helpGroup("Many machines:"),
      )
      .addOption(
        new Option("--workers <n>", "processes on this machine")
          .argParser(integer(1, 1024))
          .helpGroup("Many machines:"),
      )
      .addOption(
        new Option("--dry-run", "say which jobs there are, and end").helpGroup("Many machines:"),
      ),
    io,
    "--parts",
    "--jobs",
  );

/**
 * Whether there are jobs to be done elsewhere than in this process, or left by shards in their
 * folder.
 */
export const asJobs = (
  { queue, shard, jobs, workers = 1, dryRun }: JobOptions,
  folder: string,
): boolean =>
  queue !== undefined ||
  shard !== undefined ||
  workers > 1 ||
  dryRun === true ||
  existsSync(jobs ?? folder);

/** The address of a queue as options and environment have it. */
export const addressOf = (url: string): ReturnType<typeof parseAddress> =>
  parseAddress(url, process.env.DIFFEO_QUEUE_PASSWORD);

/** The release that jobs are for: workers of another one refuse them. */
export const RELEASE = version;

/** What a process that does jobs runs; from its source, Node needs what reads it. */
export function processScript(): ProcessScript {
  if (!import.meta.url.endsWith(".ts"))
    return { url: new URL("../queue/worker.js", import.meta.url) };
  const execArgv = ["--conditions=diffeo-source", "--import", "tsx"];
  return { url: new URL("../queue/worker.ts", import.meta.url), execArgv };
}

/** A job, and how much of the whole it is. */
export interface SizedJob {
  readonly job: Job;
  readonly size: number;
}

/** Jobs whose results belong together. */
export interface Group {
  readonly name: string;
  readonly jobs: readonly SizedJob[];
  /** Whether its result is there already. */
  readonly known?: boolean;
}

/** Work as jobs of one kind. */
export interface Work<P, R> {
  /** "sampling", and what its sizes count: "boards". */
  readonly what: string;
  readonly unit: string;
  readonly kind: Kind<P, R>;
  readonly device: string;
  readonly threads?: number;
  readonly inputs: readonly Uint8Array[];
  /** Where shards leave their jobs unless they are told. */
  readonly folder?: string | undefined;
  readonly signal: AbortSignal;
}

/** What was made of a group. */
export interface Made<R> {
  readonly results: readonly R[];
  /** Of all its jobs together, whoever did them. */
  readonly seconds: number;
}

const count = (n: number): string => n.toLocaleString("en");

function folderOf(
  { jobs }: JobOptions,
  { folder }: { readonly folder?: string | undefined },
): string {
  return (
    jobs ??
    folder ??
    fail("usage", "--shard needs a folder for its jobs", "give --jobs FOLDER, or --out")
  );
}

/**
 * Processes on this machine: those asked for, no more than there are jobs; by default this one
 * alone.
 */
const workersFor = ({ workers = 1 }: JobOptions, jobs: number): number =>
  Math.max(1, Math.min(workers, jobs));

/** Threads of one operation: as asked for; where processes share the machine, their share of it. */
function threadsFor(workers: number, threads?: number): { threads?: number } {
  if (threads !== undefined) return { threads };
  return workers > 1 ? { threads: Math.max(1, Math.floor(availableParallelism() / workers)) } : {};
}

/** Who does the jobs. @param jobs how many there will be */
export async function openExecutor<P, R>(
  io: Io,
  options: JobOptions,
  work: Omit<Work<P, R>, "what" | "unit">,
  jobs: number,
): Promise<Executor> {
  const { kind, device, threads, signal } = work;
  const inputs = inputsOf(work.inputs);
  const say = (line: string): void => void io.stderr.write(`${line}\n`);
  if (options.queue !== undefined && options.shard)
    fail("usage", "--queue and --shard both say who does the jobs", "give one of them");
  if (options.queue !== undefined && options.workers !== undefined)
    fail(
      "usage",
      "--workers are processes on this machine, and --queue has workers of its own",
      "leave one out",
    );
  if (options.queue !== undefined)
    return openQueue({ address: addressOf(options.queue), device, inputs, signal, say });
  const workers = workersFor(options, jobs);
  const local = openLocal({
    kinds: { [kind.name]: async () => kind as Kind<unknown, unknown> },
    release: RELEASE,
    inputs,
    workers,
    script: processScript(),
    ...threadsFor(workers, threads),
    signal,
  });
  if (options.shard) return withFolder(local, folderOf(options, work), { write: true });
  const folder = options.jobs ?? work.folder;
  return folder !== undefined && existsSync(folder)
    ? withFolder(local, folder, { write: false })
    : local;
}

/** Says which jobs there are. */
function writePlan<P, R>(
  io: Io,
  options: JobOptions,
  work: Work<P, R>,
  groups: readonly Group[],
): void {
  const all = groups.flatMap(({ jobs }) => jobs);
  const known = groups.filter((group) => group.known).flatMap(({ jobs }) => jobs);
  const sizeOf = (jobs: readonly SizedJob[]): number =>
    jobs.reduce((sum, { size }) => sum + size, 0);
  const line = (jobs: readonly SizedJob[]): string =>
    `${count(jobs.length)} jobs, ${count(sizeOf(jobs))} ${work.unit}`;
  const largest = Math.max(...all.map(({ size }) => size));
  const inputs = [...inputsOf(work.inputs)].map(
    ([digest, bytes]) =>
      `input ${digest.slice(0, 12)}…: ${(bytes.length / 1e6).toFixed(1)} MB, sent once\n`,
  );
  io.stdout.write(
    [
      `${work.kind.name}, version ${work.kind.version}, on ${work.device}: ${line(all)}, up to ${count(largest)} a job\n`,
      ...inputs,
      ...(known.length > 0 ? [`done already: ${line(known)}\n`] : []),
      ...(options.shard
        ? [
            `shard ${options.shard.index}/${options.shard.of}: ${line(ofShard(all, options.shard))}\n`,
          ]
        : []),
      ...(options.queue === undefined ? [] : [`on ${addressOf(options.queue).shown}\n`]),
    ].join(""),
  );
}

/** A bar over all jobs: what is done of them, who is at work, how fast and how much longer. */
function barOf(io: Io, what: string, unit: string, total: number, workers: () => number) {
  const bar = progress(io.stderr, total, what);
  const began = performance.now();
  const shares = new Map<Job, number>();
  let whole = 0;
  const show = (): void => {
    const done = whole + [...shares.values()].reduce((a, b) => a + b, 0);
    const rate = done / ((performance.now() - began) / 1000);
    const people = workers();
    bar.update(
      Math.floor(done),
      `${people} ${people === 1 ? "worker" : "workers"}, ${rate.toPrecision(2)} ${unit}/s`,
    );
  };
  const timer = io.stderr.isTTY ? setInterval(show, 1000) : undefined;
  return {
    progress: ({ job, size }: SizedJob, share: number): void => {
      shares.set(job, share * size);
      show();
    },
    done: ({ job, size }: SizedJob): void => {
      shares.delete(job);
      whole += size;
      show();
    },
    end: (): void => {
      clearInterval(timer);
      bar.end();
    },
  };
}

/** One shard's jobs, into the folder. */
async function doShard<P, R>(
  io: Io,
  options: JobOptions,
  work: Work<P, R>,
  groups: readonly Group[],
): Promise<void> {
  const own = new Set(
    ofShard(
      groups.flatMap(({ jobs }) => jobs),
      options.shard as Shard,
    ),
  );
  const open = groups.map((group) => ({
    ...group,
    jobs: group.known ? [] : group.jobs.filter((job) => own.has(job)),
  }));
  const failed = await doGroups(io, options, work, open, async () => undefined);
  const folder = folderOf(options, work);
  const { index, of } = options.shard as Shard;
  io.stdout.write(
    `shard ${index}/${of}: ${count(own.size)} jobs in ${folder}; the command without --shard collects\n`,
  );
  requireNone(io, failed);
}

/**
 * Does work as jobs. Groups are handed over as they are done, in whatever order, their results in
 * the order of their jobs.
 * @returns what became of the groups that failed; nothing where there is nothing to collect: a dry
 * run, or one shard of many
 */
export async function doJobs<P, R>(
  io: Io,
  options: JobOptions,
  work: Work<P, R>,
  groups: readonly Group[],
  done: (made: Made<R>, group: number) => Promise<void>,
): Promise<readonly Failed[] | undefined> {
  if (options.dryRun) return void writePlan(io, options, work, groups);
  if (options.shard) return void (await doShard(io, options, work, groups));
  return doGroups(io, options, work, groups, done);
}

async function doGroups<P, R>(
  io: Io,
  options: JobOptions,
  work: Work<P, R>,
  groups: readonly Group[],
  done: (made: Made<R>, group: number) => Promise<void>,
): Promise<readonly Failed[]> {
  const open = groups.map(({ known, jobs }) => (known ? [] : jobs));
  const all = open.flat();
  const executor = await openExecutor(io, options, work, all.length);
  const bar = barOf(
    io,
    work.what,
    work.unit,
    all.reduce((sum, { size }) => sum + size, 0),
    executor.workers,
  );
  const runOne = async (sized: SizedJob): Promise<JobResult> => {
    const result = await executor.run(sized.job, {
      onProgress: (share) => bar.progress(sized, share),
    });
    bar.done(sized);
    return result;
  };
  let last: Promise<unknown> = Promise.resolve(); // groups are handed over one at a time
  const runGroup = async (jobs: readonly SizedJob[], i: number): Promise<void> => {
    if (groups[i].known || jobs.length === 0) return;
    const ended = await Promise.allSettled(jobs.map(runOne));
    const lost = ended.find((end) => end.status === "rejected");
    if (lost) throw lost.reason;
    const made = ended.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const seconds = made.reduce((sum, result) => sum + result.seconds, 0);
    const results = made.map(({ bytes }) => work.kind.parse(bytes, `a job of ${groups[i].name}`));
    const handed = last.then(() => done({ results, seconds }, i));
    last = handed.catch(() => undefined);
    await handed;
  };
  try {
    const ended = await Promise.allSettled(open.map(runGroup));
    work.signal.throwIfAborted();
    return ended.flatMap((end, i) =>
      end.status === "rejected" ? [{ group: groups[i].name, error: end.reason as Error }] : [],
    );
  } catch (error) {
    if (options.queue !== undefined)
      io.stderr.write("jobs stay on the queue; the same command continues\n");
    throw error;
  } finally {
    bar.end();
    await executor.close();
  }
}

/** A group that came to nothing, and why. */
export interface Failed {
  readonly group: string;
  readonly error: Error;
}

/**
 * Throws where groups failed: their one error where they share it, such as a server that refuses;
 * else a summary after a line for each, of their kind where all have one.
 */
export function requireNone(io: Io, failed: readonly Failed[]): void {
  if (failed.length === 0) return;
  const [first, ...rest] = new Set(failed.map(({ error }) => error));
  if (failed.length > 1 && rest.length === 0) throw first;
  for (const { group, error } of failed) io.stderr.write(`${group}: ${error.message}\n`);
  const [kind, ...others] = new Set(
    failed.map(({ error }) => (error instanceof DiffeoError ? error.kind : "data")),
  );
  throw new DiffeoError(
    others.length === 0 ? kind : "data",
    `${failed.length} of the jobs failed`,
    "the same command tries them again",
  );
}
