/**
 * A job from its description to its bytes, the same in this process, in a local one and on a
 * worker far away. What does not fit is refused with a sentence before anything is done: another
 * release, a kind that is not known or has another version, parameters that are none, an input
 * whose bytes are not those that were named.
 */
import { hostname } from "node:os";
import { fail } from "diffeo/graph";
import { type JobParent, serveJobs } from "diffeo/node";
import * as v from "valibot";
import { type Job, requireJob } from "../job/job.ts";
import type { JobContext, Kind, Kinds } from "../job/kind.ts";
import { sha256 } from "./digest.ts";

/** What the jobs of one process share. */
export interface Runner {
  /** The result of a job as bytes. */
  run(job: Job, how: RunnerOptions): Promise<Uint8Array>;
  /** Closes what was kept. */
  dispose(): Promise<void>;
}

interface RunnerOptions extends Pick<JobContext, "report" | "signal" | "threads"> {
  /** The bytes of an input by their SHA-256. */
  readonly fetch: (digest: string) => Promise<Uint8Array>;
}

export interface RunnerSettings {
  readonly kinds: Kinds;
  /** Of the program that does the jobs. */
  readonly release: string;
}

async function kindOf(
  job: Job,
  { kinds, release }: RunnerSettings,
): Promise<Kind<unknown, unknown>> {
  if (job.release !== release)
    fail(
      "data",
      `the job is for release ${job.release}, this worker has ${release}`,
      "let the command and its workers have one release",
    );
  if (!Object.hasOwn(kinds, job.kind))
    fail(
      "data",
      `this worker knows no jobs of kind ${job.kind}`,
      `it knows ${Object.keys(kinds).join(", ")}`,
    );
  const kind = await kinds[job.kind]();
  if (job.version !== kind.version)
    fail(
      "data",
      `the job is for version ${job.version} of ${job.kind}, this worker has version ${kind.version}`,
      "let the command and its workers have one release",
    );
  return kind;
}

function parametersOf(job: Job, { parameters }: Kind<unknown, unknown>): unknown {
  const found = v.safeParse(parameters, job.parameters);
  if (found.success) return found.output;
  const [issue] = found.issues;
  return fail(
    "data",
    `parameters of ${job.kind} are wrong at ${v.getDotPath(issue) ?? "their beginning"}: expected ${issue.expected ?? "another value"}`,
    "make the job with jobOf",
  );
}

interface Kept {
  readonly value: Promise<unknown>;
  readonly dispose: (value: never) => Promise<void>;
}

/** What is kept open: the least recently used goes where more would be open than these. */
const MOST_KEPT = 2;

export function openRunner(settings: RunnerSettings): Runner {
  const kept = new Map<string, Kept>();
  const drop = async (name: string): Promise<void> => {
    const { value, dispose } = kept.get(name) as Kept;
    kept.delete(name);
    // What could not be opened has been an error of the job that opened it.
    await value.then(dispose as (value: unknown) => Promise<void>, () => undefined);
  };
  const keep: JobContext["keep"] = async (name, open, dispose = async () => undefined) => {
    const there = kept.get(name);
    kept.delete(name);
    const value = (there?.value ?? open()) as ReturnType<typeof open>;
    kept.set(name, { value, dispose });
    if (kept.size > MOST_KEPT) await drop([...kept.keys()][0]);
    return value.catch((error: unknown) => {
      if (kept.get(name)?.value === value) kept.delete(name);
      throw error;
    });
  };
  return {
    run: async (given, { fetch, ...how }) => {
      const job = requireJob(given);
      const kind = await kindOf(job, settings);
      const parameters = parametersOf(job, kind);
      const inputDigest = (name: string): string =>
        Object.hasOwn(job.inputs, name)
          ? job.inputs[name]
          : fail("data", `the job names no input "${name}"`, `give jobs of ${job.kind} that input`);
      const input = async (name: string): Promise<Uint8Array> => {
        const bytes = await fetch(inputDigest(name));
        if (sha256(bytes) !== inputDigest(name))
          fail(
            "data",
            `the bytes of input "${name}" are not those that were named`,
            "send the job again",
          );
        return bytes;
      };
      const result = await kind.run(parameters, {
        ...how,
        device: job.device,
        input,
        inputDigest,
        keep,
      });
      return kind.make(result);
    },
    dispose: async () => {
      for (const name of [...kept.keys()]) await drop(name);
    },
  };
}

/** What a process of a pool is given for a job, and what it gives back. */
export interface ProcessJob {
  readonly job: Job;
  readonly threads?: number;
}
export interface ProcessResult {
  readonly bytes: Uint8Array;
  readonly seconds: number;
}

/** The name of the one kind of job that the pools here know. */
export const JOB = "job";

/**
 * Makes this process one that does jobs for its pool: the script of `openLocal` and of a worker of
 * a queue calls it.
 */
export function serveRunner(settings: RunnerSettings): void {
  const runner = openRunner(settings);
  const fetch = (parent: JobParent) => async (digest: string) =>
    (await parent.ask(digest)) as Uint8Array;
  serveJobs({
    [JOB]: async ({ job, threads }: ProcessJob, parent): Promise<ProcessResult> => {
      const began = performance.now();
      const bytes = await runner.run(job, {
        threads,
        fetch: fetch(parent),
        report: parent.report,
      });
      return { bytes, seconds: (performance.now() - began) / 1000 };
    },
  });
}

/** Who did a job, where no other name was given. */
export const thisWorker = (): string => `${hostname()}:${process.pid}`;
