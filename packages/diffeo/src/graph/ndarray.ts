/**
 * Arrays on the host: a shape, an element type and a typed array in row-major order. Also functions
 * of shapes that this folder shares: sizes, strides, broadcasting.
 */
import { fail } from "./error.ts";

/** The type of the elements of an array. */
export type DType = "float32" | "float64" | "int32" | "int64" | "bool";
/** The float types of graphs. */
export type FloatType = "float32" | "float64";
/** The sizes of the axes of an array; `[]` is a single number. */
export type Shape = readonly number[];
/** The typed arrays of the elements of arrays. A Uint8Array has bools. */
export type TypedArray = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

/**
 * A dense array on the host. `bool` is stored as 0 and 1 in a Uint8Array, `int64` as BigInt64Array.
 */
export interface NdArray {
  readonly shape: Shape;
  readonly dtype: DType;
  readonly data: TypedArray;
}

/**
 * Whether a value is a host array, among operands or in a tree of parameters, which may itself have
 * a key `shape` or `data`.
 */
export const isNdArray = (value: unknown): value is NdArray =>
  typeof value === "object" &&
  value !== null &&
  "data" in value &&
  "dtype" in value &&
  typeof value.dtype === "string" &&
  "shape" in value &&
  Array.isArray(value.shape);

/** Nested arrays of numbers of any depth, such as `[[1, 2], [3, 4]]`. */
export type Nested = number | readonly Nested[];

/** Whether a type is a float type. */
export const isFloat = (dtype: DType): dtype is FloatType =>
  dtype === "float32" || dtype === "float64";

/** The number of elements of a shape. */
export const sizeOf = (shape: Shape): number => shape.reduce((n, d) => n * d, 1);

/** The largest divisor of n that is at most `limit`. */
export function divisorNear(n: number, limit: number): number {
  for (let d = Math.floor(limit); d > 1; d--) if (n % d === 0) return d;
  return 1;
}

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((d, i) => d === b[i]);

/** A shape for error messages: `[2, 3]`. */
export const showShape = (shape: Shape): string => `[${shape.join(", ")}]`;

export function stridesOf(shape: Shape): number[] {
  const strides = new Array<number>(shape.length);
  for (let axis = shape.length - 1, step = 1; axis >= 0; step *= shape[axis--])
    strides[axis] = step;
  return strides;
}

/**
 * Strides that read an array of shape `from` as if it had been broadcast to `to`: a repeated axis
 * has stride 0.
 */
export function broadcastStrides(from: Shape, to: Shape): number[] {
  const lead = to.length - from.length;
  const own = stridesOf(from);
  return to.map((_, axis) => (axis < lead || from[axis - lead] === 1 ? 0 : own[axis - lead]));
}

/** NumPy's rule: shapes are aligned at the right; sizes must be equal, or one of them 1. */
export function broadcastShapes(a: Shape, b: Shape, operation: string): number[] {
  const rank = Math.max(a.length, b.length);
  const shape = new Array<number>(rank);
  for (let i = 0; i < rank; i++) {
    const da = a[i - rank + a.length] ?? 1;
    const db = b[i - rank + b.length] ?? 1;
    if (da !== db && da !== 1 && db !== 1)
      fail(
        "shape",
        `${operation}: shapes ${showShape(a)} and ${showShape(b)} do not broadcast: axis ` +
          `${i - rank} has the sizes ${da} and ${db}`,
        "make the sizes equal, or insert an axis of size 1 with expandDims or reshape where one " +
          "should repeat",
      );
    shape[i] = da === 1 ? db : da;
  }
  return shape;
}

/**
 * Converts an axis counted from the end to one counted from the start; throws if it is out of
 * range.
 */
export function normaliseAxis(axis: number, rank: number, operation: string): number {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank)
    fail(
      "shape",
      `${operation}: axis ${axis} does not exist in a tensor of rank ${rank}`,
      rank === 0 ? "give a tensor with an axis" : `use ${-rank} to ${rank - 1}`,
    );
  return axis < 0 ? axis + rank : axis;
}

/** A typed array of zeros for elements of a type. */
export function allocate(dtype: DType, size: number): TypedArray {
  switch (dtype) {
    case "float32":
      return new Float32Array(size);
    case "float64":
      return new Float64Array(size);
    case "int32":
      return new Int32Array(size);
    case "int64":
      return new BigInt64Array(size);
    case "bool":
      return new Uint8Array(size);
    default:
      return fail(
        "type",
        `unknown element type ${dtype}`,
        "use float32, float64, int32, int64 or bool",
      );
  }
}

/** Whether `within` can represent every number of `type`. */
export const holds = (within: DType, type: DType): boolean =>
  within === type ||
  type === "bool" ||
  (within === "float64" && (type === "float32" || type === "int32")) ||
  (within === "int64" && type === "int32");

const limits: Readonly<Partial<Record<DType, number>>> = { int32: 2 ** 31, int64: 2 ** 63 };

/**
 * Converts numbers to `dtype`; throws for fractions and overflows, which `convert` would truncate
 * and wrap.
 */
export function convertExact(
  data: ArrayLike<number> | BigInt64Array,
  dtype: DType,
  where: string,
): TypedArray {
  if (!isFloat(dtype) && !(data instanceof BigInt64Array && dtype === "int64")) {
    const limit = limits[dtype] ?? Infinity;
    for (let i = 0; i < data.length; i++) {
      const v = Number(data[i]);
      if (!Number.isInteger(v) || v < -limit || v >= limit)
        fail(
          "type",
          `${where}: ${v} is not an ${dtype}`,
          "give integers in its range, or use a float type",
        );
    }
  }
  return convert(data, dtype);
}

/** Describes a value, for errors. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name}`;
  if (isNdArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Converts numbers to the typed array of `dtype`; returns the input if it already is one. */
export function convert(data: ArrayLike<number> | BigInt64Array, dtype: DType): TypedArray {
  if (dtype === "float32" && data instanceof Float32Array) return data;
  if (dtype === "float64" && data instanceof Float64Array) return data;
  if (dtype === "int32" && data instanceof Int32Array) return data;
  if (dtype === "int64" && data instanceof BigInt64Array) return data;
  const out = allocate(dtype, data.length);
  if (out instanceof BigInt64Array) for (let i = 0; i < data.length; i++) out[i] = BigInt(data[i]);
  else if (dtype === "bool")
    for (let i = 0; i < data.length; i++) out[i] = Number(data[i]) === 0 ? 0 : 1;
  else for (let i = 0; i < data.length; i++) out[i] = Number(data[i]);
  return out;
}

/** The elements of an array as float64, for the reference evaluator and tests. */
export const toFloat64 = (data: TypedArray): Float64Array =>
  convert(data, "float64") as Float64Array;

/** The shape and the flat elements of nested numbers; throws for ragged input. */
export function flattenNested(value: Nested): { shape: number[]; data: number[] } {
  const shape: number[] = [];
  for (let probe: unknown = value; Array.isArray(probe); probe = probe[0]) shape.push(probe.length);
  const data: number[] = [];
  const visit = (part: unknown, depth: number, path: string): void => {
    if (typeof part === "number") {
      if (depth === shape.length) return void data.push(part);
    } else if (!Array.isArray(part)) {
      fail(
        "type",
        `${describe(part)} is given instead of a number${path && `, at ${path}`}`,
        "give a tensor, a number, nested numbers or { shape, dtype, data }",
      );
    } else if (part.length === shape[depth]) {
      part.forEach((child, i) => {
        visit(child, depth + 1, `${path}[${i}]`);
      });
      return;
    }
    fail(
      "shape",
      `nested array is ragged at ${path || "its top"}: expected ` +
        `${depth === shape.length ? "a number" : `${shape[depth]} entries`}`,
      "give every row the same number of entries",
    );
  };
  visit(value, 0, "");
  return { shape, data };
}

/** Makes a host array from nested numbers: `ndarray([[1, 2], [3, 4]])`. */
export function ndarray(value: Nested, dtype: DType = "float32"): NdArray {
  const { shape, data } = flattenNested(value);
  return { shape, dtype, data: convertExact(data, dtype, "ndarray") };
}
