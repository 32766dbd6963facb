/**
 * Scores computed outside the graphs: in a server, in JavaScript, or in another library. All other
 * computations stay compiled. The function is called with the events of a batch and their times, as
 * typed arrays, and returns one vector per event.
 *
 *     const score = external(async (x, t) => (await ask(server, x.data, t.data)).values);
 *     const process = reversePush(vp(), additiveLogistic(), score);
 *     await sample(process, { shape: [2], count: 1000, key: key(1) });
 *
 * The number and the shape of its results are checked in every call, and samplers report values
 * that are not finite. It is not checked whether the result for one event depends on the rest of
 * the batch. That would need additional calls, and would fail for functions with random results.
 */
import {
  fail,
  isNdArray,
  type NdArray,
  type OutsideCall,
  sizeOf,
  type TypedArray,
} from "../graph/index.ts";
import { convert, describe, sameShape, showShape } from "../graph/ndarray.ts";
import { batches, rowsOf, stackArrays } from "../host/index.ts";
import type { MarginalScore } from "../sde/index.ts";
import { type PredictionOptions, scoreFrom } from "./prediction.ts";

/** An array of floats. */
export interface FloatArray extends NdArray {
  readonly data: Float32Array | Float64Array;
}

/**
 * A function of points [count, ...event] and their times [count], in the float type of the sampler.
 * It returns one number per number of x.
 */
export type ExternalFunction = (
  x: FloatArray,
  t: FloatArray,
) => Promise<NdArray | TypedArray | readonly number[]> | NdArray | TypedArray | readonly number[];

/** Options of `external`: what the function predicts, and how it is called. */
export interface ExternalOptions extends Partial<PredictionOptions> {}

/**
 * Makes a score of a function on arrays, which may be async. For likelihoods and guidance set
 * `differences`.
 */
export function external(f: ExternalFunction, options: ExternalOptions = {}): MarginalScore {
  const { name = "the external score", batch } = options;
  if (typeof f !== "function")
    fail("type", `${name} is ${describe(f)}`, "give a function of (x, t)");
  const call: OutsideCall = {
    run: ([x, t]) =>
      inRows(x, t, batch, async (points, times) => callFunction(name, f, points, times)),
    dispose: async () => undefined,
  };
  return scoreFrom(name, async () => call, { predicts: "score", ...options });
}

/**
 * Calls a function with all events as rows, at most `batch` per call, and returns the results in
 * the shape of x.
 */
export async function inRows(
  x: NdArray,
  t: NdArray,
  batch: number | undefined,
  run: (x: NdArray, t: NdArray) => Promise<NdArray>,
): Promise<NdArray> {
  const rows = sizeOf(t.shape);
  if (rows === 0) return x;
  const points = { ...x, shape: [rows, ...x.shape.slice(t.shape.length)] };
  const times = { ...t, shape: [rows] };
  const parts: NdArray[] = [];
  for (const [from, count] of batches(rows, Math.min(rows, batch ?? rows)))
    parts.push(await run(rowsOf(points, from, count), rowsOf(times, from, count)));
  return { ...stackArrays(parts), shape: x.shape };
}

/** The results of the function as numbers of the type of x. */
async function callFunction(
  name: string,
  f: ExternalFunction,
  x: NdArray,
  t: NdArray,
): Promise<NdArray> {
  const answer: unknown = await f(x as FloatArray, t as FloatArray);
  const values = isNdArray(answer) ? answer.data : answer;
  if (!(Array.isArray(values) || (ArrayBuffer.isView(values) && !(values instanceof DataView))))
    fail(
      "type",
      `${name} returned ${describe(answer)}`,
      "return a typed array, or { shape, dtype, data }",
    );
  const numbers = values as readonly number[];
  if (numbers.length !== x.data.length)
    fail(
      "shape",
      `${name} returned ${numbers.length} numbers for ${x.shape[0]} events of ` +
        `${x.data.length / x.shape[0]}`,
      "return one vector per event",
    );
  if (isNdArray(answer) && !sameShape(answer.shape, x.shape))
    fail(
      "shape",
      `${name} returned an array of shape ${showShape(answer.shape)} for events of ` +
        `${showShape(x.shape)}`,
      "return one vector per event, in order, or the numbers alone, row by row",
    );
  // JSON writes NaN as null, which would become the number 0.
  const strange = Array.isArray(values) ? numbers.findIndex((v) => typeof v !== "number") : -1;
  if (strange >= 0)
    fail(
      "type",
      `${name} returned ${describe(numbers[strange])} instead of a number, at the flat index ` +
        `${strange}`,
      "return numbers, one vector per event",
    );
  return { ...x, data: convert(numbers, x.dtype) };
}
