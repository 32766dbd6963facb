/** Arguments of compiled functions: what a caller may pass, as arrays of the graph's types. */
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

/** Sizes of an argument; `null` is open and may differ from call to call. */
export type OpenSpec =
  | readonly (number | null)[]
  | { readonly shape: readonly (number | null)[]; readonly dtype?: DType };

/**
 * What a compiled function accepts for one tensor. Typed arrays must have the graph's type; plain
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
      `${where}: a flat array cannot tell the ${missing} open sizes of ${showOpenShape(open)}`,
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
 * An argument as an array of the spec's type, or an error that says which argument and what it
 * should have been.
 */
function asArray(value: unknown, spec: OpenSpec, type: FloatType, where: string): NdArray {
  const { shape: open, dtype = type } = "shape" in spec ? spec : { shape: spec };
  if (value instanceof DeviceArray) {
    if (value.dtype !== dtype)
      fail(
        "type",
        `${where}: a ${value.dtype} array given to a ${dtype} graph`,
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
        `${showShape(value.shape)} given with them`,
      "make data and shape agree",
    );
  return checkShape({ ...value, dtype }, open, where);
}

const isNested = (value: unknown): value is Nested =>
  typeof value === "number" || Array.isArray(value);

const noArray = (value: unknown, where: string): never =>
  fail(
    "type",
    `${where}: ${describe(value)} given where an array belongs`,
    "pass a number, nested numbers, a typed array or { shape, dtype, data }",
  );

function requireType(data: TypedArray, dtype: DType, where: string): void {
  if (data?.constructor !== allocate(dtype, 0).constructor)
    fail(
      "type",
      `${where}: ${describe(data)} given to a ${dtype} graph`,
      `pass a ${typedArrayName[dtype]}, or compile with another type`,
    );
}

function checkShape(array: NdArray, open: readonly (number | null)[], where: string): NdArray {
  if (!fitsShape(array.shape, open))
    fail(
      "shape",
      `${where}: shape ${showShape(array.shape)} given, ${showOpenShape(open)} expected`,
      open.length === 0 && sizeOf(array.shape) === 0
        ? "give a number; leave out an empty list: in the shapes to compile for, [] is a scalar"
        : "reshape the argument, or compile for its shape",
    );
  return array;
}

/**
 * Walks an argument together with its spec, so that a leaf of the spec may be any kind of array.
 */
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
      `${where}: ${describe(value)} given where a ${Array.isArray(spec) ? "list" : "group"} ` +
        "of arrays belongs",
      remedy,
    );
  for (const key of Object.keys(given))
    if (!Object.hasOwn(wanted, key) && given[key] !== undefined)
      fail("type", `${where}.${key}: ${describe(given[key])} given where nothing belongs`, remedy);
  for (const [key, child] of Object.entries(wanted))
    bindArgument(given[key], child, type, `${where}.${key}`, into);
}

/**
 * The arrays of a call, in the order of the specs' leaves.
 *
 * @param device the device whose kept arrays may be passed; undefined where none may
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
      `${args.length} arguments given, ${specs.length} expected`,
      "call it as it was compiled",
    );
  const arrays: NdArray[] = [];
  args.forEach((arg, i) => {
    bindArgument(arg, specs[i], type, `argument ${i}`, arrays);
  });
  for (const a of arrays)
    if (a instanceof DeviceArray && a.device !== device)
      fail(
        "usage",
        `an array that ${a.device} keeps was given to a function elsewhere`,
        "read it with toHost first",
      );
  return arrays;
}

/**
 * Whether a value is one array; a list is a tree of arrays if the first thing in it, however deep,
 * is an object.
 */
export const isArrayInput = (value: unknown): boolean => {
  let first = value;
  while (Array.isArray(first) && first.length > 0) first = first[0];
  if (Array.isArray(value)) return typeof first !== "object" || Array.isArray(first);
  return (
    typeof value !== "object" || value === null || ArrayBuffer.isView(value) || isNdArray(value)
  );
};

/** An array of its own shape and type, float64 for every float. */
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
