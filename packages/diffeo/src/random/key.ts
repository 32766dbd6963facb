/**
 * A key names a stream; a sub-key is a pure function of its parent and of its name.
 *
 *   fold(k, n)   = E_k(n mod 2³², ⌊n / 2³²⌋, 0, 1)                       E = Threefry-4×32-20
 *   split(k, n)ᵢ = E_k(i, 0, 0, 2)
 *   fold(k, s)   = E_{…E_{E_k(|s|, 0, 0, 3)}(s₀ … s₇)…}(… s_{|s|−1} 0 …)
 *                  with eight UTF-16 units of the string per block
 *   draws read     E_k(block, attempt, 0, 0)
 *
 * The last word of the counter separates the uses: no sub-key is one of its parent's random
 * numbers. The blocks of a string begin with its length, so no string is a prefix of another, and
 * the sub-keys are as random as E.
 */
import { fail } from "../graph/error.ts";
import { threefry } from "./threefry.ts";

/**
 * The name of one random stream: 128 bits. It has no position and never changes, so using a key
 * twice gives the same numbers twice. Use a key once; for more numbers make sub-keys with `split`
 * or `fold`.
 */
export interface Key {
  readonly words: readonly [number, number, number, number];
}

/**
 * One key per sample, packed. Arrays from `Keys` have a leading axis of length `count`, and row i
 * depends on key i alone.
 */
export interface Keys {
  readonly count: number;
  /** Four words per key. */
  readonly words: Uint32Array;
}

/** Marks the blocks of sub-keys in the last word of the counter. */
export const FOLD = 1;
const SPLIT = 2;
const STRING = 3;

/** The key of string seeds; its third word distinguishes it from those of numbers. */
const STRING_ROOT: Key = { words: [0, 0, 1, 0] };

/**
 * Makes the key of a seed: a non-negative safe integer, a bigint below 2⁶⁴, or any string. `key(5)`
 * equals `key(5n)`.
 */
export function key(seed: number | bigint | string): Key {
  if (typeof seed === "string") return fold(STRING_ROOT, seed);
  if (
    typeof seed === "number"
      ? !isIndex(seed)
      : typeof seed !== "bigint" || seed < 0n || seed >= 1n << 64n
  )
    fail(
      "usage",
      `key: the seed ${show(seed)} is not a non-negative integer below 2⁵³, nor a bigint below 2⁶⁴`,
      'use an integer such as 42, a bigint such as 42n, or a name such as "run 3"',
    );
  return { words: [Number(BigInt(seed) & 0xffffffffn), Number(BigInt(seed) >> 32n), 0, 0] };
}

/** `count` independent sub-keys; they do not depend on `count`. */
export function split(parent: Key, count: number): Key[] {
  if (!isIndex(count))
    fail("usage", `split: the count ${show(count)} is not a natural number`, "use 0, 1, 2, …");
  const root = keysOf(parent, "split").words;
  return Array.from({ length: count }, (_, i) => {
    const words = new Uint32Array(4);
    threefry(words, 0, root, 0, i, 0, 0, SPLIT, 1);
    return unpacked(words);
  });
}

/**
 * The sub-key for `data`, a natural number (a step, an epoch, a sample's index) or a string (a
 * purpose, such as `"noise"`). With `Keys` it folds each one: `fold(keys, step)` has the keys of
 * the noise of every sample at that step.
 */
export function fold(parent: Key, data: number | string): Key;
export function fold(parent: Keys, data: number | string): Keys;
export function fold(parent: Key | Keys, data: number | string): Key | Keys;
export function fold(parent: Key | Keys, data: number | string): Key | Keys {
  const { count, words: parents } = keysOf(parent, "fold");
  const words = parents.slice();
  const blocks = typeof data === "string" ? stringBlocks(data) : [indexBlock(data)];
  for (const [c0, c1, c2, c3] of blocks)
    for (let at = 0; at < words.length; at += 4) threefry(words, at, words, at, c0, c1, c2, c3, 1);
  return "count" in parent ? { count, words } : unpacked(words);
}

/**
 * One key per sample: key i is `fold(parent, first + i)`, so sample 7 is the same in a batch of 16,
 * in a batch of 64, and alone with `first` 7. The noise of sample i at step s is a function of
 * (parent, i, s) alone: `normal(fold(sampleKeys(parent, count), s), eventShape)`.
 */
export function sampleKeys(parent: Key, count: number, first = 0): Keys {
  if (!isIndex(count) || !isIndex(first) || !isIndex(first + count))
    fail(
      "usage",
      `sampleKeys: samples ${show(first)} to ${show(first)} + ${show(count)} are not a range ` +
        "of natural numbers",
      "give a count and a first index among 0, 1, 2, …",
    );
  const root = keysOf(parent, "sampleKeys").words;
  const words = new Uint32Array(4 * count);
  for (let i = 0; i < count; i++) {
    const index = first + i;
    threefry(words, 4 * i, root, 0, index >>> 0, Math.floor(index / 0x100000000), 0, FOLD, 1);
  }
  return { count, words };
}

/** Converts a key or keys to a batch; throws for a seed, which is a common mistake. */
export function keysOf(source: Key | Keys, operation: string): Keys {
  if (typeof source !== "object" || source === null || !("words" in source))
    fail("type", `${operation}: ${show(source)} is not a key`, "make a key with key(seed)");
  return "count" in source ? source : { count: 1, words: Uint32Array.from(source.words) };
}

const unpacked = ([a, b, c, d]: Uint32Array): Key => ({ words: [a, b, c, d] });

type Counter = readonly [number, number, number, number];

function indexBlock(index: number): Counter {
  if (!isIndex(index))
    fail(
      "usage",
      `fold: ${show(index)} is not a natural number below 2⁵³`,
      "use 0, 1, 2, … or a string",
    );
  return [index >>> 0, Math.floor(index / 0x100000000), 0, FOLD];
}

/** The counters of the blocks that make the key of a string, in order. */
export function stringBlocks(text: string): Counter[] {
  const unit = (i: number): number => (i < text.length ? text.charCodeAt(i) : 0);
  const word = (i: number): number => unit(i) | (unit(i + 1) << 16);
  const blocks: Counter[] = [[text.length, 0, 0, STRING]];
  for (let i = 0; i < text.length; i += 8)
    blocks.push([word(i), word(i + 2), word(i + 4), word(i + 6)]);
  return blocks;
}

export const isIndex = (n: unknown): n is number => Number.isSafeInteger(n) && (n as number) >= 0;

export const show = (value: unknown): string =>
  typeof value === "bigint"
    ? `${value}n`
    : typeof value === "string"
      ? `"${value}"`
      : String(value);
