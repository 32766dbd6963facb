/**
 * Random continuous numbers, signs and raw bits: element j of a row is a function of the row's key
 * and of j alone.
 *
 *   bits        word j mod 4 of block ⌊j / 4⌋
 *   uniform     low + (high − low)·u,  u from the two words of half a block
 *   normal      Φ⁻¹(u)
 *   rademacher 2b − 1, b one bit: 128 of them per block
 *
 * So a longer array begins with the shorter one, and a row does not depend on the number of rows.
 */
import { fail } from "../graph/error.ts";
import {
  allocate,
  type FloatType,
  isFloat,
  type NdArray,
  type Shape,
  showShape,
  sizeOf,
} from "../graph/ndarray.ts";
import { normalQuantileValue } from "../graph/normal.ts";
import { isIndex, type Key, type Keys, keysOf, show } from "./key.ts";
import { threefry } from "./threefry.ts";
import { unit } from "./unit.ts";

/** An `NdArray` of random floats with a known element type. */
export interface FloatArray<D extends FloatType = FloatType> extends NdArray {
  readonly dtype: D;
  readonly data: { float32: Float32Array; float64: Float64Array }[D];
}

/** Raw random words. */
export interface BitArray {
  readonly shape: Shape;
  readonly data: Uint32Array;
}

/**
 * The element type. Default `"float32"`, whose numbers are the rounded float64 numbers of the same
 * key.
 */
export interface FloatOptions<D extends FloatType = FloatType> {
  readonly dtype?: D;
}

/** Options of `uniform`: the ends of the interval. Default 0 and 1. */
export interface UniformOptions<D extends FloatType = FloatType> extends FloatOptions<D> {
  readonly low?: number;
  readonly high?: number;
}

/**
 * Uniform numbers strictly between `low` and `high`, with 52 random bits each. If a number would be
 * rounded to an end of the interval (in float32, once in 2²⁵ numbers for the upper end), the
 * nearest number inside is returned.
 */
export function uniform<D extends FloatType = "float32">(
  source: Key | Keys,
  shape: number | Shape,
  options: UniformOptions<D> = {},
): FloatArray<D> {
  const { low = 0, high = 1 } = options;
  const plan = planDraw(source, shape, "uniform");
  const out = floats(plan, options, "uniform");
  const { data } = out;
  const lowest = above(low, out.dtype);
  const highest = -above(-high, out.dtype);
  const width = high - low;
  if (!(lowest <= highest && Number.isFinite(width)))
    fail(
      "usage",
      `uniform: low ${show(low)} and high ${show(high)} are not the ends of a finite ` +
        `interval with a ${out.dtype} inside`,
      "give two finite numbers, with low well below high",
    );
  eachChunk(plan, 2, (words, at, count) => {
    for (let j = 0; j < count; j++) {
      const x = low + width * unit(words[2 * j], words[2 * j + 1]);
      data[at + j] = Math.min(Math.max(x, lowest), highest);
    }
  });
  return out;
}

/**
 * Standard normal numbers. With `Keys`, row i has the numbers of key i. All numbers are within
 * ±8.21 = Φ⁻¹(1 − 2⁻⁵³).
 */
export function normal<D extends FloatType = "float32">(
  source: Key | Keys,
  shape: number | Shape,
  options: FloatOptions<D> = {},
): FloatArray<D> {
  const plan = planDraw(source, shape, "normal");
  const out = floats(plan, options, "normal");
  const { data } = out;
  eachChunk(plan, 2, (words, at, count) => {
    for (let j = 0; j < count; j++)
      data[at + j] = normalQuantileValue(unit(words[2 * j], words[2 * j + 1]));
  });
  return out;
}

/** Random signs, −1 or 1 with equal probability. */
export function rademacher<D extends FloatType = "float32">(
  source: Key | Keys,
  shape: number | Shape,
  options: FloatOptions<D> = {},
): FloatArray<D> {
  const plan = planDraw(source, shape, "rademacher");
  const out = floats(plan, options, "rademacher");
  const { data } = out;
  eachChunk(plan, 128, (words, at, count) => {
    for (let j = 0; j < count; j++) data[at + j] = ((words[j >>> 5] >>> (j & 31)) & 1) * 2 - 1;
  });
  return out;
}

/** Uniform 32-bit words. */
export function bits(source: Key | Keys, shape: number | Shape): BitArray {
  const plan = planDraw(source, shape, "bits");
  const data = new Uint32Array(sizeOf(plan.shape));
  eachChunk(plan, 4, (words, at, count) => data.set(words.subarray(0, count), at));
  return { shape: plan.shape, data };
}

/** The arrays of a call: `size` elements per key, and the total shape. */
interface Plan {
  readonly keys: Keys;
  readonly size: number;
  readonly shape: Shape;
}

/**
 * Checks the arguments of a call. With `Keys` the result has a leading axis, with one row per key.
 */
export function planDraw(source: Key | Keys, shape: number | Shape, operation: string): Plan {
  const keys = keysOf(source, operation);
  const event = typeof shape === "number" ? [shape] : shape;
  if (!Array.isArray(event) || !event.every(isIndex))
    fail(
      "shape",
      `${operation}: the shape ${Array.isArray(event) ? showShape(event) : show(shape)} is ` +
        "not a list of natural numbers",
      "use a length such as 8, or lengths such as [16, 2]; [] is a single number",
    );
  return {
    keys,
    size: sizeOf(event),
    shape: "count" in source ? [keys.count, ...event] : [...event],
  };
}

function floats<D extends FloatType>(
  { shape }: Plan,
  options: FloatOptions<D>,
  operation: string,
): FloatArray<D> {
  const dtype = options.dtype ?? "float32";
  if (!isFloat(dtype))
    fail("type", `${operation}: unknown type ${show(dtype)}`, 'use "float32" or "float64"');
  return { shape, dtype, data: allocate(dtype, sizeOf(shape)) } as FloatArray<D>;
}

/** Blocks made at once: 8 KiB of words, which stay in the first-level cache until they are used. */
const CHUNK = 512;

/**
 * For each key and each stretch of its elements: `words` holds their blocks, `perBlock` elements to
 * a block, and `visit` turns them into elements `at` to `at + count` of the result. The 32-bit
 * counter of blocks would wrap after 2³³ elements, more than a typed array can have.
 */
function eachChunk(
  { keys, size }: Plan,
  perBlock: number,
  visit: (words: Uint32Array, at: number, count: number) => void,
): void {
  const blocks = Math.min(CHUNK, Math.ceil(size / perBlock));
  const stride = blocks * perBlock;
  const words = new Uint32Array(4 * blocks);
  for (let row = 0; row < keys.count; row++)
    for (let from = 0; from < size; from += stride) {
      const count = Math.min(stride, size - from);
      threefry(
        words,
        0,
        keys.words,
        4 * row,
        from / perBlock,
        0,
        0,
        0,
        Math.ceil(count / perBlock),
      );
      visit(words, row * size + from, count);
    }
}

/** The smallest number of type `dtype` above x. */
function above(x: number, dtype: FloatType): number {
  // Bit patterns of one sign have the order of their numbers, so the neighbour is the next pattern.
  const float = dtype === "float32" ? new Float32Array([x]) : new Float64Array([x]);
  if (float[0] > x || Number.isNaN(x)) return float[0];
  if (float[0] === 0) return dtype === "float32" ? 1.401298464324817e-45 : Number.MIN_VALUE;
  if (dtype === "float32") new Int32Array(float.buffer)[0] += x > 0 ? 1 : -1;
  else new BigInt64Array(float.buffer)[0] += x > 0 ? 1n : -1n;
  return float[0];
}
