/**
 * A job as it travels. Its result is a function of the description alone,
 *
 *   bytes = run_kind(parameters, inputs),   inputs by SHA-256
 *   digest(job) = SHA-256 of its canonical JSON
 *
 * so that jobs are known by their digests, and whoever has done one has done it for all. No code
 * and no path is in it.
 */
import * as v from "valibot";
import { fail } from "../graph/index.ts";
import { nestsDeeply } from "./depth.ts";
import { inputsByName, type Job } from "./job.ts";

/** A job as plain data: what a process or a machine is given. */
export interface JobDescription {
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
  /** Which repetition of the same job this is, to compare its result with that of the job. */
  readonly repeat?: number | undefined;
}

/** More characters are refused: a description is names and numbers. */
const MOST_CHARACTERS = 65_536;

const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9]*([/-][a-z0-9]+)*$/), v.maxLength(100));
const record = <T extends v.GenericSchema>(value: T) =>
  v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(
      (x) => typeof x === "object" && x !== null && !Array.isArray(x),
    ),
    v.record(v.pipe(v.string(), v.maxLength(100)), value),
  );

const schema: v.GenericSchema<unknown, JobDescription> = v.strictObject({
  kind: name,
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  release: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  device: name,
  parameters: record(v.unknown()),
  inputs: record(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
  repeat: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(100))),
});

/**
 * JSON with the keys of every object in order: one text per value.
 *
 * @param value plain data; fields that are undefined are left out
 */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    const fields = entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value);
}

/**
 * The description that a value from elsewhere is.
 *
 * @throws DiffeoError of kind `data` that names the first field that is wrong
 */
export function requireDescription(value: unknown): JobDescription {
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
      `a description of ${length.toLocaleString("en")} characters is not a job, ` +
        `${MOST_CHARACTERS.toLocaleString("en")} are read at most`,
      "give what is large as an input",
    );
  const found = v.safeParse(schema, value);
  if (found.success) return found.output;
  const [issue] = found.issues;
  const place = v.getDotPath(issue) ?? "its beginning";
  return fail(
    "data",
    `the description of a job is wrong at ${place.slice(0, 100)}`,
    "make it with jobOf and describeJob",
  );
}

/** What of a description is not the job's own. */
export interface DescribeOptions {
  /** The release of the program. */
  readonly release: string;
  /** The SHA-256 of an input's bytes. */
  readonly digestOf: (bytes: () => Uint8Array) => string;
  readonly repeat?: number;
}

/** A job as it travels. */
export function describeJob(
  job: Job,
  { release, digestOf, repeat }: DescribeOptions,
): JobDescription {
  const { kind, parameters, device } = job;
  return requireDescription({
    kind: kind.name,
    version: kind.version,
    release,
    device,
    parameters,
    inputs: Object.fromEntries(
      inputsByName(job).map(([input, { bytes }]) => [input, digestOf(bytes)]),
    ),
    repeat,
  });
}
