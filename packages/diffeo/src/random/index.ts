/**
 * diffeo/random: random streams by counter, (key, index) ↦ number, without state. The numbers are
 * the same on every engine and device, for every batch size, order and number of workers. Files and
 * commands store a seed, and `key(seed)` is its stream: options that are stored in files take a
 * seed, all others a key.
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
