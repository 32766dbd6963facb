/**
 * npm run damage -- FILE…: damages copies of each file by one change each, and counts the copies
 * that are read without an error. Files are chains of `diffeo infer` (chains.json), and models and
 * checkpoints (safetensors).
 *
 * Changes: a byte with another value (3 values), cut after a byte, doubled, left out, swapped with
 * the next; blocks of 4 KiB zeroed. Large files are changed at the first 600 bytes and at 1,500
 * further places.
 */
import { readFileSync } from "node:fs";
import { DiffeoError } from "diffeo/graph";
import { parseChains } from "diffeo/mcmc";
import { parseSafetensors } from "diffeo/train";

const BLOCK = 4096;
const SMALL = 600;
const PLACES = 1500;

const read = (bytes: Uint8Array, path: string): unknown =>
  path.endsWith(".json")
    ? parseChains(new TextDecoder().decode(bytes), path)
    : parseSafetensors(bytes, path);

const joined = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts));

/** The copies with a change at one place. */
function* changedAt(bytes: Uint8Array, i: number): Generator<Uint8Array> {
  const [before, after] = [bytes.subarray(0, i), bytes.subarray(i + 1)];
  for (const value of [bytes[i] ^ 1, bytes[i] ^ 0x80, 0])
    if (value !== bytes[i]) yield joined(before, Uint8Array.of(value), after);
  yield before;
  yield joined(before, after);
  yield joined(before, bytes.subarray(i, i + 1), bytes.subarray(i));
  if (i + 1 < bytes.length && bytes[i] !== bytes[i + 1])
    yield joined(before, Uint8Array.of(bytes[i + 1], bytes[i]), bytes.subarray(i + 2));
}

function* damaged(bytes: Uint8Array): Generator<Uint8Array> {
  const step = Math.max(1, Math.floor(bytes.length / PLACES));
  for (let i = 0; i < bytes.length; i += i < SMALL ? 1 : step) yield* changedAt(bytes, i);
  for (let i = 0; i < bytes.length; i += BLOCK * Math.ceil(bytes.length / (BLOCK * 100))) {
    const copy = Uint8Array.from(bytes);
    const block = copy.subarray(i, i + BLOCK);
    if (block.every((byte) => byte === 0)) continue;
    block.fill(0);
    yield copy;
  }
}

for (const path of process.argv.slice(2)) {
  const bytes = new Uint8Array(readFileSync(path));
  read(bytes, path); // the file itself must be valid
  let [changes, silent, crashed] = [0, 0, 0];
  for (const copy of damaged(bytes)) {
    changes++;
    try {
      read(copy, path);
      silent++;
    } catch (error) {
      if (!(error instanceof DiffeoError)) crashed++;
    }
  }
  console.log(`${path}: ${changes} changes, ${silent} not noticed, ${crashed} crashed`);
}
