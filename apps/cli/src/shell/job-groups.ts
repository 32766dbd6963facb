/** Groups of jobs whose results belong together: their list, shards, and running all of them. */
import { DiffeoError } from "diffeo/graph";
import { ofShard, type Shard } from "diffeo/job";
import { inputsOf } from "diffeo-queue";
import type { Io } from "./io.ts";
import { addressOf, folderOf, type JobOptions } from "./job-options.ts";
import { type AnyJob, totalOf, type Work, withExecutor } from "./jobs.ts";

/** Jobs whose results belong together. */
export interface Group<P extends object, R> {
  readonly name: string;
  readonly jobs: readonly AnyJob<P, R>[];
  /** Whether the result exists already. */
  readonly known?: boolean;
}

const count = (n: number): string => n.toLocaleString("en");

/** Prints the list of jobs. */
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
      `${kind.name}, version ${kind.version}, on ${work.device}: ${line(all)}, up to ` +
        `${count(largest)} per job\n`,
      ...inputs,
      ...(known.length > 0 ? [`done already: ${line(known)}\n`] : []),
      ...(shard ? [`shard ${shard.index}/${shard.of}: ${line(ofShard(all, shard))}\n`] : []),
      ...(queue === undefined ? [] : [`on ${addressOf(queue).shown}\n`]),
    ].join(""),
  );
}

/** Runs the jobs of one shard, and stores them in the folder. */
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
    `shard ${index}/${of}: ${count(own.size)} jobs in ${folderOf(options, work)}; the command ` +
      `without --shard collects the results\n`,
  );
  requireNone(io, failed);
}

/**
 * Prints the plan of a dry run, or runs the jobs of one shard.
 *
 * @returns whether the command is done, with nothing to collect
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

/** A group that failed, and its error. */
export interface Failed {
  readonly group: string;
  readonly error: Error;
}

/**
 * Runs all groups, even if one fails. `done` receives one group at a time, in the order in which
 * they finish, with results in the order of the group's jobs.
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
 * Throws if groups failed. If they share one error, such as a server that refuses, it throws that
 * one; otherwise it prints a line per group and throws a summary, of their kind if all have the
 * same kind.
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
    `${failed.length} ${failed.length === 1 ? "job" : "jobs"} failed`,
    "repeat the command to try again",
  );
}
