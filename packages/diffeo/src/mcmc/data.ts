/**
 * Data of a model by name: numbers and arrays of numbers, checked against the shapes that the model
 * declares.
 */
import type { ArrayInput } from "../engine/index.ts";
import {
  fail,
  fitsShape,
  isNdArray,
  type NdArray,
  type Nested,
  ndarray,
  showOpenShape,
  toFloat64,
} from "../graph/index.ts";

/**
 * Data of a model by name, as the caller gives them: numbers, nested lists of numbers, typed arrays
 * or an `NdArray`.
 */
export type Data = Readonly<Record<string, ArrayInput>>;

/** Shapes of data by name. `[]` is a single number, and `null` stands for any size. */
export type DataShapes = Readonly<Record<string, readonly (number | null)[]>>;

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : typeof value;

/** The most axes of an array. */
const MOST_AXES = 32;

/**
 * Describes the first entry of nested lists that is not a finite number; undefined if all are
 * finite.
 */
function fault(value: unknown, place: string, axes = 0): string | undefined {
  if (axes > MOST_AXES) return `${place} is nested deeper than ${MOST_AXES} lists`;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${place} is ${value}`;
  if (!Array.isArray(value)) return `${place} is ${kindOf(value)}, not a number`;
  for (const [i, entry] of value.entries()) {
    const found = fault(entry, `${place}[${i}]`, axes + 1);
    if (found) return found;
  }
  return undefined;
}

function arrayOf(value: unknown, name: string): NdArray {
  const remedy = "give numbers, or lists of numbers of one length";
  if (isNdArray(value)) return { ...value, dtype: "float64", data: toFloat64(value.data) };
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const data = Float64Array.from(value as Float64Array);
    return { shape: [data.length], dtype: "float64", data };
  }
  const wrong = fault(value, name);
  if (wrong) fail("data", `data: ${wrong}`, remedy);
  return ndarray(value as Nested, "float64");
}

/** The data as float64 arrays. With `shapes`, only the names that they contain. */
export function dataArrays(data: Data, shapes?: DataShapes): Readonly<Record<string, NdArray>> {
  const arrays: Record<string, NdArray> = {};
  for (const name of Object.keys(shapes ?? data)) {
    if (!Object.hasOwn(data, name))
      fail(
        "data",
        `data has no "${name}"`,
        `give all of ${Object.keys(shapes ?? data).join(", ")}`,
      );
    const array = arrayOf(data[name], name);
    const open = shapes?.[name];
    if (open && !fitsShape(array.shape, open))
      fail(
        "data",
        `data: ${name} has shape [${array.shape}], the model expects ${showOpenShape(open)}`,
        "reshape it, or correct the shapes that the model declares",
      );
    arrays[name] = array;
  }
  return arrays;
}
