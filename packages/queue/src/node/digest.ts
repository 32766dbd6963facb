/** The names of bytes and jobs: their SHA-256 in hexadecimal digits. */
import { createHash } from "node:crypto";
import { canonical, describeJob, inputsByName, type Job, type JobDescription } from "diffeo/job";

/** The SHA-256 of bytes or text, as 64 hexadecimal digits. */
export const sha256 = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");

/** The digest of a description: the name of its job on a queue and in a folder. */
export const digestOf = (job: JobDescription): string => sha256(canonical(job));

const digests = new WeakMap<() => Uint8Array, string>();

/** The SHA-256 of an input, computed once. */
function inputDigest(bytes: () => Uint8Array): string {
  const digest = digests.get(bytes) ?? sha256(bytes());
  digests.set(bytes, digest);
  return digest;
}

/** A job for transport, with its inputs by SHA-256. @param release of the program */
export const descriptionOf = (job: Job, release: string, repeat?: number): JobDescription =>
  describeJob(job, { release, repeat, digestOf: inputDigest });

/** The bytes of a job's inputs, by their SHA-256. */
export const inputsOf = (job: Job): Map<string, Uint8Array> =>
  new Map(inputsByName(job).map(([, { bytes }]) => [inputDigest(bytes), bytes()]));
