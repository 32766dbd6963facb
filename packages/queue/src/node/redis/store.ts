/**
 * Bytes and results on the server. Bytes are stored once, by their SHA-256, in chunks that delay no
 * other command for long:
 *
 *   diffeo:bytes:DIGEST     → the numbers of bytes and of chunks        written last: if it exists, all chunks exist
 *   diffeo:bytes:DIGEST:i   → the i-th chunk
 *   diffeo:result:JOB       → the job, the digest of its result, the time it took and the worker
 *
 * A result is written once: a second writer finds it. Everything expires after a week without use.
 */
import { DiffeoError, fail } from "diffeo/graph";
import type { Redis } from "ioredis";
import * as v from "valibot";
import { sha256 } from "../digest.ts";
import type { StoredResult } from "../stored.ts";
import { bytesKey, chunkKey, resultKey, SECONDS_KEPT } from "./names.ts";

const CHUNK = 4 * 2 ** 20;
/** The maximum length of a string limits the size of a result. */
export const MOST_RESULT = 2 ** 29;
/** Bytes expire later than the keys that refer to them. */
const BYTES_KEPT = SECONDS_KEPT + 3600;

const size = v.object({
  bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  chunks: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});
const pointer = v.object({
  job: v.string(),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  seconds: v.number(),
  worker: v.pipe(v.string(), v.maxLength(300)),
});

const chunksOf = (bytes: Uint8Array): number => Math.ceil(bytes.length / CHUNK);
const sizeText = (bytes: Uint8Array): string =>
  JSON.stringify({ bytes: bytes.length, chunks: chunksOf(bytes) });

function failBroken(what: string, cause: unknown): never {
  throw new DiffeoError(
    "data",
    `${what} on the server is damaged`,
    "delete it there and run again",
    {
      cause,
    },
  );
}

function parsed<S extends v.GenericSchema>(
  text: string,
  schema: S,
  what: string,
): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    return failBroken(what, cause);
  }
}

/**
 * Whether the server refused because the key's value is a list, a hash or the like instead of a
 * string.
 */
const isWrongType = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("WRONGTYPE");

/** The bytes of a key, null if there are none. A key without a string is damaged. */
async function read(client: Redis, key: string, what: string): Promise<Buffer | null> {
  try {
    return await client.getBuffer(key);
  } catch (error) {
    if (isWrongType(error)) failBroken(what, error);
    throw error;
  }
}

/** Stores bytes, or renews existing ones for a week. */
export async function putBytes(
  client: Redis,
  bytes: Uint8Array,
  digest = sha256(bytes),
): Promise<string> {
  if (await touchBytes(client, digest, bytes)) return digest;
  for (let i = 0; i < chunksOf(bytes); i++)
    await client.set(chunkKey(digest, i), chunkOf(bytes, i), "EX", BYTES_KEPT);
  await client.set(bytesKey(digest), sizeText(bytes), "EX", BYTES_KEPT);
  return digest;
}

const chunkOf = (bytes: Uint8Array, i: number): Buffer =>
  Buffer.from(bytes.subarray(i * CHUNK, (i + 1) * CHUNK));

/** Whether all keys of bytes exist with their lengths. Renews them for a week. */
async function touchBytes(client: Redis, digest: string, bytes: Uint8Array): Promise<boolean> {
  const chunks = Array.from({ length: chunksOf(bytes) }, (_, i) => i);
  const lengths = new Map([
    [bytesKey(digest), sizeText(bytes).length],
    ...chunks.map((i) => [chunkKey(digest, i), chunkOf(bytes, i).length] as const),
  ]);
  const pipeline = client.pipeline();
  for (const key of lengths.keys()) pipeline.strlen(key).expire(key, BYTES_KEPT);
  const replies = (await pipeline.exec()) ?? [];
  for (const [error] of replies) if (error && !isWrongType(error)) throw error;
  return [...lengths.values()].every((length, i) => replies[2 * i][1] === length);
}

/** The bytes with this SHA-256. @param most limit on their number, checked before they are read */
export async function getBytes(client: Redis, digest: string, most: number): Promise<Uint8Array> {
  const gone = (): never =>
    fail(
      "data",
      `the bytes ${digest.slice(0, 12)}… are not on the server`,
      "repeat the command, which uploads them",
    );
  const sizeName = `the size of ${digest.slice(0, 12)}…`;
  const text = (await read(client, bytesKey(digest), sizeName)) ?? gone();
  const { bytes: length, chunks } = parsed(text.toString(), size, sizeName);
  if (length > most)
    fail(
      "data",
      `${digest.slice(0, 12)}… has ${(length / 1e6).toFixed(1)} MB, more than the limit of ` +
        `${(most / 1e6).toFixed(1)} MB`,
      "raise the limit, or make it smaller",
    );
  const found = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < chunks; i++) {
    const chunk = (await read(client, chunkKey(digest, i), `a piece of ${digest}`)) ?? gone();
    if (chunk.length === 0 || at + chunk.length > length) break;
    found.set(chunk, at);
    at += chunk.length;
  }
  if (at !== length || sha256(found) !== digest)
    fail(
      "data",
      `the bytes ${digest.slice(0, 12)}… on the server do not match their digest`,
      "delete them there and run again",
    );
  return found;
}

/** Stores a result. Returns the SHA-256 of the stored one: if two differ, the first. */
export async function putResult(
  client: Redis,
  job: string,
  { bytes, ...about }: StoredResult,
): Promise<string> {
  const pipeline = client.pipeline();
  if (chunksOf(bytes) > 1) await putBytes(client, bytes, about.sha256);
  else {
    // A small result is stored together with its name, so that a worker waits for the server only
    // once.
    if (bytes.length > 0)
      pipeline.set(chunkKey(about.sha256, 0), Buffer.from(bytes), "EX", BYTES_KEPT);
    pipeline.set(bytesKey(about.sha256), sizeText(bytes), "EX", BYTES_KEPT);
  }
  pipeline.set(resultKey(job), JSON.stringify({ job, ...about }), "EX", SECONDS_KEPT, "NX", "GET");
  const replies = (await pipeline.exec()) ?? [];
  if (isWrongType(replies.at(-1)?.[0])) {
    await dropResult(client, job);
    return putResult(client, job, { bytes, ...about });
  }
  for (const [error] of replies) if (error) throw error;
  const before = replies.at(-1)?.[1] as string | null;
  return before === null ? about.sha256 : parsed(before, pointer, "a result").sha256;
}

export const hasResult = async (client: Redis, job: string): Promise<boolean> =>
  (await client.exists(resultKey(job))) === 1;

/** Removes the result of a job, so that another can be kept. */
export const dropResult = async (client: Redis, job: string): Promise<void> =>
  void (await client.del(resultKey(job)));

/**
 * The result of a job, if there is one. A result whose bytes are missing or wrong is removed, so
 * that the job runs again.
 */
export async function getResult(client: Redis, job: string): Promise<StoredResult | undefined> {
  const doomed = [resultKey(job)];
  try {
    const text = await read(client, resultKey(job), "a result");
    if (text === null) return undefined;
    const { job: of, ...about } = parsed(text.toString(), pointer, "a result");
    // A copy of another job's result: keep its bytes.
    if (of !== job) failBroken("a result", new Error(`it belongs to job ${of.slice(0, 64)}`));
    doomed.push(bytesKey(about.sha256));
    return { bytes: await getBytes(client, about.sha256, MOST_RESULT), ...about };
  } catch (error) {
    if (!(error instanceof DiffeoError)) throw error;
    await client.del(...doomed);
    return undefined;
  }
}
