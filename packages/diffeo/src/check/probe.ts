/**
 * Points at which the properties of a map are checked, random directions, and the evaluation of
 * graphs on them.
 */
import type { Bijector } from "../bijector/index.ts";
import { type Arrays, compile } from "../engine/index.ts";
import {
  convert,
  type FloatType,
  input,
  type NdArray,
  type Shape,
  sizeOf,
  type Tensor,
  toFloat64,
} from "../graph/index.ts";
import { fold, type Key, normal, rademacher, uniform } from "../random/index.ts";
import type { Probe } from "./property.ts";

/** Random directions and times, one per point: t, v, s, w, scalar, diagonal, matrix. */
export type Directions = readonly NdArray[];

export function directions(phi: Bijector, event: Shape, count: number, seed: Key): Directions {
  const draw = (name: string, shape: Shape): NdArray =>
    normal(fold(seed, name), shape, { dtype: "float64" });
  const y = phi.forward(input("x", [count, ...event], "float64"), input("t", [count], "float64"));
  return [
    uniform(fold(seed, "t"), [count], { low: 0.1, high: 1, dtype: "float64" }),
    draw("v", [count, ...event]),
    draw("s", [count, ...event]),
    draw("w", y.shape),
    draw("scalar", [count]),
    draw("diagonal", [count, ...event]),
    draw("matrix", [count, sizeOf(event), 2]),
  ];
}

/**
 * Corners of the cube |x| ≤ extreme: all +, all −, alternating, one coordinate alone, and random
 * signs.
 */
export function patterns(event: Shape, count: number, extreme: number, seed: Key): NdArray {
  const n = sizeOf(event);
  const { data } = rademacher(seed, [count, n], { dtype: "float64" });
  const regular: ((i: number) => number)[] = [
    () => 1,
    () => -1,
    (i) => (i % 2 === 0 ? 1 : -1),
    (i) => (i % 2 === 0 ? -1 : 1),
    (i) => (i === 0 ? 1 : 0),
    (i) => (i === 0 ? -1 : 0),
    (i) => (i === n - 1 ? 1 : 0),
    (i) => (i === n - 1 ? -1 : 0),
  ];
  regular.slice(0, count).forEach((sign, row) => {
    for (let i = 0; i < n; i++) data[row * n + i] = sign(i);
  });
  return { shape: [count, ...event], dtype: "float64", data: data.map((v) => v * extreme) };
}

/** The rows of an array, repeated `times` times. */
export const repeated = ({ shape, dtype, data }: NdArray, times: number): NdArray => {
  const out = new Float64Array(times * data.length);
  for (let k = 0; k < times; k++) out.set(toFloat64(data), k * data.length);
  return { shape: [times * shape[0], ...shape.slice(1)], dtype, data: out };
};

/**
 * Points, followed by `times` copies of them, each moved by a few units in the last place of its
 * largest coordinate (or of 1). Digits of a result that change between copies are rounding errors.
 */
export function withMoved(points: NdArray, times: number, seed: Key): NdArray {
  const all = repeated(points, times + 1);
  const data = all.data as Float64Array;
  const size = data.length / all.shape[0];
  const signs = rademacher(seed, all.shape, { dtype: "float64" }).data;
  for (let row = points.shape[0]; row < all.shape[0]; row++) {
    const event = data.subarray(row * size, (row + 1) * size);
    const unit = Number.EPSILON * event.reduce((most, v) => Math.max(most, Math.abs(v)), 1);
    for (let i = 0; i < size; i++) event[i] += 4 * unit * signs[row * size + i];
  }
  return all;
}

/** The points, each number changed by the relative amount `share` with a random sign. */
export function perturb({ data, ...rest }: NdArray, share: number, seed: Key): NdArray {
  const signs = rademacher(seed, rest.shape, { dtype: "float64" }).data;
  return { ...rest, data: (data as Float64Array).map((v, i) => v * (1 + share * signs[i])) };
}

/** The values of a graph at a batch of points. */
export interface Found<Y> {
  readonly x: NdArray;
  readonly y: NdArray;
  readonly t: NdArray;
  readonly result: Arrays<Y>;
}

/** f at each batch of points z, or at from(z), in one compiled graph. */
export async function evaluateAt<Y>(
  phi: Bijector,
  from: Bijector | undefined,
  random: Directions,
  where: { readonly device: string; readonly type: FloatType },
  batches: readonly NdArray[],
  f: (probe: Probe) => Y,
): Promise<Found<Y>[]> {
  const typed = (a: NdArray): NdArray => ({
    ...a,
    dtype: where.type,
    data: convert(toFloat64(a.data), where.type),
  });
  const graph = (...[z, t, v, s, w, scalar, diagonal, matrix]: Tensor[]) => {
    const x = from ? from.forward(z) : z;
    const probe: Probe = {
      x,
      t,
      v,
      s,
      w,
      scalar: { kind: "scalar", value: scalar },
      diagonal: { kind: "diagonal", value: diagonal },
      matrix: { kind: "matrix", value: matrix },
    };
    return { x, y: phi.forward(x, t), t, result: f(probe) };
  };
  const shapes = [batches[0], ...random].map((a) => a.shape);
  const compiled = compile(graph, shapes, { ...where, threads: 1, once: true });
  const found: Found<Y>[] = [];
  try {
    for (const z of batches) found.push((await compiled(...[z, ...random].map(typed))) as Found<Y>);
  } finally {
    await compiled.dispose();
  }
  return found;
}

/**
 * Scales each point to the greatest multiple at which the condition number of J is at most `limit`.
 */
export async function withinCondition(
  points: NdArray,
  limit: number,
  jacobians: (points: readonly NdArray[]) => Promise<Found<Tensor>[]>,
): Promise<NdArray> {
  const factors = [1, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1];
  const at = toFloat64(points.data);
  const found = await jacobians(factors.map((f) => ({ ...points, data: at.map((v) => v * f) })));
  const count = points.shape[0];
  const size = at.length / count;
  const out = at.slice();
  for (let row = 0; row < count; row++) {
    const fits = factors.findIndex((_, k) => {
      const { shape, data } = found[k].result;
      const [m, n] = shape.slice(-2);
      return conditionOf(toFloat64(data).subarray(row * m * n, (row + 1) * m * n), m, n) < limit;
    });
    const factor = factors[fits === -1 ? factors.length - 1 : fits];
    for (let i = 0; i < size; i++) out[row * size + i] *= factor;
  }
  return { ...points, data: out };
}

/**
 * The greatest diagonal entry (or 1) divided by the smallest one of R in J = QR, with the longest
 * columns orthogonalised first.
 */
function conditionOf(j: Float64Array, m: number, n: number): number {
  const columns = Array.from({ length: n }, (_, k) =>
    Array.from({ length: m }, (_, i) => j[i * n + k]),
  );
  const lengths: number[] = [];
  while (columns.length > 0) {
    const norms = columns.map((c) => Math.hypot(...c));
    const longest = norms.indexOf(Math.max(...norms));
    if (longest === -1) return Number.POSITIVE_INFINITY;
    const [pivot] = columns.splice(longest, 1);
    const size = norms[longest];
    lengths.push(size);
    for (const c of columns) {
      const along = c.reduce((s, v, i) => s + v * pivot[i], 0) / (size * size);
      c.forEach((v, i) => {
        c[i] = v - along * pivot[i];
      });
    }
  }
  // y is of order 1 even if all of J is tiny, and the rounding is that of y.
  return Math.max(1, lengths[0]) / (lengths.at(-1) as number);
}
