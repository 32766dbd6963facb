/**
 * Kinds of jobs: the schema of parameters, the inputs, the work, and the conversion of the result
 * to bytes and back. Kinds are defined next to their work.
 */
import type * as v from "valibot";

/** The context in which a job runs. */
export interface JobContext<I extends object = object> {
  /** The device: `cpu`, `webgpu` or `cuda`. */
  readonly device: string;
  /** Threads per operation. Default: the number of cores. */
  readonly threads?: number;
  /** A parsed input. */
  readonly input: <N extends keyof I & string>(name: N) => Promise<I[N]>;
  /**
   * A resource made of the inputs that many jobs need, such as a compiled sampler. It is opened
   * once for the same kind, inputs and name. The most recently used ones stay open.
   */
  readonly keep: <T>(
    name: string,
    open: () => Promise<T>,
    dispose?: (kept: T) => Promise<void>,
  ) => Promise<T>;
  /** Reports the completed share of the job, from 0 to 1. */
  readonly report: (share: number) => void;
  readonly signal?: AbortSignal;
}

/** A kind of job with parameters P, inputs I by name, and result R. */
export interface Kind<P extends object = object, I extends object = object, R = unknown> {
  /** A name of two words, such as `chess/boards`. */
  readonly name: string;
  /** The version, which is increased if the same parameters and inputs give another result. */
  readonly version: number;
  /** The schema of the parameters. */
  readonly parameters: v.GenericSchema<unknown, P>;
  /** The parsers of the inputs; `source` is the name of the bytes in errors. */
  readonly inputs: { readonly [N in keyof I]: (bytes: Uint8Array, source: string) => I[N] };
  /** Runs a job. The result must be a function of parameters, inputs and device alone. */
  run(parameters: P, context: JobContext<I>): Promise<R>;
  /** Serialises a result, for another process, a folder or a queue. */
  serialize(result: R): Uint8Array;
  /** Parses a result; `source` is the name of the bytes in errors. */
  parse(bytes: Uint8Array, source: string): R;
  /**
   * Describes why a result of another process does not fit the job, such as another number of rows;
   * undefined if it does.
   */
  misfit(result: R, parameters: P, inputs: I): string | undefined;
}

/** The kinds of a worker by name, each loaded when it is first needed. */
export type Kinds = Readonly<Record<string, () => Promise<Kind>>>;
