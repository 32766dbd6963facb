/**
 * Sequences of the random numbers of a key, for algorithms that need an unknown number of them:
 * number j is element j of `uniform(key, …)` and `normal(key, …)`.
 */
import { normalQuantileValue } from "../graph/normal.ts";
import { type Key, type Keys, keysOf } from "./key.ts";
import { threefry } from "./threefry.ts";
import { unit } from "./unit.ts";

/** A sequence of random numbers, for loops on the host. */
export interface Sequence {
  /** The next number as a uniform one between 0 and 1. */
  readonly uniform: () => number;
  /** The next number as a standard normal one. */
  readonly normal: () => number;
}

/** The blocks that are computed at once, with two numbers each. */
const BLOCKS = 16;

/**
 * Makes a sequence of random numbers, which is a function of the key and the row.
 *
 * @param row the index of the key in `Keys`
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
