/**
 * Whether samples are copies: the Hamming distance, the number of squares that differ, to the
 * nearest training position.
 *
 * Eight squares are a word of eight 4-bit classes. x = a ⊕ b has a nonzero nibble where they
 * differ. x | x≫2 and then | ≫1 gathers the four bits of a nibble in its lowest one without
 * touching the next nibble, and & 0x11111111 leaves one bit per square. The words are added: no
 * nibble exceeds 8. At the end neighbouring nibbles are added, then the four bytes.
 */
import { POSITION_BYTES, type Positions, wordsOf } from "../board/position.ts";
import { PositionSet } from "../board/set.ts";

const WORDS = POSITION_BYTES / 4;
const EACH_NIBBLE = 0x11111111;
const LOW_NIBBLES = 0x0f0f0f0f;

/**
 * The distance of each sample to the nearest training position; 64 if there are none.
 */
export function nearestDistances(samples: Positions, training: Positions): Uint8Array {
  const a = wordsOf(samples);
  const b = wordsOf(training);
  const distances = new Uint8Array(samples.count);
  for (let i = 0; i < samples.count; i++) distances[i] = nearest(a, i * WORDS, b);
  return distances;
}

/**
 * Compares four ranks first: most training positions differ there in more squares than the best
 * does in total.
 */
function nearest(a: Uint32Array, at: number, b: Uint32Array): number {
  const a0 = a[at];
  const a1 = a[at + 1];
  const a2 = a[at + 2];
  const a3 = a[at + 3];
  const a4 = a[at + 4];
  const a5 = a[at + 5];
  const a6 = a[at + 6];
  const a7 = a[at + 7];
  let best = 64;
  for (let from = 0; from < b.length && best > 0; from += WORDS) {
    const half =
      differing(a0 ^ b[from]) +
      differing(a1 ^ b[from + 1]) +
      differing(a6 ^ b[from + 6]) +
      differing(a7 ^ b[from + 7]);
    if (total(half) >= best) continue;
    const distance = total(
      half +
        differing(a2 ^ b[from + 2]) +
        differing(a3 ^ b[from + 3]) +
        differing(a4 ^ b[from + 4]) +
        differing(a5 ^ b[from + 5]),
    );
    if (distance < best) best = distance;
  }
  return best;
}

/** One bit in each nibble of x that is not zero. */
function differing(x: number): number {
  const y = x | (x >>> 2);
  return (y | (y >>> 1)) & EACH_NIBBLE;
}

/** The sum of a word's nibbles. */
const total = (x: number): number =>
  Math.imul((x & LOW_NIBBLES) + ((x >>> 4) & LOW_NIBBLES), 0x01010101) >>> 24;

/** The number of samples that are among the known positions, square for square. */
export function exactCopies(samples: Positions, known: PositionSet): number {
  const words = wordsOf(samples);
  let copies = 0;
  for (let i = 0; i < samples.count; i++) if (known.hasWords(words, i * WORDS)) copies++;
  return copies;
}

/** The share of positions that are not copies of an earlier one among themselves. */
export const distinctShare = (positions: Positions): number =>
  PositionSet.of(positions).count / positions.count;
