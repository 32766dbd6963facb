/** An executor in this process, which runs one job at a time without serialisation. */
import { fail } from "../graph/index.ts";
import type { Executor, JobResult, RunOptions } from "./executor.ts";
import { type Input, inputsByName, inputValue, type Job } from "./job.ts";
import { openKeeper } from "./keeper.ts";

/** Options of `openInline`. */
export interface InlineOptions {
  /** Threads per operation. Default: the number of cores. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
}

/**
 * Opens an executor that runs jobs in this process, one after the other.
 *
 * @example
 * import type { Job } from "diffeo/job";
 * declare const job: Job<object, object, number>;
 * await using executor = openInline({ threads: 1 });
 * const { value, seconds } = await executor.run(job);
 */
export function openInline({ threads, signal }: InlineOptions = {}): Executor {
  const keeper = openKeeper();
  const numbers = new WeakMap<object, number>();
  let known = 0;
  const numberOf = (input: Input<unknown>): number => {
    const number = numbers.get(input) ?? ++known;
    numbers.set(input, number);
    return number;
  };
  let closed = false;
  const run = async <R>(
    job: Job<object, object, R>,
    { onProgress }: RunOptions,
  ): Promise<JobResult<R>> => {
    signal?.throwIfAborted();
    if (closed) fail("usage", "the executor is closed", "open a new one");
    const { kind, parameters, device } = job;
    const began = performance.now();
    const own = inputsByName(job).map(([, input]) => numberOf(input));
    const value = await kind.run(parameters, {
      device,
      threads,
      signal,
      input: async (name) => inputValue(job, name) as never,
      keep: keeper.scoped([kind.name, device, ...own].join(" ")),
      report: (share) => onProgress?.(share),
    });
    return { value, seconds: (performance.now() - began) / 1000, worker: "this process" };
  };
  let last: Promise<unknown> = Promise.resolve();
  const close = async (): Promise<void> => {
    closed = true;
    await last;
    await keeper.dispose();
  };
  return {
    run: (job, options = {}) => {
      const result = last.then(() => run(job, options));
      last = result.catch(() => undefined);
      return result;
    },
    forget: async () => undefined,
    workers: () => 1,
    close,
    [Symbol.asyncDispose]: close,
  };
}
