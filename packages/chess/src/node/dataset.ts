/**
 * A file of packed positions: a header of 32 bytes, then 32 bytes per position (position.ts).
 *
 *   bytes  0–7   the letters DIFFEOPS
 *   bytes  8–11  version, 1          (all numbers little-endian)
 *   bytes 12–15  CRC-32 of everything after the header
 *   bytes 16–23  number of positions
 *   bytes 24–31  zero
 */
import { readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { DiffeoError, fail } from "diffeo/graph";
import { writeFileAtomic } from "diffeo/node";
import { EMPTY, POSITION_BYTES, type Positions } from "../board/position.ts";

const MAGIC = "DIFFEOPS";
const VERSION = 1;
const HEADER_BYTES = 32;

/** `"positions"` if a file begins like such a data set. */
export const datasetFormat = (head: Uint8Array): "positions" | undefined =>
  [...MAGIC].every((letter, i) => head[i] === letter.charCodeAt(0)) ? "positions" : undefined;

/** Writes a data set completely or not at all. */
export async function writeDataset(path: string, { count, bytes }: Positions): Promise<void> {
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  for (let i = 0; i < MAGIC.length; i++) header[i] = MAGIC.charCodeAt(i);
  view.setUint32(8, VERSION, true);
  view.setUint32(12, crc32(bytes), true);
  view.setBigUint64(16, BigInt(count), true);
  await writeFileAtomic(path, [header, bytes]);
}

/**
 * Reads a data set that `writeDataset` wrote.
 *
 * @throws DiffeoError of kind `data` if the file is missing or damaged
 */
export async function readDataset(path: string): Promise<Positions> {
  try {
    return decodeDataset(await readFile(path), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new DiffeoError("data", `${path} does not exist`, "check the path", {
      cause: error,
    });
  }
}

/** The positions of a data set's bytes; `name` is the file's, for errors. */
export function decodeDataset(file: Uint8Array, name: string): Positions {
  const again = "create it again with diffeo chess data";
  if (!datasetFormat(file))
    fail(
      "data",
      `${name} is not a file of packed positions`,
      "convert positions with diffeo chess data",
    );
  if (file.length < HEADER_BYTES)
    fail("data", `${name}: the header ends after ${file.length} of 32 bytes`, again);
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const version = view.getUint32(8, true);
  if (version !== VERSION)
    fail(
      "data",
      `${name} has version ${version} of the format, but this program reads ${VERSION}`,
      again,
    );
  const count = Number(view.getBigUint64(16, true));
  const bytes = file.subarray(HEADER_BYTES);
  if (bytes.length !== count * POSITION_BYTES)
    fail(
      "data",
      `${name}: the header states ${count} positions, but the file has ` +
        `${bytes.length / POSITION_BYTES}`,
      `copy it again, or ${again}`,
    );
  if (crc32(bytes) !== view.getUint32(12, true))
    fail(
      "data",
      `${name}: the checksum does not match, so some bytes have changed`,
      `copy it again, or ${again}`,
    );
  for (let i = 0; i < bytes.length; i++)
    if ((bytes[i] & 15) > EMPTY || bytes[i] >>> 4 > EMPTY)
      fail(
        "data",
        `${name}: position ${Math.floor(i / POSITION_BYTES)} has a square without a class, at ` +
          `byte ${HEADER_BYTES + i}`,
        again,
      );
  return { count, bytes };
}
