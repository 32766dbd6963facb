/**
 * Who does parts: local processes, or workers of a queue. Results come by part, whoever was first.
 */
import type { Part } from "./part.ts";

export interface PartResult {
  readonly bytes: Uint8Array;
  /** Of the bytes. */
  readonly sha256: string;
  /** What it took, and whom. */
  readonly seconds: number;
  readonly worker: string;
}

export interface RunOptions {
  /** Called with the share of the part that is done, where that is known. */
  readonly onProgress?: (share: number) => void;
}

export interface Executor {
  /** The result of a part. Parts are begun in the order of the calls. */
  run(part: Part, options?: RunOptions): Promise<PartResult>;
  /** How many parts can be worked on at a time, as far as is known now. */
  workers(): number;
  close(): Promise<void>;
}

/** What became of a part. */
export type Settled = { readonly result: PartResult } | { readonly error: Error };

/**
 * Does parts, all of them whatever becomes of one, and gives what became of each in their order.
 */
export async function runParts(
  executor: Pick<Executor, "run">,
  parts: readonly Part[],
  on: {
    /** Called once for each part as it ends, in whatever order. */
    readonly settled?: (settled: Settled, index: number) => void | Promise<void>;
    readonly progress?: (share: number, index: number) => void;
  } = {},
): Promise<Settled[]> {
  return Promise.all(
    parts.map(async (part, i): Promise<Settled> => {
      const settled: Settled = await executor
        .run(part, { onProgress: (share) => on.progress?.(share, i) })
        .then((result) => ({ result }))
        .catch((error: Error) => ({ error }));
      await on.settled?.(settled, i);
      return settled;
    }),
  );
}
