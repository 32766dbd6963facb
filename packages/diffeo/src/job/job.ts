/**
 * Jobs in a program: a kind, its parameters and its inputs, each as a value or as bytes. Nothing is
 * serialised before a job is sent to another process.
 */
import { parseWith } from "../host/named.ts";
import type { Kind } from "./kind.ts";

/** An input of a job in addition to its parameters, such as a model. */
export interface Input<T> {
  /** The bytes of the input, for another process. */
  readonly bytes: () => Uint8Array;
  /** The parsed input. Default: parsed from the bytes. */
  readonly value?: T;
}

/** A job: its kind, parameters, inputs and device. */
export interface Job<P extends object = object, I extends object = object, R = unknown> {
  readonly kind: Kind<P, I, R>;
  readonly parameters: P;
  readonly inputs: { readonly [N in keyof I]: Input<I[N]> };
  /** The device; the last bits of numbers depend on it. Default `cpu`. */
  readonly device: string;
}

/** Options of `jobOf`: inputs and device. */
export interface JobOptions<I extends object> {
  readonly inputs: { readonly [N in keyof I]: Input<I[N]> };
  /** The device: `cpu` (default), `webgpu` or `cuda`. */
  readonly device?: string;
}

/**
 * Makes a job of a kind.
 * @param kind the kind of the job
 * @param parameters the parameters of the kind, which its schema validates here
 * @throws DiffeoError of kind `usage` if a parameter is invalid
 * @example
 * import { chainsKind } from "diffeo/mcmc";
 * declare const step: Uint8Array; // of `serializeChainStep`
 * const settings = { draws: 500, warmup: 500, method: "nuts", metric: "diagonal" } as const;
 * const own = { ...settings, maxDepth: 10, steps: 10, seed: 1, first: 0, count: 4 };
 * const job = jobOf(chainsKind, own, { inputs: { step: inputOf(step) } });
 */
export const jobOf = <P extends object, I extends object, R>(
  kind: Kind<P, I, R>,
  parameters: P,
  { inputs, device = "cpu" }: JobOptions<I>,
): Job<P, I, R> => ({
  kind,
  parameters: parseWith(kind.parameters, parameters, `a parameter of ${kind.name}`),
  inputs,
  device,
});

/**
 * Makes an input of jobs. Pass the same object to all jobs that share it, so that what they make of
 * it is made once.
 *
 * @param bytes the bytes of the input, or a function that makes them if they are needed
 * @param value the parsed input, if the program has it
 */
export const inputOf = <T = never>(bytes: Uint8Array | (() => Uint8Array), value?: T): Input<T> => {
  if (typeof bytes !== "function") return { bytes: () => bytes, value };
  let made: Uint8Array | undefined;
  return {
    bytes: () => {
      made ??= bytes();
      return made;
    },
    value,
  };
};

/** The inputs of a job by name. */
export const inputsByName = ({ inputs }: Pick<Job, "inputs">): [string, Input<unknown>][] =>
  Object.entries(inputs as Readonly<Record<string, Input<unknown>>>);

const read = new WeakMap<object, unknown>();

/** The parsed input of a job; bytes are parsed once. */
export function inputValue(job: Job, name: string): unknown {
  const input = (job.inputs as Readonly<Record<string, Input<unknown>>>)[name];
  if (input.value !== undefined) return input.value;
  if (!read.has(input)) {
    const readers = job.kind.inputs as Readonly<Record<string, Reader>>;
    const source = `the input "${name}" of ${job.kind.name}`;
    read.set(input, readers[name](input.bytes(), source));
  }
  return read.get(input);
}

/** The parser of an input. */
type Reader = (bytes: Uint8Array, source: string) => unknown;

/** Describes why a result does not fit a job; undefined if it does. */
export function misfitOf<R>(job: Job<object, object, R>, result: R): string | undefined {
  const { kind, parameters } = job;
  const inputs = {};
  for (const [name] of inputsByName(job))
    Object.defineProperty(inputs, name, { enumerable: true, get: () => inputValue(job, name) });
  return kind.misfit(result, parameters, inputs);
}
