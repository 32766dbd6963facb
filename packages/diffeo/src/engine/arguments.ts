/** Arguments of compiled functions, converted to arrays of the graph's types. */
import {
  allocate,
  type DType,
  type FloatType,
  fail,
  fitsShape,
  flattenNested,
  isFloat,
  isNdArray,
  isSpec,
  type NdArray,
  type Nested,
  ndarray,
  type Shape,
  showOpenShape,
  showShape,
  sizeOf,
  type TypedArray,
  toFloat64,
} from "../graph/index.ts";
import { convertExact, describe } from "../graph/ndarray.ts";
import { DeviceArray } from "./device-array.ts";

/** The sizes of an argument; `null` is open and may differ between calls. */
export type OpenSpec =
  | readonly (number | null)[]
  | { readonly shape: readonly (number | null)[]; readonly dtype?: DType };

/**
 * An argument of a compiled function for one tensor. Typed arrays must have the graph's type; plain
 * numbers are converted.
 */
export type ArrayInput = NdArray | TypedArray | Nested;

const typedArrayName: Readonly<Record<DType, string>> = {
  float32: "Float32Array",
  float64: "Float64Array",
  int32: "Int32Array",
  int64: "BigInt64Array",
  bool: "Uint8Array",
};

const dtypes = Object.keys(typedArrayName) as DType[];

/** The shape of a flat array under a spec with at most one open size. */
function inferShape(length: number, open: readonly (number | null)[], where: string): Shape {
  const known = open.reduce<number>((n, d) => n * (d ?? 1), 1);
  const missing = open.filter((d) => d === null).length;
  const size = length / known;
  if (missing > 1)
    fail(
      "shape",
      `${where}: a flat array does not determine the ${missing} open sizes of ` +
        `${showOpenShape(open)}`,
      "pass { shape, dtype, data }",
    );
  if (missing === 0 ? length !== known : !Number.isInteger(size))
    fail(
      "shape",
      `${where}: ${length} numbers do not fill shape ${showOpenShape(open)}`,
      "check the length, or pass { shape, dtype, data }",
    );
  return open.map((d) => d ?? size);
}

/**
 * Converts an argument to an array of the spec's type. The error names the argument and what is
 * expected.
 */
function asArray(value: unknown, spec: OpenSpec, type: FloatType, where: string): NdArray {
  const { shape: open, dtype = type } = "shape" in spec ? spec : { shape: spec };
  if (value instanceof DeviceArray) {
    if (value.dtype !== dtype)
      fail(
        "type",
        `${where}: a ${value.dtype} array is given to a ${dtype} graph`,
        "compile for its type",
      );
    return checkShape(value, open, where);
  }
  if (isNested(value)) {
    const { shape, data } = flattenNested(value);
    return checkShape({ shape, dtype, data: convertExact(data, dtype, where) }, open, where);
  }
  if (ArrayBuffer.isView(value)) {
    const data = value as TypedArray;
    requireType(data, dtype, where);
    return { shape: inferShape(data.length, open, where), dtype, data };
  }
  if (!isNdArray(value)) return noArray(value, where);
  requireType(value.data, dtype, where);
  if (value.data.length !== sizeOf(value.shape))
    fail(
      "shape",
      `${where}: ${value.data.length} numbers do not fill the shape ` +
        `${showShape(value.shape)} of the array`,
      "make data and shape match",
    );
  return checkShape({ ...value, dtype }, open, where);
}

const isNested = (value: unknown): value is Nested =>
  typeof value === "number" || Array.isArray(value);

const noArray = (value: unknown, where: string): never =>
  fail(
    "type",
    `${where}: ${describe(value)} is given, an array is expected`,
    "pass a number, nested numbers, a typed array or { shape, dtype, data }",
  );

function requireType(data: TypedArray, dtype: DType, where: string): void {
  if (data?.constructor !== allocate(dtype, 0).constructor)
    fail(
      "type",
      `${where}: ${describe(data)} is given to a ${dtype} graph`,
      `pass a ${typedArrayName[dtype]}, or compile with another type`,
    );
}

function checkShape(array: NdArray, open: readonly (number | null)[], where: string): NdArray {
  if (!fitsShape(array.shape, open))
    fail(
      "shape",
      `${where}: the shape is ${showShape(array.shape)}, ${showOpenShape(open)} is expected`,
      open.length === 0 && sizeOf(array.shape) === 0
        ? "give a number; in the shapes to compile for, [] is a scalar, so leave out empty lists"
        : "reshape the argument, or compile for its shape",
    );
  return array;
}

/** Visits an argument together with its spec; a leaf of the spec may be any kind of array. */
function bindArgument(
  value: unknown,
  spec: unknown,
  type: FloatType,
  where: string,
  into: NdArray[],
): void {
  if (isSpec(spec)) return void into.push(asArray(value, spec as OpenSpec, type, where));
  const [wanted, given] = [spec, value] as Record<string, unknown>[];
  const remedy = "pass the same structure the function was compiled for";
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || isNdArray(value))
    fail(
      "type",
      `${where}: ${describe(value)} is given, a ${Array.isArray(spec) ? "list" : "group"} ` +
        "of arrays is expected",
      remedy,
    );
  for (const key of Object.keys(given))
    if (!Object.hasOwn(wanted, key) && given[key] !== undefined)
      fail(
        "type",
        `${where}.${key}: ${describe(given[key])} is given, nothing is expected`,
        remedy,
      );
  for (const [key, child] of Object.entries(wanted))
    bindArgument(given[key], child, type, `${where}.${key}`, into);
}

/**
 * The arrays of a call, in the order of the specs' leaves.
 *
 * @param device the device whose kept arrays may be passed; undefined if none may
 */
export function bindArguments(
  args: readonly unknown[],
  specs: readonly unknown[],
  type: FloatType,
  device: string | undefined,
): NdArray[] {
  if (args.length !== specs.length)
    fail(
      "usage",
      `${args.length} arguments are given, ${specs.length} are expected`,
      "pass the arguments for which it was compiled",
    );
  const arrays: NdArray[] = [];
  args.forEach((arg, i) => {
    bindArgument(arg, specs[i], type, `argument ${i}`, arrays);
  });
  for (const a of arrays)
    if (a instanceof DeviceArray && a.device !== device)
      fail(
        "usage",
        `an array in the memory of ${a.device} was passed to a function of another device`,
        "read it with toHost first",
      );
  return arrays;
}

/**
 * Whether a value is one array. A list is a tree of arrays if its first entry, at any depth, is an
 * object.
 */
export const isArrayInput = (value: unknown): boolean => {
  let first = value;
  while (Array.isArray(first) && first.length > 0) first = first[0];
  if (Array.isArray(value)) return typeof first !== "object" || Array.isArray(first);
  return (
    typeof value !== "object" || value === null || ArrayBuffer.isView(value) || isNdArray(value)
  );
};

/** A value as an array in its own shape and type, with floats as float64. */
export function widened(value: unknown, where: string): NdArray {
  if (isNested(value)) return ndarray(value, "float64");
  const dtype = dtypes.find(
    (d) => ArrayBuffer.isView(value) && allocate(d, 0).constructor === value.constructor,
  );
  const array = dtype
    ? { shape: [(value as TypedArray).length], dtype, data: value as TypedArray }
    : value;
  if (!isNdArray(array)) return noArray(value, where);
  requireType(array.data, array.dtype, where);
  return isFloat(array.dtype) ? { ...array, dtype: "float64", data: toFloat64(array.data) } : array;
}
