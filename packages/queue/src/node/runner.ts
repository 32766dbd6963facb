/**
 * A part from its description to its bytes, the same in this process, in a local one and on a
 * worker far away. What does not fit is refused with a sentence before anything is done: another
 * release, a kind that is not known or has another version, parameters that are none, an input
 * whose bytes are not those that were named.
 */
import { hostname } from "node:os";
import { fail } from "diffeo/graph";
import { type PartParent, serveParts } from "diffeo/node";
import * as v from "valibot";
import type { Kind, Kinds, PartWork } from "../part/kind.ts";
import { type Part, requirePart } from "../part/part.ts";
import { sha256 } from "./digest.ts";

/** What the parts of one process share. */
export interface Runner {
  /** The result of a part as bytes. */
  run(part: Part, how: RunnerOptions): Promise<Uint8Array>;
  /** Closes what was kept. */
  dispose(): Promise<void>;
}

interface RunnerOptions extends Pick<PartWork, "report" | "signal" | "threads"> {
  /** The bytes of an input by their SHA-256. */
  readonly fetch: (digest: string) => Promise<Uint8Array>;
}

export interface RunnerSettings {
  readonly kinds: Kinds;
  /** Of the program that does the parts. */
  readonly release: string;
}

async function kindOf(
  part: Part,
  { kinds, release }: RunnerSettings,
): Promise<Kind<unknown, unknown>> {
  if (part.release !== release)
    fail(
      "data",
      `the part is for release ${part.release}, this worker has ${release}`,
      "let the command and its workers have one release",
    );
  if (!Object.hasOwn(kinds, part.kind))
    fail(
      "data",
      `this worker knows no parts of kind ${part.kind}`,
      `it knows ${Object.keys(kinds).join(", ")}`,
    );
  const kind = await kinds[part.kind]();
  if (part.version !== kind.version)
    fail(
      "data",
      `the part is for version ${part.version} of ${part.kind}, this worker has version ${kind.version}`,
      "let the command and its workers have one release",
    );
  return kind;
}

function parametersOf(part: Part, { parameters }: Kind<unknown, unknown>): unknown {
  const found = v.safeParse(parameters, part.parameters);
  if (found.success) return found.output;
  const [issue] = found.issues;
  return fail(
    "data",
    `parameters of ${part.kind} are wrong at ${v.getDotPath(issue) ?? "their beginning"}: expected ${issue.expected ?? "another value"}`,
    "make the part with partOf",
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
    // What could not be opened has been an error of the part that opened it.
    await value.then(dispose as (value: unknown) => Promise<void>, () => undefined);
  };
  const keep: PartWork["keep"] = async (name, open, dispose = async () => undefined) => {
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
      const part = requirePart(given);
      const kind = await kindOf(part, settings);
      const parameters = parametersOf(part, kind);
      const inputDigest = (name: string): string =>
        Object.hasOwn(part.inputs, name)
          ? part.inputs[name]
          : fail(
              "data",
              `the part names no input "${name}"`,
              `give parts of ${part.kind} that input`,
            );
      const input = async (name: string): Promise<Uint8Array> => {
        const bytes = await fetch(inputDigest(name));
        if (sha256(bytes) !== inputDigest(name))
          fail(
            "data",
            `the bytes of input "${name}" are not those that were named`,
            "send the part again",
          );
        return bytes;
      };
      const result = await kind.run(parameters, {
        ...how,
        device: part.device,
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

/** What a process of a pool is given for a part, and what it gives back. */
export interface ProcessPart {
  readonly part: Part;
  readonly threads?: number;
}
export interface ProcessResult {
  readonly bytes: Uint8Array;
  readonly seconds: number;
}

/** The name of the one kind of part that the pools here know. */
export const PART = "part";

/**
 * Makes this process one that does parts for its pool: the script of `openLocal` and of a worker of
 * a queue calls it.
 */
export function serveRunner(settings: RunnerSettings): void {
  const runner = openRunner(settings);
  const fetch = (parent: PartParent) => async (digest: string) =>
    (await parent.ask(digest)) as Uint8Array;
  serveParts({
    [PART]: async ({ part, threads }: ProcessPart, parent): Promise<ProcessResult> => {
      const began = performance.now();
      const bytes = await runner.run(part, {
        threads,
        fetch: fetch(parent),
        report: parent.report,
      });
      return { bytes, seconds: (performance.now() - began) / 1000 };
    },
  });
}

/** Who did a part, where no other name was given. */
export const thisWorker = (): string => `${hostname()}:${process.pid}`;
