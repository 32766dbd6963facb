/** The task that reads a Parquet file, in a separate worker that the page can terminate. */
import { parquetText } from "diffeo-tables";
import { task } from "../../shell/rpc.ts";

/** The table of a file as CSV. */
export const read = task<{ readonly name: string; readonly file: ArrayBuffer }, never, string>(
  ({ name, file }) => parquetText(file, name),
);
