/**
 * Distinct positions in the order in which they were added: a hash table of indices into the packed
 * bytes. 32 bytes and two table entries per position, so that ten million fit in half a gigabyte.
 *
 * The hash is MurmurHash3 (x86, 32 bits; A. Appleby, public domain) of the eight words. Every bit
 * of a position changes every bit of the hash, so it also serves for random splits.
 */
import { POSITION_BYTES, type Positions, wordsOf } from "./position.ts";

const WORDS = POSITION_BYTES / 4;

/** A 32-bit hash of the eight words from `at` on. */
export function hashWords(words: Uint32Array, at: number, seed = 0, length = WORDS): number {
  let h = seed;
  for (let i = 0; i < length; i++) {
    let k = Math.imul(words[at + i], 0xcc9e2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    h ^= k;
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  h ^= 4 * length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A set of positions that `add` changes. */
export class PositionSet {
  #words = new Uint32Array(1024 * WORDS);
  /** Index + 1 of the position in each slot, 0 where it is free. At most half full. */
  #slots = new Int32Array(4096);
  #count = 0;

  static of(positions: Positions): PositionSet {
    const set = new PositionSet();
    const words = wordsOf(positions);
    for (let i = 0; i < positions.count; i++) set.addWords(words, i * WORDS);
    return set;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a board of 64 classes. Returns whether it was new. */
  add(board: Uint8Array): boolean {
    this.#reserve();
    const words = this.#words;
    const to = this.#count * WORDS;
    for (let w = 0; w < WORDS; w++) {
      let word = 0;
      for (let i = 7; i >= 0; i--) word = (word << 4) | board[8 * w + i];
      words[to + w] = word;
    }
    return this.#insert();
  }

  /** Adds the packed position whose eight words begin at `at`. Returns whether it was new. */
  addWords(words: Uint32Array, at: number): boolean {
    this.#reserve();
    for (let w = 0; w < WORDS; w++) this.#words[this.#count * WORDS + w] = words[at + w];
    return this.#insert();
  }

  /** Whether the set holds the packed position whose eight words begin at `at`. */
  hasWords(words: Uint32Array, at: number): boolean {
    return this.#slots[this.#slotOf(words, at)] !== 0;
  }

  /** A copy of all positions, in the order in which they were added. */
  positions(): Positions {
    const words = this.#words.slice(0, this.#count * WORDS);
    return { count: this.#count, bytes: new Uint8Array(words.buffer) };
  }

  /** The slot that holds the position, or the free one where it belongs. */
  #slotOf(words: Uint32Array, at: number): number {
    const mask = this.#slots.length - 1;
    const own = this.#words;
    for (let slot = hashWords(words, at) & mask; ; slot = (slot + 1) & mask) {
      const held = (this.#slots[slot] - 1) * WORDS;
      if (held < 0) return slot;
      let w = 0;
      while (w < WORDS && own[held + w] === words[at + w]) w++;
      if (w === WORDS) return slot;
    }
  }

  /** Keeps the position written after the last one, if it is new. */
  #insert(): boolean {
    const slot = this.#slotOf(this.#words, this.#count * WORDS);
    if (this.#slots[slot] !== 0) return false;
    this.#slots[slot] = ++this.#count;
    return true;
  }

  #reserve(): void {
    if ((this.#count + 1) * WORDS > this.#words.length) {
      const words = new Uint32Array(2 * this.#words.length);
      words.set(this.#words);
      this.#words = words;
    }
    if (2 * (this.#count + 1) <= this.#slots.length) return;
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let i = 0; i < this.#count; i++) this.#slots[this.#slotOf(this.#words, i * WORDS)] = i + 1;
  }
}
