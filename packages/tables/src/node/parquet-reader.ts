/**
 * Reads Parquet files by hyparquet in a worker thread. A damaged file may declare 2³¹ values in a
 * few bytes, or make the decoder loop. The thread ends if it takes more time or memory than a file
 * of that size can need, and the process continues.
 */
import { Worker } from "node:worker_threads";
import { fail } from "diffeo/graph";

/** Limits for reading a file. */
interface ReadLimits {
  readonly seconds: number;
  /** Of memory, in addition to what the process uses when reading begins. */
  readonly bytes: number;
}

/** Values as they come, row by row. */
interface ParquetRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A thread that reads one file at a time; an idle one does not keep the process alive. */
interface ParquetReader {
  /** Reads a file; `source` is its name in errors. */
  readonly read: (bytes: Uint8Array, source: string, limits?: ReadLimits) => Promise<ParquetRows>;
  readonly close: () => Promise<void>;
}

const MEBIBYTE = 2 ** 20;

/**
 * Decoding takes well below a second, and 50 bytes of memory per byte of an ordinary file. The
 * factors leave room for a busy machine and for columns that compress by a factor of one hundred.
 */
const limitsOf = (size: number): ReadLimits => ({
  seconds: 20 + (2 * size) / MEBIBYTE,
  bytes: 512 * MEBIBYTE + 100 * size,
});

const EVERY_MS = 50;

const REMEDY =
  "check that the file is complete; write it without compression or with Snappy or gzip, or " +
  "give the table as CSV";

type Reply = ParquetRows | { readonly problem: string };

/** Starts a reader of Parquet files. */
export function openParquetReader(): ParquetReader {
  let worker: Worker | undefined;
  const close = async (): Promise<void> => {
    const last = worker;
    worker = undefined;
    await last?.terminate();
  };
  const start = ({ bytes }: ReadLimits): Worker =>
    new Worker(new URL("./parquet-worker.js", import.meta.url), {
      // Without the flags of this process, because the worker needs no TypeScript loader.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(bytes / MEBIBYTE) },
    });
  /** The reply for one file, or why there is none. */
  const ask = (file: ArrayBuffer, limits: ReadLimits): Promise<Reply> =>
    new Promise((resolve) => {
      worker ??= start(limits);
      const thread = worker;
      const began = performance.now();
      const before = process.memoryUsage.rss();
      const end = (reply: Reply): void => {
        clearInterval(watch);
        thread.unref();
        thread.removeAllListeners("message").removeAllListeners("error");
        thread.on("error", () => {});
        resolve(reply);
      };
      const dead = (problem: string): void => {
        void close();
        end({ problem });
      };
      // The heap of the thread has its own limit; byte arrays are outside of it.
      const watch = setInterval(() => {
        if (performance.now() - began > limits.seconds * 1000)
          dead(`reading takes more than ${limits.seconds.toFixed(1)} s`);
        else if (process.memoryUsage.rss() - before > limits.bytes)
          dead(`reading takes more than ${Math.round(limits.bytes / MEBIBYTE)} MiB of memory`);
      }, EVERY_MS);
      thread.once("message", end);
      thread.once("error", (error: NodeJS.ErrnoException) =>
        dead(
          error.code === "ERR_WORKER_OUT_OF_MEMORY"
            ? `reading takes more than ${Math.round(limits.bytes / MEBIBYTE)} MiB of memory`
            : error.message,
        ),
      );
      thread.ref();
      thread.postMessage(file, [file]);
    });
  return {
    read: async (bytes, source, limits = limitsOf(bytes.length)) => {
      const reply = await ask(new Uint8Array(bytes).buffer, limits);
      if ("problem" in reply)
        return fail("data", `${source} cannot be read as Parquet (${reply.problem})`, REMEDY);
      return reply;
    },
    close,
  };
}
