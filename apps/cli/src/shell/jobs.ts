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
  ofShard,
  parseShard,
  resultsOf,
  type Shard,
  withRepeats,
} from "diffeo/job";
import {
  inputsOf,
  openLocal,
  openQueue,
  type ProcessScript,
  parseAddress,
  withFolder,
} from "diffeo-queue";
import type { Io } from "./io.ts";
import { integer, shareOrAll } from "./options.ts";
import { progress } from "./progress.ts";
import { acceptOldOption } from "./renamed.ts";
import { version } from "./version.ts";

export interface JobOptions {
  readonly queue?: string;
  readonly shard?: Shard;
  readonly jobs?: string;
  readonly workers?: number;
  /** The share of the jobs that are done twice. */
  readonly verify?: number;
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
        new Option(
          "--verify <share>",
          "do this share of the jobs twice, and fail where two results differ in a byte",
        )
          .argParser(shareOrAll)
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
  { queue, shard, jobs, workers = 1, verify, dryRun }: JobOptions,
  folder: string,
): boolean =>
  queue !== undefined ||
  shard !== undefined ||
  workers > 1 ||
  verify !== undefined ||
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

/** How the jobs of a command are done and reported. */
export interface Work<P extends object> {
  /** "sampling", and what its sizes count: "boards". */
  readonly what: string;
  readonly unit: string;
  /** How many units a job is. Default 1. */
  readonly sizeOf?: (parameters: P) => number;
  readonly device: string;
  readonly threads?: number;
  /** The folder of shards, unless an option names one. */
  readonly folder?: string | undefined;
  readonly signal: AbortSignal;
}

/** A job with any inputs. */
type AnyJob<P extends object, R> = Job<P, object, R>;

/** Jobs whose results belong together. */
export interface Group<P extends object, R> {
  readonly name: string;
  readonly jobs: readonly AnyJob<P, R>[];
  /** Whether its result is there already. */
  readonly known?: boolean;
}

const count = (n: number): string => n.toLocaleString("en");

const totalOf = <P extends object>(
  { sizeOf = () => 1 }: Work<P>,
  jobs: readonly AnyJob<P, unknown>[],
): number => jobs.reduce((sum, { parameters }) => sum + sizeOf(parameters), 0);

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

/** Threads of one operation: as set; where processes share the machine, their share of it. */
function threadsFor(workers: number, threads?: number): number | undefined {
  if (threads !== undefined || workers === 1) return threads;
  return Math.max(1, Math.floor(availableParallelism() / workers));
}

/** Who does the jobs. @param jobs how many there will be */
async function openExecutor<P extends object>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  jobs: number,
): Promise<Executor> {
  const { device, threads, signal } = work;
  const { queue, shard, verify } = options;
  const say = (line: string): void => void io.stderr.write(`${line}\n`);
  if (queue !== undefined && shard)
    fail("usage", "--queue and --shard both say who does the jobs", "give one of them");
  if (queue !== undefined && options.workers !== undefined)
    fail(
      "usage",
      "--workers are processes on this machine, and --queue has workers of its own",
      "leave one out",
    );
  const open = async (): Promise<Executor> => {
    if (queue !== undefined)
      return openQueue({ address: addressOf(queue), device, release: RELEASE, signal, say });
    const workers = Math.max(1, Math.min(options.workers ?? 1, jobs));
    const local = openLocal({
      release: RELEASE,
      workers,
      script: processScript(),
      threads: threadsFor(workers, threads),
      signal,
    });
    const folder = shard ? folderOf(options, work) : (options.jobs ?? work.folder);
    return folder !== undefined && (shard || existsSync(folder))
      ? withFolder(local, folder, { release: RELEASE, write: shard !== undefined, say })
      : local;
  };
  const executor = await open();
  return verify === undefined ? executor : withRepeats(executor, verify);
}

/** Prints which jobs there are. */
function writePlan<P extends object, R>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  groups: readonly Group<P, R>[],
): void {
  const all = groups.flatMap(({ jobs }) => jobs);
  const known = groups.filter((group) => group.known).flatMap(({ jobs }) => jobs);
  const line = (jobs: readonly AnyJob<P, R>[]): string =>
    `${count(jobs.length)} jobs, ${count(totalOf(work, jobs))} ${work.unit}`;
  const largest = Math.max(...all.map((job) => totalOf(work, [job])));
  const [{ kind }] = all;
  const inputs = [...new Map(all.flatMap((job) => [...inputsOf(job)]))].map(
    ([digest, bytes]) =>
      `input ${digest.slice(0, 12)}…: ${(bytes.length / 1e6).toFixed(1)} MB, sent once\n`,
  );
  const { shard, queue } = options;
  io.stdout.write(
    [
      `${kind.name}, version ${kind.version}, on ${work.device}: ${line(all)}, up to ${count(largest)} a job\n`,
      ...inputs,
      ...(known.length > 0 ? [`done already: ${line(known)}\n`] : []),
      ...(shard ? [`shard ${shard.index}/${shard.of}: ${line(ofShard(all, shard))}\n`] : []),
      ...(queue === undefined ? [] : [`on ${addressOf(queue).shown}\n`]),
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
    progress: (job: Job, size: number, share: number): void => {
      shares.set(job, share * size);
      show();
    },
    done: (job: Job, size: number): void => {
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

/**
 * Opens who does the jobs, with a bar over all of them, and closes it in the end.
 *
 * @param total how many jobs there will be, and how many units together
 */
export async function withExecutor<P extends object, T>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  total: { readonly jobs: number; readonly size: number },
  use: (executor: Executor) => Promise<T>,
): Promise<T> {
  const executor = await openExecutor(io, options, work, total.jobs);
  const bar = barOf(io, work.what, work.unit, total.size, executor.workers);
  const run = async <R>(job: Job<object, object, R>): Promise<JobResult<R>> => {
    const size = totalOf(work, [job as AnyJob<P, R>]);
    const result = await executor.run(job, {
      onProgress: (share) => bar.progress(job, size, share),
    });
    bar.done(job, size);
    return result;
  };
  try {
    return await use({ ...executor, run });
  } catch (error) {
    if (options.queue !== undefined && work.signal.aborted)
      io.stderr.write("jobs stay on the queue; the same command continues\n");
    throw error;
  } finally {
    bar.end();
    await executor.close();
  }
}

/**
 * Opens what gives the results of jobs in their order, each as soon as it and those before it are
 * done. Throws what the first job that failed threw.
 */
export const collectJobs = <P extends object, R, T>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  jobs: readonly AnyJob<P, R>[],
  use: (results: AsyncIterable<JobResult<R>>) => Promise<T>,
): Promise<T> =>
  withExecutor(io, options, work, { jobs: jobs.length, size: totalOf(work, jobs) }, (executor) =>
    use(resultsOf(executor, jobs)),
  );

/** One shard's jobs, into the folder. */
async function doShard<P extends object, R>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  groups: readonly Group<P, R>[],
): Promise<void> {
  const { index, of } = options.shard as Shard;
  const all = groups.flatMap(({ jobs }) => jobs);
  const own = new Set(ofShard(all, { index, of }));
  const open = groups.map((group) => ({
    ...group,
    jobs: group.known ? [] : group.jobs.filter((job) => own.has(job)),
  }));
  const failed = await doGroups(io, options, work, open, async () => undefined);
  io.stdout.write(
    `shard ${index}/${of}: ${count(own.size)} jobs in ${folderOf(options, work)}; the command without --shard collects\n`,
  );
  requireNone(io, failed);
}

/**
 * Prints the plan of a dry run, or does the jobs of one shard.
 *
 * @returns whether that was all: nothing is to be collected then
 */
export async function planOrShard<P extends object, R>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  groups: () => readonly Group<P, R>[],
): Promise<boolean> {
  if (options.dryRun) writePlan(io, options, work, groups());
  else if (options.shard) await doShard(io, options, work, groups());
  return options.dryRun === true || options.shard !== undefined;
}

/** The results of a group. */
export interface Made<R> {
  readonly results: readonly R[];
  /** The sum over all jobs, in every process that ran them. */
  readonly seconds: number;
}

/** A group that came to nothing, and why. */
export interface Failed {
  readonly group: string;
  readonly error: Error;
}

/**
 * Does all groups, whatever becomes of one. They are handed over one at a time as they are done, in
 * whatever order, their results in the order of their jobs.
 *
 * @returns the groups that failed
 */
export async function doGroups<P extends object, R>(
  io: Io,
  options: JobOptions,
  work: Work<P>,
  groups: readonly Group<P, R>[],
  done: (made: Made<R>, group: number) => Promise<void>,
): Promise<readonly Failed[]> {
  const open = groups.map(({ known, jobs }) => (known ? [] : jobs));
  const all = open.flat();
  const total = { jobs: all.length, size: totalOf(work, all) };
  return withExecutor(io, options, work, total, async (executor) => {
    let last: Promise<unknown> = Promise.resolve();
    const runGroup = async (jobs: readonly AnyJob<P, R>[], i: number): Promise<void> => {
      if (jobs.length === 0) return;
      const ended = await Promise.allSettled(jobs.map((job) => executor.run<R>(job)));
      const lost = ended.find((end) => end.status === "rejected");
      if (lost) throw lost.reason;
      const made = ended.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
      const seconds = made.reduce((sum, result) => sum + result.seconds, 0);
      const results = made.map(({ value }) => value);
      const handed = last.then(() => done({ results, seconds }, i));
      last = handed.catch(() => undefined);
      await handed;
    };
    const ended = await Promise.allSettled(open.map(runGroup));
    work.signal.throwIfAborted();
    return ended.flatMap((end, i) =>
      end.status === "rejected" ? [{ group: groups[i].name, error: end.reason as Error }] : [],
    );
  });
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
