/**
 * A job of some work, described. Its result is a function of the description alone,
 *
 *   bytes = run_kind(parameters, inputs),   inputs by SHA-256,   digest(job) = SHA-256 of its canonical JSON
 *
 * so that jobs are known by their digests, and whoever has done one has done it for all. No code
 * and no path is in it.
 */

import { fail } from "diffeo/graph";
import * as v from "valibot";
import { nestsDeeply } from "./depth.ts";
import type { Kind } from "./kind.ts";

export interface Job {
  /** What is to be done: a name such as chess/boards. */
  readonly kind: string;
  /** Of the kind: another one gives other bytes. */
  readonly version: number;
  /** Of the program: kinds call the whole library. */
  readonly release: string;
  /** Where it is to be run: the last bits of a number depend on it. */
  readonly device: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** SHA-256 of the files it needs, by what they are to it. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** A description is names and numbers; one of more characters is none of ours. */
const MOST_CHARACTERS = 65_536;

const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9]*([/-][a-z0-9]+)*$/), v.maxLength(100));
const record = <T extends v.GenericSchema>(value: T) =>
  v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(
      (x) => typeof x === "object" && x !== null && !Array.isArray(x),
    ),
    v.record(v.pipe(v.string(), v.maxLength(100)), value),
  );

const schema: v.GenericSchema<unknown, Job> = v.strictObject({
  kind: name,
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  release: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  device: name,
  parameters: record(v.unknown()),
  inputs: record(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
});

/** JSON with the keys of every object in order: one text a value. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** A value that should be a job, or an error that says what it is not. */
export function requireJob(value: unknown): Job {
  if (nestsDeeply(value))
    fail(
      "data",
      "a description with this many levels of nesting is not read",
      "give what is large as an input",
    );
  const length = JSON.stringify(value)?.length ?? 0;
  if (length > MOST_CHARACTERS)
    fail(
      "data",
      `a description of ${length.toLocaleString("en")} characters is no job, ${MOST_CHARACTERS.toLocaleString("en")} are read at most`,
      "give what is large as an input",
    );
  const found = v.safeParse(schema, value);
  if (found.success) return found.output;
  const [issue] = found.issues;
  const place = v.getDotPath(issue) ?? "its beginning";
  return fail(
    "data",
    `the description of a job is wrong at ${place.slice(0, 100)}`,
    "make it with jobOf",
  );
}

/** Where and with what jobs of one run are done. */
interface JobSetting {
  readonly release: string;
  readonly device: string;
  readonly inputs?: Readonly<Record<string, string>>;
}

/**
 * The description of a job of a kind; parameters that are none are an error here, not on a worker.
 */
export const jobOf = <P extends object, R>(
  kind: Kind<P, R>,
  parameters: P,
  { release, device, inputs = {} }: JobSetting,
): Job =>
  requireJob({
    kind: kind.name,
    version: kind.version,
    release,
    device,
    parameters: v.parse(kind.parameters, parameters),
    inputs,
  });
