/**
 * Random streams by counter: (key, index) ↦ number, with no state in between. The same numbers come
 * out of every engine, device and batch size, in any order and on any number of workers. A seed is
 * what a file or a command stores, `key(seed)` the stream made of it: options that end up in a file
 * take a seed, all others a key.
 *
 *   const root = key("chess, run 3");
 *   const [init, loop] = split(root, 2);                  // independent streams
 *   const start = normal(sampleKeys(init, 64), [64, 13]); // row i belongs to sample i
 *   const noise = normal(fold(sampleKeys(loop, 64), step), [64, 13]);
 */
export { type ChoiceOptions, choice, type IntArray, integers, permutation } from "./discrete.ts";
export {
  type FloatArray,
  type FloatOptions,
  normal,
  rademacher,
  type UniformOptions,
  uniform,
} from "./draw.ts";
export { fold, type Key, type Keys, key, sampleKeys, split } from "./key.ts";

// For other packages of this repository; published types leave them out.

/** @internal */
export { bits } from "./draw.ts";
/** @internal */
export { type Sequence, sequence } from "./sequence.ts";
