/**
 * The numbers of one key one after the other, for algorithms that do not know how many they need:
 * number j is element j of `uniform(key, …)` and of `normal(key, …)`.
 */
import { normalQuantileValue } from "../graph/normal.ts";
import { type Key, type Keys, keysOf } from "./key.ts";
import { threefry } from "./threefry.ts";
import { unit } from "./unit.ts";

/** Random numbers one after the other, for loops on the host. */
export interface Sequence {
  /** The next number, between 0 and 1, as a uniform one. */
  readonly uniform: () => number;
  /** The next number as a standard normal one. */
  readonly normal: () => number;
}

/** Blocks that are made at once, two numbers each. */
const BLOCKS = 16;

/**
 * A sequence of random numbers of a key, a function of the key and the row alone.
 *
 * @param row which of `Keys`
 */
export function sequence(source: Key | Keys, row = 0): Sequence {
  const { words: keys } = keysOf(source, "sequence");
  const words = new Uint32Array(4 * BLOCKS);
  let next = 0;
  const uniform = (): number => {
    const at = next % (2 * BLOCKS);
    if (at === 0) threefry(words, 0, keys, 4 * row, next / 2, 0, 0, 0, BLOCKS);
    next++;
    return unit(words[2 * at], words[2 * at + 1]);
  };
  return { uniform, normal: () => normalQuantileValue(uniform()) };
}
