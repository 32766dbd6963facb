/**
 * A result as bytes, of a process, a folder or a queue, and the value that it is: read by the kind
 * of its job and held to the job.
 */
import { DiffeoError } from "diffeo/graph";
import { type Job, type JobResult, misfitOf } from "diffeo/job";
import { sha256 } from "./digest.ts";

/** A result as bytes. */
export interface StoredResult {
  readonly bytes: Uint8Array;
  /** Of the bytes. */
  readonly sha256: string;
  /** How long it took, and who did it. */
  readonly seconds: number;
  readonly worker: string;
}

/** A result as its kind writes it. */
export function storedOf<R>(
  { kind }: Job<object, object, R>,
  { value, seconds, worker }: JobResult<R>,
): StoredResult {
  const bytes = kind.serialize(value);
  return { bytes, sha256: sha256(bytes), seconds, worker };
}

/** A result that is none of its job: of another shape, or not readable. */
export class Misfit extends Error {}

/**
 * The value of a stored result.
 *
 * @throws Misfit where its kind cannot read it, or where the job cannot have it
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
