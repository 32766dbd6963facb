/**
 * A kind of job: what its parameters must be, how it is done, and how its result becomes bytes and
 * is read again.
 */
import type * as v from "valibot";

/** What a job is done with. */
export interface JobContext {
  readonly device: string;
  /** Threads of one operation. Default: as many as there are cores. */
  readonly threads?: number;
  /** The bytes of an input by its name. */
  readonly input: (name: string) => Promise<Uint8Array>;
  /**
   * The SHA-256 of an input, as the description has it: with it something made of the input can be
   * kept.
   */
  readonly inputDigest: (name: string) => string;
  /** Something that many jobs need, opened once; the few that were used last stay open. */
  readonly keep: <T>(
    name: string,
    open: () => Promise<T>,
    dispose?: (kept: T) => Promise<void>,
  ) => Promise<T>;
  /** Says which share of the job is done. */
  readonly report: (share: number) => void;
  readonly signal?: AbortSignal;
}

export interface Kind<P, R> {
  readonly name: string;
  /** Raised when the same parameters give another result. */
  readonly version: number;
  readonly parameters: v.GenericSchema<unknown, P>;
  run(parameters: P, work: JobContext): Promise<R>;
  make(result: R): Uint8Array;
  /** The result that bytes are; `source` says whose they are in errors. */
  parse(bytes: Uint8Array, source: string): R;
}

/** The kinds that a worker knows, each loaded when it is first asked for. */
export type Kinds = Readonly<Record<string, () => Promise<Kind<unknown, unknown>>>>;
