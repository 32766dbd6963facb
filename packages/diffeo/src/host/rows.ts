/** Arrays by rows: the first axis counts samples. */
import { fail, type NdArray } from "../graph/index.ts";
import { allocate, sizeOf } from "../graph/ndarray.ts";

/** Rows from … from + count of an array. */
export function rowsOf({ shape, dtype, data }: NdArray, from: number, count: number): NdArray {
  const size = sizeOf(shape.slice(1));
  return {
    shape: [count, ...shape.slice(1)],
    dtype,
    data: data.slice(from * size, (from + count) * size),
  };
}

/** Rows of an array by their indices, which may be repeated. */
export function pickRows({ shape, dtype, data }: NdArray, indices: ArrayLike<number>): NdArray {
  const size = sizeOf(shape.slice(1));
  const out = allocate(dtype, indices.length * size) as Float64Array;
  for (let i = 0; i < indices.length; i++)
    out.set((data as Float64Array).subarray(indices[i] * size, (indices[i] + 1) * size), i * size);
  return { shape: [indices.length, ...shape.slice(1)], dtype, data: out };
}

/** `[from, count]` of each batch of at most `size` out of `count`. */
export function batches(count: number, size = count): [number, number][] {
  const isCount = (n: number): boolean => Number.isInteger(n) && n >= 1;
  if (!isCount(count) || !isCount(size))
    fail("usage", `\`count\` is ${count}, \`batch\` is ${size}`, "give integers of at least 1");
  return Array.from({ length: Math.ceil(count / size) }, (_, i) => [
    i * size,
    Math.min(size, count - i * size),
  ]);
}

/** [from, to) of parts of `count` points, of nearly equal sizes of at most `size`. */
export function partsOf(count: number, size: number): (readonly [number, number])[] {
  const parts = Math.ceil(count / Math.max(1, size));
  const even = Math.ceil(count / parts);
  return Array.from(
    { length: parts },
    (_, i) => [i * even, Math.min(count, (i + 1) * even)] as const,
  );
}

/** Concatenates typed arrays into one that `make` allocates. */
export function concatArrays<A extends { readonly length: number; set(part: A, at: number): void }>(
  make: (length: number) => A,
  parts: readonly A[],
): A {
  const out = make(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Concatenates arrays along the first axis. */
export function stackArrays(parts: readonly NdArray[]): NdArray {
  const [{ shape, dtype }] = parts;
  if (parts.length === 1) return parts[0];
  const count = parts.reduce((n, part) => n + part.shape[0], 0);
  const data = concatArrays(
    (length) => allocate(dtype, length) as Float64Array,
    parts.map((part) => part.data as Float64Array),
  );
  return { shape: [count, ...shape.slice(1)], dtype, data };
}

/** The transpose of a matrix, row by row. */
export const transposed = (
  matrix: ArrayLike<number>,
  rows: number,
  columns: number,
): Float64Array =>
  Float64Array.from(
    { length: rows * columns },
    (_, at) => matrix[(at % rows) * columns + Math.floor(at / rows)],
  );
