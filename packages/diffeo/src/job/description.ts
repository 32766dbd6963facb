/**
 * The description of a job for other processes. The result is a function of the description alone,
 *
 *   bytes = run_kind(parameters, inputs),   inputs by SHA-256
 *   digest(job) = SHA-256 of its canonical JSON
 *
 * so jobs are identified by their digests, and a result can be shared. A description contains
 * neither code nor paths.
 */
import * as v from "valibot";
import { fail } from "../graph/index.ts";
import { nestsDeeply } from "./depth.ts";
import { inputsByName, type Job } from "./job.ts";

/** A job as plain data, for another process or machine. */
export interface JobDescription {
  /** The kind of the job, such as chess/boards. */
  readonly kind: string;
  /** The version of the kind; other versions give other bytes. */
  readonly version: number;
  /** The release of the program, because kinds use the whole library. */
  readonly release: string;
  /** The device; the last bits of numbers depend on it. */
  readonly device: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The SHA-256 of its inputs, by name. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The number of a repetition of the same job, whose result is compared with the first. */
  readonly repeat?: number | undefined;
}

/** The most characters of a description, which consists of names and numbers. */
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
 * Canonical JSON, with sorted keys of all objects.
 *
 * @param value plain data; undefined fields are omitted
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
 * Validates an untrusted value as a description.
 *
 * @throws DiffeoError of kind `data` if a field is wrong, which it names, and if the value is
 * nested too deeply or too long
 */
export function requireDescription(value: unknown): JobDescription {
  if (nestsDeeply(value))
    fail("data", "the description of a job is nested too deeply", "pass large data as inputs");
  const length = JSON.stringify(value)?.length ?? 0;
  if (length > MOST_CHARACTERS)
    fail(
      "data",
      `the description of a job has ${length.toLocaleString("en")} characters, ` +
        `the limit is ${MOST_CHARACTERS.toLocaleString("en")}`,
      "pass large data as inputs",
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

/** The parts of a description that are not part of the job. */
export interface DescribeOptions {
  /** The release of the program. */
  readonly release: string;
  /** The SHA-256 of an input's bytes. */
  readonly digestOf: (bytes: () => Uint8Array) => string;
  readonly repeat?: number;
}

/** Describes a job for another process. */
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
