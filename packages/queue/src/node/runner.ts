/**
 * Runs a job from its description to its bytes, in a local process or on a remote worker. Throws
 * before any work if something does not fit: another release, an unknown kind or another version of
 * it, wrong parameters, or an input whose bytes do not match their digest.
 */
import { fail } from "diffeo/graph";
import {
  type JobContext,
  type JobDescription,
  type Kind,
  type Kinds,
  openKeeper,
  requireDescription,
} from "diffeo/job";
import { type JobParent, serveJobs } from "diffeo/node";
import * as v from "valibot";
import { sha256 } from "./digest.ts";

/** State that the jobs of one process share. */
export interface Runner {
  /** The result of a job as bytes. */
  run(job: JobDescription, how: RunnerOptions): Promise<Uint8Array>;
  /** Closes the stored state. */
  dispose(): Promise<void>;
}

interface RunnerOptions extends Pick<JobContext, "report" | "signal" | "threads"> {
  /** The bytes of an input by their SHA-256. */
  readonly fetch: (digest: string) => Promise<Uint8Array>;
}

/** Settings of a process that runs jobs. */
export interface RunnerSettings {
  readonly kinds: Kinds;
  /** The release of the program that runs the jobs. */
  readonly release: string;
}

async function kindOf(job: JobDescription, { kinds, release }: RunnerSettings): Promise<Kind> {
  if (job.release !== release)
    fail(
      "data",
      `the job is for release ${job.release}, but this worker has ${release}`,
      "use the same release for the command and its workers",
    );
  if (!Object.hasOwn(kinds, job.kind))
    fail(
      "data",
      `this worker does not know jobs of kind ${job.kind}`,
      `it knows ${Object.keys(kinds).join(", ")}`,
    );
  const kind = await kinds[job.kind]();
  if (job.version !== kind.version)
    fail(
      "data",
      `the job is for version ${job.version} of ${job.kind}, but this worker has version ` +
        `${kind.version}`,
      "use the same release for the command and its workers",
    );
  return kind;
}

function parametersOf(job: JobDescription, { parameters }: Kind): object {
  const found = v.safeParse(parameters, job.parameters);
  if (found.success) return found.output;
  const [issue] = found.issues;
  return fail(
    "data",
    `parameters of ${job.kind} are wrong at ${v.getDotPath(issue) ?? "the top level"}: ` +
      `expected ${issue.expected ?? "another value"}`,
    "make the job with jobOf",
  );
}

/** Reads an input. */
type Reader = (bytes: Uint8Array, source: string) => unknown;

/** Opens the runner of a process. */
export function openRunner(settings: RunnerSettings): Runner {
  const keeper = openKeeper();
  return {
    run: async (given, { fetch, ...how }) => {
      const job = requireDescription(given);
      const kind = await kindOf(job, settings);
      const parameters = parametersOf(job, kind);
      const input = async (name: string): Promise<unknown> => {
        const digest = Object.hasOwn(job.inputs, name)
          ? job.inputs[name]
          : fail("data", `the job has no input "${name}"`, `give jobs of ${job.kind} that input`);
        const bytes = await fetch(digest);
        if (sha256(bytes) !== digest)
          fail(
            "data",
            `the bytes of input "${name}" do not match their digest`,
            "send the job again",
          );
        const readers = kind.inputs as Readonly<Record<string, Reader>>;
        return readers[name](bytes, `the input "${name}" of ${kind.name}`);
      };
      const scope = [job.kind, job.device, ...Object.values(job.inputs)].join(" ");
      const result = await kind.run(parameters, {
        ...how,
        device: job.device,
        input: input as JobContext["input"],
        keep: keeper.scoped(scope),
      });
      return kind.serialize(result);
    },
    dispose: keeper.dispose,
  };
}

/** The messages between a pool and its process, for a job and its result. */
export interface ProcessJob {
  readonly job: JobDescription;
  readonly threads?: number;
}
export interface ProcessResult {
  readonly bytes: Uint8Array;
  readonly seconds: number;
}

/** The name of the one kind of job that the pools here know. */
export const JOB = "job";

/**
 * Makes this process one that runs jobs for its pool. The scripts of `openLocal` and of a worker of
 * a queue call it.
 *
 * @example
 * import { chainsKind } from "diffeo/mcmc";
 * serveRunner({ kinds: { "infer/chains": async () => chainsKind }, release: "1.0.0" });
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
