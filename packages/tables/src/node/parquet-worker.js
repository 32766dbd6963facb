/**
 * The worker's side of `parquet-reader.ts`: reads files as rows of values, one at a time. It is
 * JavaScript because a worker starts from a file that Node itself loads, also when the rest runs
 * from TypeScript sources.
 */
import { parentPort } from "node:worker_threads";
import * as zlib from "node:zlib";
import { parquetMetadata, parquetRead, parquetSchema } from "hyparquet";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);

/**
 * A decompressor of pages. The header of a page states its length.
 *
 * @param {((input: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) | undefined} unpack
 */
const unpacking = (unpack) =>
  unpack &&
  ((/** @type {Uint8Array} */ input, /** @type {number} */ length) =>
    unpack(input, { maxOutputLength: Math.max(1, length) }));

/** The compression formats that Node supports; Zstandard from Node 22.15 on. */
const compressors = Object.fromEntries(
  Object.entries({
    GZIP: unpacking(zlib.gunzipSync),
    BROTLI: unpacking(zlib.brotliDecompressSync),
    ZSTD: unpacking(Reflect.get(zlib, "zstdDecompressSync")),
  }).filter(([, unpack]) => unpack),
);

/**
 * Columns and rows of a file. A page that has fewer values than its file has rows leaves values
 * undefined; missing values are null.
 *
 * @param {ArrayBuffer} file
 */
async function read(file) {
  const metadata = parquetMetadata(file);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const twice = columns.find((name, i) => columns.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`two columns are called ${twice}`);
  /** @type {unknown[][]} */
  let rows = [];
  if (columns.length > 0)
    await parquetRead({
      file,
      metadata,
      columns,
      compressors,
      rowFormat: "array",
      onComplete: (found) => {
        rows = found;
      },
    });
  for (const [i, row] of rows.entries())
    for (const [j, name] of columns.entries())
      if (row[j] === undefined) throw new Error(`column ${name} has no value in row ${i + 1}`);
  return { columns, rows };
}

port.on("message", async (/** @type {ArrayBuffer} */ file) => {
  try {
    port.postMessage(await read(file));
  } catch (error) {
    port.postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});
