/**
 * A result as bytes, from a process, a folder or a queue, and its value: parsed by the kind of its
 * job and checked against the job.
 */
import { DiffeoError } from "diffeo/graph";
import { type Job, type JobResult, misfitOf } from "diffeo/job";
import { sha256 } from "./digest.ts";

/** A result as bytes. */
export interface StoredResult {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes. */
  readonly sha256: string;
  /** Seconds of work, and the worker. */
  readonly seconds: number;
  readonly worker: string;
}

/** Serialises a result by its kind. */
export function storedOf<R>(
  { kind }: Job<object, object, R>,
  { value, seconds, worker }: JobResult<R>,
): StoredResult {
  const bytes = kind.serialize(value);
  return { bytes, sha256: sha256(bytes), seconds, worker };
}

/** A result that does not fit its job: it has another shape, or cannot be read. */
export class Misfit extends Error {}

/**
 * The value of a stored result.
 *
 * @throws Misfit if the kind cannot read it, or if it cannot be the result of the job
 */
export function acceptResult<R>(
  job: Job<object, object, R>,
  { bytes, seconds, worker }: StoredResult,
): JobResult<R> {
  const { kind } = job;
  const read = (): R => {
    try {
      return kind.parse(bytes, `a result of ${kind.name}`);
    } catch (cause) {
      const what = cause instanceof DiffeoError ? cause.problem : "it cannot be read";
      throw new Misfit(what, { cause });
    }
  };
  const value = read();
  const what = misfitOf(job, value);
  if (what !== undefined) throw new Misfit(what);
  return { value, seconds, worker };
}
