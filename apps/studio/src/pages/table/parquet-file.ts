/** Parquet files in the page of tables: recognised here, read in a worker with a limit of time. */
import { openWorker } from "../../shell/rpc.ts";

/** Whether bytes are those of a Parquet file: it begins with "PAR1". */
export const isParquet = (bytes: Uint8Array): boolean =>
  [0x50, 0x41, 0x52, 0x31].every((byte, i) => bytes[i] === byte);

const MEBIBYTE = 2 ** 20;

/**
 * Reads the table of a Parquet file as CSV. The worker is terminated after 20 seconds plus 2
 * seconds per MiB, because a damaged file may keep the decoder busy.
 */
export async function textOfParquet(name: string, bytes: Uint8Array): Promise<string> {
  const worker = openWorker<typeof import("./parquet.ts")>("parquet", 1);
  const seconds = 20 + (2 * bytes.length) / MEBIBYTE;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message =
      `${name} cannot be read as Parquet (reading takes more than ${seconds.toFixed(0)} s). ` +
      "Check that the file is complete.";
    timer = setTimeout(() => reject(new Error(message)), 1000 * seconds);
  });
  try {
    const file = new Uint8Array(bytes).buffer;
    return await Promise.race([worker.call("read", { name, file }), late]);
  } finally {
    clearTimeout(timer);
    worker.close();
  }
}
