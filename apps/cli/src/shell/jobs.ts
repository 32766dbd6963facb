/**
 * The executors of a command's jobs: workers of a queue, local processes, or this process, with a
 * folder of shards if there is one. The results do not depend on who runs a job.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fail } from "diffeo/graph";
import { type Executor, type Job, type JobResult, resultsOf, withRepeats } from "diffeo/job";
import { openLocal, openQueue, type ProcessScript, withFolder } from "diffeo-queue";
import type { Io } from "./io.ts";
import { addressOf, folderOf, type JobOptions } from "./job-options.ts";
import { progress } from "./progress.ts";
import { version } from "./version.ts";

/** The program of a process that runs jobs. From sources, Node needs a loader. */
export function processScript(): ProcessScript {
  if (!import.meta.url.endsWith(".ts"))
    return { url: new URL("../queue/worker.js", import.meta.url) };
  const execArgv = ["--conditions=diffeo-source", "--import", "tsx"];
  return { url: new URL("../queue/worker.ts", import.meta.url), execArgv };
}

/** How the jobs of a command run and how they are reported. */
export interface Work<P extends object> {
  /** "sampling", and what its sizes count: "boards". */
  readonly what: string;
  readonly unit: string;
  /** Number of units in a job. Default: 1. */
  readonly sizeOf?: (parameters: P) => number;
  readonly device: string;
  readonly threads?: number;
  /** The folder of shards, if no option sets one. */
  readonly folder?: string | undefined;
  readonly signal: AbortSignal;
}

/** A job with any inputs. */
export type AnyJob<P extends object, R> = Job<P, object, R>;

/** The number of units in jobs. */
export const totalOf = <P extends object>(
  { sizeOf = () => 1 }: Work<P>,
  jobs: readonly AnyJob<P, unknown>[],
): number => jobs.reduce((sum, { parameters }) => sum + sizeOf(parameters), 0);

/** Threads per operation: as set, or an equal share of the cores for each process. */
function threadsFor(workers: number, threads?: number): number | undefined {
  if (threads !== undefined || workers === 1) return threads;
  return Math.max(1, Math.floor(availableParallelism() / workers));
}

/** Chooses the executor of the jobs. @param jobs the number of jobs */
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
    fail("usage", "--queue and --shard cannot be combined", "give one of them");
  if (queue !== undefined && options.workers !== undefined)
    fail(
      "usage",
      "--workers starts processes on this machine, but --queue uses the workers of the server",
      "omit one of them",
    );
  const open = async (): Promise<Executor> => {
    if (queue !== undefined)
      return openQueue({ address: addressOf(queue), device, release: version, signal, say });
    const workers = Math.max(1, Math.min(options.workers ?? 1, jobs));
    const local = openLocal({
      release: version,
      workers,
      script: processScript(),
      threads: threadsFor(workers, threads),
      signal,
    });
    const folder = shard ? folderOf(options, work) : (options.jobs ?? work.folder);
    return folder !== undefined && (shard || existsSync(folder))
      ? withFolder(local, folder, { release: version, write: shard !== undefined, say })
      : local;
  };
  const executor = await open();
  return verify === undefined ? executor : withRepeats(executor, verify);
}

/**
 * A progress bar over all jobs: the finished share, the active workers, the rate and the remaining
 * time.
 */
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
 * Opens the executor of the jobs with a progress bar over all of them, and closes both at the end.
 *
 * @param total the number of jobs, and of units in all of them
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
      io.stderr.write("jobs stay on the queue. Repeat the command to resume\n");
    throw error;
  } finally {
    bar.end();
    await executor.close();
  }
}

/**
 * Passes the results of jobs to `use` in the order of the jobs, each as soon as it and all before
 * it are done. Throws the error of the first job that failed.
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
