/** The loops of the reference evaluator. */
import { broadcastStrides, type Shape, sameShape, sizeOf, stridesOf } from "./ndarray.ts";

/** out[i] = f(x[i]) */
export function mapUnary(x: Float64Array, f: (x: number) => number): Float64Array {
  const out = new Float64Array(x.length);
  for (let i = 0; i < x.length; i++) out[i] = f(x[i]);
  return out;
}

/** Offsets into an array with the given strides, one per index of `shape` in row-major order. */
export function offsets(shape: Shape, strides: readonly number[], start = 0): Int32Array {
  const out = new Int32Array(sizeOf(shape));
  const index = new Array<number>(shape.length).fill(0);
  let at = start;
  for (let i = 0; i < out.length; i++) {
    out[i] = at;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

/** Offsets of an array of shape `from` read as if broadcast to `to`. */
export const broadcastOffsets = (from: Shape, to: Shape): Int32Array =>
  sizeOf(from) === 1 ? new Int32Array(sizeOf(to)) : offsets(to, broadcastStrides(from, to));

/**
 * The offset in an array of shape `from` of each entry of its broadcast to `to`; undefined if all
 * are the same.
 */
const placesOf = (from: Shape, to: Shape): Int32Array | undefined =>
  sameShape(from, to) ? undefined : broadcastOffsets(from, to);

/** out[i] = f(x[i], …) over the broadcast shape of any number of arrays. */
export function mapBroadcast(
  shape: Shape,
  shapes: readonly Shape[],
  data: readonly Float64Array[],
  f: (...values: number[]) => number,
): Float64Array {
  const out = new Float64Array(sizeOf(shape));
  const at = shapes.map((from) => placesOf(from, shape));
  // Pairs are the usual case. Without a list of arguments per entry a graph takes a third of the
  // time.
  if (data.length === 2) {
    const [[a, b], [atA, atB]] = [data, at];
    for (let i = 0; i < out.length; i++) out[i] = f(a[atA ? atA[i] : i], b[atB ? atB[i] : i]);
    return out;
  }
  const args = new Array<number>(data.length);
  for (let i = 0; i < out.length; i++) {
    for (let k = 0; k < data.length; k++) args[k] = data[k][at[k]?.[i] ?? i];
    out[i] = f(...args);
  }
  return out;
}

/**
 * Calls `visit(start, step)` for each line of an array along an axis; `step` is the distance of its
 * elements.
 */
export function forEachLine(
  shape: Shape,
  axis: number,
  visit: (start: number, step: number) => void,
): void {
  const step = stridesOf(shape)[axis];
  const block = step * shape[axis];
  for (let outer = 0; outer < sizeOf(shape); outer += block)
    for (let inner = 0; inner < step; inner++) visit(outer + inner, step);
}

/** The entries of an array at the given offsets. */
export const pick = (from: Float64Array, at: Int32Array): Float64Array => {
  const out = new Float64Array(at.length);
  for (let i = 0; i < at.length; i++) out[i] = from[at[i]];
  return out;
};
