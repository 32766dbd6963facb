/**
 * A job in a program: a kind, its parameters and its inputs, each as the value that the program has
 * or as bytes. Nothing is serialised before a job leaves the process.
 */
import { parseWith } from "../host/named.ts";
import type { Kind } from "./kind.ts";

/** What a job needs besides its parameters, such as a model. */
export interface Input<T> {
  /** The input as it travels to another process. */
  readonly bytes: () => Uint8Array;
  /** The input as the kind reads it. Default: read from the bytes. */
  readonly value?: T;
}

/** A unit of long work: what is to be done, with what, on which device. */
export interface Job<P extends object = object, I extends object = object, R = unknown> {
  readonly kind: Kind<P, I, R>;
  readonly parameters: P;
  readonly inputs: { readonly [N in keyof I]: Input<I[N]> };
  /** Where it is to be computed: the last bits of a number depend on it. Default `cpu`. */
  readonly device: string;
}

/** What a job is made of. */
export interface JobOptions<I extends object> {
  readonly inputs: { readonly [N in keyof I]: Input<I[N]> };
  /** `cpu` (default), `webgpu` or `cuda`. */
  readonly device?: string;
}

/**
 * A job of a kind.
 *
 * @param kind what is to be done
 * @param parameters of the kind; its schema checks them here, and not again in this process
 * @throws DiffeoError of kind `usage` where a parameter does not fit
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
 * An input of jobs. Give the same object to all jobs that share it: what is made of it is then made
 * once.
 *
 * @param bytes the input as it travels, or a function that makes it where it has to
 * @param value the input as the kind reads it, where the program has it
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

/** An input of a job as its kind reads it; bytes are read once. */
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

/** How an input is read. */
type Reader = (bytes: Uint8Array, source: string) => unknown;

/** Why a result cannot be that of a job, or undefined where it can be. */
export function misfitOf<R>(job: Job<object, object, R>, result: R): string | undefined {
  const { kind, parameters } = job;
  const inputs = {};
  for (const [name] of inputsByName(job))
    Object.defineProperty(inputs, name, { enumerable: true, get: () => inputValue(job, name) });
  return kind.misfit(result, parameters, inputs);
}
