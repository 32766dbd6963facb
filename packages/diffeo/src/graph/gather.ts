/**
 * Gathering at indices, and its adjoint, scattering with addition:
 *   take      y[…, j, …] = x[…, i_j, …]        one list of indices for an axis
 *   takeAlong y[…, j, …] = x[…, i[…, j, …], …]  an index for every entry
 * Negative indices count from the end of the axis, as in `at` and `slice`.
 */
import { add, mul } from "./arithmetic.ts";
import { repeated } from "./broadcast.ts";
import { fail } from "./error.ts";
import { reference } from "./evaluate.ts";
import { equal, less, where } from "./logic.ts";
import { type DType, isFloat, normaliseAxis, type Shape, showShape, sizeOf } from "./ndarray.ts";
import { expandDims, reshape, transpose } from "./shape.ts";
import {
  asTensor,
  constant,
  constantValue,
  type Make,
  type Operand,
  primitive,
  Tensor,
} from "./tensor.ts";
import { topological } from "./topological.ts";
import { cast, iota, requireSize } from "./value.ts";

function asIndices(indices: Operand, size: number, operation: string, least = -size): Tensor {
  const given = indices instanceof Tensor ? indices : asTensor(indices, "int32");
  if (given.dtype === "bool")
    fail("type", `${operation}: the indices are bool`, "give integers, or use `where` with bools");
  const t = isFloat(given.dtype) ? integersOf(given, operation) : given;
  for (const v of constantValue(t)?.data ?? [])
    if (v < least || v >= size)
      fail(
        "shape",
        `${operation}: index ${v} is outside 0 … ${size - 1}`,
        "indices count from 0; for indices from 1 use sub(index, 1)",
      );
  return t;
}

/** Converts constant floats that are integers, such as data, to indices. */
function integersOf(t: Tensor, operation: string): Tensor {
  if (topological([t]).some(({ op }) => op.name === "input"))
    return fail(
      "type",
      `${operation}: the indices are ${t.dtype}, not int32 or int64`,
      "cast them to int32",
    );
  const [data] = reference([t], new Map());
  const known = { shape: t.shape, dtype: t.dtype, data };
  const odd = known.data.find((v) => !Number.isInteger(Number(v)));
  if (odd !== undefined)
    fail("type", `${operation}: index ${odd} is not an integer`, "give integers of at least 0");
  return constant(known, "int32");
}

/** Indices counted from the start. */
const fromStart = (index: Float64Array, size: number): Float64Array =>
  index.map((i) => (i < 0 ? i + size : i));

/** Sizes before the axis, of the axis, and after it. */
export const aroundAxis = (shape: Shape, axis: number): [number, number, number] => [
  sizeOf(shape.slice(0, axis)),
  shape[axis],
  sizeOf(shape.slice(axis + 1)),
];

const takeNode: Make<{ axis: number }> = primitive<{ axis: number }>({
  name: "take",
  infer: ([x, i], { axis }) => ({
    shape: [...x.shape.slice(0, axis), ...i.shape, ...x.shape.slice(axis + 1)],
    dtype: x.dtype,
  }),
  vjp: (g, { inputs: [x, i], attributes: { axis } }, k) =>
    k === 0 ? scatterNode([g, i], { axis, size: x.shape[axis] }) : undefined,
  batch: batchOfTake,
  emit: ({ attributes: { axis } }, inputs, emitter) => emitter.node("Gather", inputs, { axis }),
  evaluate: ({ inputs: [x], attributes: { axis }, shape }, [data, index]) => {
    const [outer, size, inner] = aroundAxis(x.shape, axis);
    const from = fromStart(index, size);
    const out = new Float64Array(sizeOf(shape));
    for (let o = 0, at = 0; o < outer; o++)
      for (const i of from)
        for (let k = 0; k < inner; k++) out[at++] = data[(o * size + i) * inner + k];
    return out;
  },
});

/**
 * Converts indices [n, …] into an axis of each of n tensors to indices into one axis of size
 * n·size, the concatenated axes.
 */
function mergedIndices(i: Tensor, size: number): Tensor {
  const [n] = i.shape;
  const start = reshape(mul(iota(n, i.dtype), size), [n, ...i.shape.slice(1).map(() => 1)]);
  return add(where(less(i, 0), add(i, size), i), start);
}

/** first, first + 1, …: `count` numbers. */
const run = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, k) => first + k);

function batchOfTake(
  { inputs: [{ shape }, index], attributes: { axis } }: Tensor<{ axis: number }>,
  [x, i]: readonly Tensor[],
  [ofX, ofI]: readonly boolean[],
): Tensor {
  if (!ofI) return takeNode([x, i], { axis: axis + 1 });
  const [k, rest] = [index.shape.length, shape.length - axis - 1];
  if (!ofX) {
    // […before, n, …i, …after]: the batch moves to the front.
    const y = takeNode([x, i], { axis });
    return transpose(y, [axis, ...run(0, axis), ...run(axis + 1, k + rest)]);
  }
  const front = transpose(x, [0, axis + 1, ...run(1, axis), ...run(axis + 2, rest)]);
  const flat = reshape(front, [front.shape[0] * front.shape[1], ...front.shape.slice(2)]);
  // [n, …i, …before, …after]
  const y = takeNode([flat, mergedIndices(i, shape[axis])], { axis: 0 });
  return transpose(y, [0, ...run(k + 1, axis), ...run(1, k), ...run(k + 1 + axis, rest)]);
}

function batchOfScatter(
  { inputs: [, index], attributes: { axis, size }, shape }: Tensor<{ axis: number; size: number }>,
  inputs: readonly Tensor[],
  mapped: readonly boolean[],
): Tensor {
  if (!mapped[1]) return scatterNode(inputs, { axis: axis + 1, size });
  const [g, i] = repeated(inputs, mapped);
  const [n] = i.shape;
  const [k, rest] = [index.shape.length, shape.length - axis - 1];
  const front = transpose(g, [0, ...run(axis + 1, k), ...run(1, axis), ...run(axis + 1 + k, rest)]);
  const flat = scatterNode([front, mergedIndices(i, size)], { axis: 0, size: n * size });
  const y = reshape(flat, [n, size, ...flat.shape.slice(1)]); // [n, size, …before, …after]
  return transpose(y, [0, ...run(2, axis), 1, ...run(2 + axis, rest)]);
}

/** Gathers entries of an axis at indices. The axis is replaced by the axes of `indices`. */
export function take(x: Operand, indices: Operand, axis = 0): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "take");
  return takeNode([t, asIndices(indices, t.shape[a], "take")], { axis: a });
}

/** The adjoint of `take`: y[…, i_j, …] += g[…, j, …], into an axis of the given size. */
const scatterNode: Make<{ axis: number; size: number }> = primitive<{ axis: number; size: number }>(
  {
    name: "scatterAdd",
    infer: ([g, i], { axis, size }) => ({
      shape: [...g.shape.slice(0, axis), size, ...g.shape.slice(axis + i.shape.length)],
      dtype: g.dtype,
    }),
    vjp: (g, { inputs: [, i], attributes: { axis } }, k) =>
      k === 0 ? takeNode([g, i], { axis }) : undefined,
    batch: batchOfScatter,
    // ScatterND adds along leading axes only, so the axis is moved to the front and back.
    emit: ({ inputs: [g, i], attributes: { axis }, shape, dtype }, [updates, indices], emitter) => {
      const k = i.shape.length;
      const front = [...Array(k).keys()].map((a) => a + axis);
      const rest = [...g.shape.keys()].filter((a) => !front.includes(a));
      const moved =
        axis === 0 ? updates : emitter.node("Transpose", [updates], { perm: [...front, ...rest] });
      const frontShape = [shape[axis], ...shape.filter((_, a) => a !== axis)];
      const zeros = emitter.node("Expand", [emitter.scalar(0, dtype), emitter.int64(frontShape)]);
      const at64 = i.dtype === "int64" ? indices : emitter.node("Cast", [indices], { to: 7 });
      const column = emitter.reshape(at64, i.shape, [...i.shape, 1]);
      const out = emitter.node("ScatterND", [zeros, column, moved], { reduction: "add" });
      const back = shape.map((_, a) => (a === axis ? 0 : a < axis ? a + 1 : a));
      return axis === 0 ? out : emitter.node("Transpose", [out], { perm: back });
    },
    evaluate: ({ attributes: { axis, size }, shape }, [data, index]) => {
      const [outer, , inner] = aroundAxis(shape, axis);
      const into = fromStart(index, size);
      const out = new Float64Array(sizeOf(shape));
      for (let o = 0, at = 0; o < outer; o++)
        for (const i of into)
          for (let k = 0; k < inner; k++) out[(o * size + i) * inner + k] += data[at++];
      return out;
    },
  },
);

const takeAlongNode: Make<{ axis: number }> = primitive<{ axis: number }>({
  name: "takeAlong",
  infer: ([x, i], { axis }) => {
    if (x.shape.length !== i.shape.length || x.shape.some((d, a) => a !== axis && d !== i.shape[a]))
      fail(
        "shape",
        `takeAlong: indices ${showShape(i.shape)} and ${showShape(x.shape)} differ in axes ` +
          "other than " +
          `${axis}`,
        "expand one of them",
      );
    return { shape: i.shape, dtype: x.dtype };
  },
  vjp: (g, { inputs: [x, i], attributes: { axis } }, k) =>
    k === 0 ? scatterAlongNode([g, i], { axis, size: x.shape[axis] }) : undefined,
  batch: ({ attributes: { axis } }, inputs, mapped) =>
    takeAlongNode(repeated(inputs, mapped), { axis: axis + 1 }),
  emit: ({ attributes: { axis } }, inputs, emitter) =>
    emitter.node("GatherElements", inputs, { axis }),
  evaluate: ({ inputs: [x], attributes: { axis }, shape }, [data, index]) => {
    const [outer, size, inner] = aroundAxis(x.shape, axis);
    const count = shape[axis];
    const from = fromStart(index, size);
    const out = new Float64Array(sizeOf(shape));
    for (let o = 0, at = 0; o < outer; o++)
      for (let j = 0; j < count; j++)
        for (let k = 0; k < inner; k++, at++) out[at] = data[(o * size + from[at]) * inner + k];
    return out;
  },
});

/** Gathers entries along an axis, with separate indices for every position of the other axes. */
export function takeAlong(x: Operand, indices: Operand, axis = -1): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "takeAlong");
  return takeAlongNode([t, asIndices(indices, t.shape[a], "takeAlong")], { axis: a });
}

const scatterAlongNode: Make<{ axis: number; size: number }> = primitive<{
  axis: number;
  size: number;
}>({
  name: "scatterAlong",
  infer: ([g], { axis, size }) => ({
    shape: g.shape.map((d, a) => (a === axis ? size : d)),
    dtype: g.dtype,
  }),
  vjp: (g, { inputs: [, i], attributes: { axis } }, k) =>
    k === 0 ? takeAlongNode([g, i], { axis }) : undefined,
  batch: ({ attributes: { axis, size } }, inputs, mapped) =>
    scatterAlongNode(repeated(inputs, mapped), { axis: axis + 1, size }),
  emit: ({ attributes: { axis }, shape, dtype }, [updates, indices], emitter) => {
    const zeros = emitter.node("Expand", [emitter.scalar(0, dtype), emitter.int64(shape)]);
    return emitter.node("ScatterElements", [zeros, indices, updates], { axis, reduction: "add" });
  },
  evaluate: ({ inputs: [g], attributes: { axis, size }, shape }, [data, index]) => {
    const [outer, count, inner] = aroundAxis(g.shape, axis);
    const into = fromStart(index, size);
    const out = new Float64Array(sizeOf(shape));
    for (let o = 0, at = 0; o < outer; o++)
      for (let j = 0; j < count; j++)
        for (let k = 0; k < inner; k++, at++) out[(o * size + into[at]) * inner + k] += data[at];
    return out;
  },
});

/** One-hot encoding: 1 at the given class of a new last axis, else 0. */
export function oneHot(indices: Operand, classes: number, dtype: DType = "float32"): Tensor {
  requireSize(classes, "oneHot");
  const i = asIndices(indices, classes, "oneHot", 0);
  return cast(equal(expandDims(i, -1), iota(classes, i.dtype)), dtype);
}
