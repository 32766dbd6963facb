/**
 * A kind of job: what its parameters and inputs are, how it is done, and how its result becomes
 * bytes and is read again. Kinds live next to the work that they do.
 */
import type * as v from "valibot";

/** What a job is done with. */
export interface JobContext<I extends object = object> {
  /** Where to compute: `cpu`, `webgpu` or `cuda`. */
  readonly device: string;
  /** Threads of one operation. Default: as many as there are cores. */
  readonly threads?: number;
  /** An input, as the kind reads it. */
  readonly input: <N extends keyof I & string>(name: N) => Promise<I[N]>;
  /**
   * Something made of the inputs that many jobs need, such as a compiled sampler: opened once for
   * the same kind, inputs and name. The few that were used last stay open.
   */
  readonly keep: <T>(
    name: string,
    open: () => Promise<T>,
    dispose?: (kept: T) => Promise<void>,
  ) => Promise<T>;
  /** Reports which share of the job is done, from 0 to 1. */
  readonly report: (share: number) => void;
  readonly signal?: AbortSignal;
}

/** A kind of job with parameters P, inputs I by name, and result R. */
export interface Kind<P extends object = object, I extends object = object, R = unknown> {
  /** A name of two words, such as `chess/boards`. */
  readonly name: string;
  /** Raised when the same parameters and inputs give another result. */
  readonly version: number;
  /** What parameters must be. */
  readonly parameters: v.GenericSchema<unknown, P>;
  /** How each input is read from its bytes; `source` names them in errors. */
  readonly inputs: { readonly [N in keyof I]: (bytes: Uint8Array, source: string) => I[N] };
  /** Does a job. The result is a function of parameters, inputs and device alone. */
  run(parameters: P, context: JobContext<I>): Promise<R>;
  /** The bytes of a result, for another process, a folder or a queue. */
  serialize(result: R): Uint8Array;
  /** The result that bytes are; `source` names them in errors. */
  parse(bytes: Uint8Array, source: string): R;
  /**
   * Why a result that comes from elsewhere cannot be that of the job: another number of rows, other
   * columns. Undefined where it can be.
   */
  misfit(result: R, parameters: P, inputs: I): string | undefined;
}

/** The kinds that a worker knows by name, each loaded when it is first needed. */
export type Kinds = Readonly<Record<string, () => Promise<Kind>>>;
