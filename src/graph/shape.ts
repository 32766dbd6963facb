/**
 * Operations that move numbers without changing them. Each is linear, and its derivative is the move backwards:
 * reshape ↔ reshape, transpose ↔ inverse transpose, expand ↔ sum, slice ↔ pad, concat ↔ slices.
 */
import { onnxType } from "./emitter.ts";
import { fail } from "./error.ts";
import { broadcastOffsets, offsets } from "./loops.ts";
import {
  broadcastShapes,
  convert,
  type DType,
  isFloat,
  normaliseAxis,
  type Shape,
  sameShape,
  showShape,
  sizeOf,
  stridesOf,
  toFloat64,
} from "./ndarray.ts";
import { unbroadcast } from "./reduce.ts";
import { asTensor, fill, is, type Make, type Operand, primitive, Tensor, uniformValue } from "./tensor.ts";

const pick = (from: Float64Array, at: Int32Array): Float64Array => {
  const out = new Float64Array(at.length);
  for (let i = 0; i < at.length; i++) out[i] = from[at[i]];
  return out;
};

const reshapeNode: Make<{ shape: Shape }> = primitive<{ shape: Shape }>({
  name: "reshape",
  infer: ([x], { shape }) => ({ shape, dtype: x.dtype }),
  vjp: (g, { inputs: [x] }) => reshape(g, x.shape),
  simplify: ({ inputs: [x], shape }) => {
    if (sameShape(x.shape, shape)) return x;
    if (is(x, reshapeNode)) return reshapeNode([x.inputs[0]], { shape });
    // New leading axes that the reshape leaves alone can be repeated afterwards.
    const before = unexpanded(x);
    const lead = before ? x.shape.length - before.shape.length : 0;
    if (!before || lead <= 0 || !sameShape(before.shape, x.shape.slice(lead))) return undefined;
    return sameShape(x.shape.slice(0, lead), shape.slice(0, lead))
      ? expand(reshape(before, shape.slice(lead)), shape)
      : undefined;
  },
  emit: ({ inputs: [x], shape }, [name], emitter) => emitter.reshape(name, x.shape, shape),
  evaluate: (_, [x]) => x,
});

/** The same numbers in another shape; one size may be −1 and is then what remains. */
export function reshape(x: Operand, shape: Shape): Tensor {
  const t = asTensor(x);
  const known = shape.reduce((n, d) => (d === -1 ? n : n * d), 1);
  const full = shape.map((d) => (d === -1 ? sizeOf(t.shape) / known : d));
  if (
    shape.filter((d) => d === -1).length > 1 ||
    sizeOf(full) !== sizeOf(t.shape) ||
    full.some((d) => !Number.isInteger(d) || d < 0)
  )
    fail(
      "shape",
      `reshape: ${showShape(t.shape)} holds ${sizeOf(t.shape)} numbers and cannot become ${showShape(shape)}`,
      "choose sizes whose product is the same, with at most one −1",
    );
  return reshapeNode([t], { shape: full });
}

const transposeNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "transpose",
  infer: ([x], { axes }) => ({ shape: axes.map((a) => x.shape[a]), dtype: x.dtype }),
  vjp: (g, { attributes: { axes } }) => {
    const back = new Array<number>(axes.length);
    axes.forEach((a, i) => {
      back[a] = i;
    });
    return transpose(g, back);
  },
  simplify: ({ inputs: [x], attributes: { axes }, shape }) => {
    if (axes.every((a, i) => a === i)) return x;
    if (is(x, transposeNode)) return transposeNode([x.inputs[0]], { axes: axes.map((a) => x.attributes.axes[a]) });
    // Axes of size 1 may move freely: if the others keep their order, it is a reshape.
    const real = axes.filter((a) => x.shape[a] !== 1);
    return real.every((a, i) => i === 0 || real[i - 1] < a) ? reshape(x, shape) : undefined;
  },
  emit: ({ attributes: { axes } }, [x], emitter) => emitter.node("Transpose", [x], { perm: axes }),
  evaluate: ({ inputs: [x], attributes: { axes }, shape }, [data]) => {
    const strides = stridesOf(x.shape);
    return pick(
      data,
      offsets(
        shape,
        axes.map((a) => strides[a]),
      ),
    );
  },
});

/** Axes in a new order; without one, the last two change places. */
export function transpose(x: Operand, axes?: readonly number[]): Tensor {
  const t = asTensor(x);
  const rank = t.shape.length;
  if (axes === undefined && rank < 2)
    fail(
      "shape",
      `transpose: a tensor of shape ${showShape(t.shape)} has no last two axes`,
      "give the axes, or expandDims first",
    );
  const order =
    axes?.map((a) => normaliseAxis(a, rank, "transpose")) ??
    [...Array(rank).keys()].map((i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
  if (order.length !== rank || new Set(order).size !== rank)
    fail("shape", `transpose: axes ${showShape(order)} are no permutation of ${rank} axes`, "name every axis once");
  return transposeNode([t], { axes: order });
}

/** The tensor under a swap of the last two axes, if this is one: lets a product use it in place. */
export function swapped(t: Tensor): Tensor | undefined {
  if (!is(t, transposeNode)) return undefined;
  const { axes } = t.attributes;
  const rank = axes.length;
  return axes.every((a, i) => a === (i < rank - 2 ? i : 2 * rank - 3 - i)) ? t.inputs[0] : undefined;
}

const expandNode: Make<{ shape: Shape }> = primitive<{ shape: Shape }>({
  name: "expand",
  infer: ([x], { shape }) => {
    const to = broadcastShapes(x.shape, shape, "expand");
    if (!sameShape(to, shape))
      fail(
        "shape",
        `expand: ${showShape(x.shape)} does not fit into ${showShape(shape)}`,
        "expand only axes of size 1 or new leading axes",
      );
    return { shape, dtype: x.dtype };
  },
  vjp: (g, { inputs: [x] }) => unbroadcast(g, x.shape),
  simplify: ({ inputs: [x], shape }) => {
    if (sameShape(x.shape, shape)) return x;
    if (is(x, expandNode)) return expandNode([x.inputs[0]], { shape });
    // Leading axes of size 1 come with the expansion: [1, n] → [m, n] is [n] → [m, n].
    const extra = x.shape.findIndex((d) => d !== 1);
    if (x.shape[0] === 1 && extra > 0) return expandNode([reshape(x, x.shape.slice(extra))], { shape });
    const value = uniformValue(x);
    return value !== undefined && sizeOf(shape) <= 4096 ? fill(shape, value, x.dtype) : undefined;
  },
  emit: (node, [x], emitter) => emitter.node("Expand", [x, emitter.int64(node.shape)]),
  evaluate: ({ inputs: [x], shape }, [data]) => pick(data, broadcastOffsets(x.shape, shape)),
});

/** Repeats along new leading axes and axes of size 1. */
export const expand = (x: Operand, shape: Shape): Tensor => expandNode([asTensor(x)], { shape });

/**
 * An elementwise operation on expanded operands is the expansion of the operation: `make` gets operands without the
 * expansions that broadcasting makes anyway, and its result is expanded where all of them repeated.
 */
export function outsideExpand(
  inputs: readonly Tensor[],
  shape: Shape,
  make: (inputs: readonly Tensor[]) => Tensor,
): Tensor | undefined {
  const slim = inputs.map((t) => (is(t, expandNode) ? t.inputs[0] : t));
  if (slim.every((t, i) => t === inputs[i])) return undefined;
  return expand(make(slim), shape);
}

/** The tensor before an expansion, with the shape it was expanded from. */
export const unexpanded = (t: Tensor): Tensor | undefined => (is(t, expandNode) ? t.inputs[0] : undefined);

const sliceNode: Make<{ starts: readonly number[]; stops: readonly number[]; steps: readonly number[] }> = primitive<{
  starts: readonly number[];
  stops: readonly number[];
  steps: readonly number[];
}>({
  name: "slice",
  infer: ([x], { starts, stops, steps }) => ({
    shape: starts.map((s, i) => Math.max(0, Math.ceil((stops[i] - s) / steps[i]))),
    dtype: x.dtype,
  }),
  vjp: (g, { inputs: [x], attributes: { starts, steps }, shape }) => {
    // Spread the cotangent by the steps (d·(s − 1) zeros between entries), then pad to where the slice began.
    const wide = dilate(g, steps);
    const after = x.shape.map((d, i) => d - starts[i] - ((shape[i] - 1) * steps[i] + 1));
    return pad(wide, starts, after);
  },
  simplify: ({ inputs: [x], attributes: { starts, steps }, shape }) =>
    sameShape(x.shape, shape) && steps.every((s) => s === 1) && starts.every((s) => s === 0) ? x : undefined,
  emit: ({ inputs: [x], attributes: { starts, stops, steps } }, [name], emitter) => {
    const used = x.shape.map((_, i) => i).filter((i) => starts[i] !== 0 || stops[i] !== x.shape[i] || steps[i] !== 1);
    const select = (values: readonly number[]): string => emitter.int64(used.map((i) => values[i]));
    const ends = steps.every((s) => s === 1) ? [] : [select(steps)];
    return emitter.node("Slice", [name, select(starts), select(stops), emitter.int64(used), ...ends]);
  },
  evaluate: ({ inputs: [x], attributes: { starts, steps }, shape }, [data]) => {
    const strides = stridesOf(x.shape);
    const start = starts.reduce((at, s, i) => at + s * strides[i], 0);
    return pick(
      data,
      offsets(
        shape,
        strides.map((s, i) => s * steps[i]),
        start,
      ),
    );
  },
});

/**
 * Part of every axis: `[start, stop]` or `[start, stop, step]` with step ≥ 1, `null` for a whole axis.
 * Axes that are not named stay whole; negative positions count from the end.
 */
export function slice(
  x: Operand,
  ...ranges: readonly (readonly [number, number] | readonly [number, number, number] | null)[]
): Tensor {
  const t = asTensor(x);
  if (ranges.length > t.shape.length)
    fail(
      "shape",
      `slice: ${ranges.length} ranges for a tensor of shape ${showShape(t.shape)}`,
      "give at most one range an axis",
    );
  const starts: number[] = [];
  const stops: number[] = [];
  const steps: number[] = [];
  t.shape.forEach((size, axis) => {
    const [start, stop, step = 1] = ranges[axis] ?? [0, size];
    const from = start < 0 ? start + size : start;
    const to = stop < 0 ? stop + size : stop;
    if (!([from, to, step].every(Number.isInteger) && step >= 1 && from >= 0 && from < to && to <= size))
      fail(
        "shape",
        `slice: [${start}, ${stop}, ${step}] takes nothing from axis ${axis} of size ${size}`,
        "use 0 ≤ start < stop ≤ size and step ≥ 1",
      );
    starts.push(from);
    stops.push(to);
    steps.push(step);
  });
  return sliceNode([t], { starts, stops, steps });
}

/** One entry of an axis, which disappears. */
export function at(x: Operand, index: number, axis = 0): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "at");
  const i = index < 0 ? index + t.shape[a] : index;
  if (!Number.isInteger(i) || i < 0 || i >= t.shape[a])
    fail("shape", `at: index ${index} is outside axis ${axis} of ${showShape(t.shape)}`, "keep it within the axis");
  return squeeze(slice(t, ...t.shape.map((_, k) => (k === a ? ([i, i + 1] as const) : null))), a);
}

const padNode: Make<{ before: readonly number[]; after: readonly number[] }> = primitive<{
  before: readonly number[];
  after: readonly number[];
}>({
  name: "pad",
  infer: ([x], { before, after }) => ({ shape: x.shape.map((d, i) => d + before[i] + after[i]), dtype: x.dtype }),
  vjp: (g, { inputs: [x], attributes: { before } }) =>
    slice(g, ...x.shape.map((d, i) => [before[i], before[i] + d] as const)),
  simplify: ({ inputs: [x], attributes: { before, after } }) =>
    [...before, ...after].every((p) => p === 0) ? x : undefined,
  emit: ({ attributes: { before, after } }, [x], emitter) =>
    emitter.node("Pad", [x, emitter.int64([...before, ...after])], { mode: "constant" }),
  evaluate: ({ inputs: [x], attributes: { before }, shape }, [data]) => {
    const out = new Float64Array(sizeOf(shape));
    const strides = stridesOf(shape);
    const where = offsets(
      x.shape,
      strides,
      before.reduce((at, b, i) => at + b * strides[i], 0),
    );
    for (let i = 0; i < where.length; i++) out[where[i]] = data[i];
    return out;
  },
});

/**
 * a + b, where both are padded to one size and one begins where the other ends, is their concatenation, padded. The
 * gradient of a tensor that is used piece by piece comes as such sums, each term as large as the whole.
 */
export function joinedPads(a: Tensor, b: Tensor): Tensor | undefined {
  if (!is(a, padNode) || !is(b, padNode)) return undefined;
  const [p, q] = [a.inputs[0].shape, b.inputs[0].shape];
  const [from, to] = [a.attributes.before, b.attributes.before];
  const apart = from.flatMap((_, i) => (from[i] === to[i] && p[i] === q[i] ? [] : [i]));
  if (apart.length !== 1) return undefined;
  const [axis] = apart;
  if (to[axis] + q[axis] === from[axis]) return joinedPads(b, a);
  if (from[axis] + p[axis] !== to[axis]) return undefined;
  return pad(concat([a.inputs[0], b.inputs[0]], axis), from, b.attributes.after);
}

/** Zeros before and after every axis. */
export function pad(x: Operand, before: readonly number[], after: readonly number[]): Tensor {
  const t = asTensor(x);
  if (
    before.length !== t.shape.length ||
    after.length !== t.shape.length ||
    [...before, ...after].some((p) => !Number.isInteger(p) || p < 0)
  )
    fail(
      "shape",
      `pad: ${showShape(before)} before and ${showShape(after)} after do not fit ${showShape(t.shape)}`,
      "give a count ≥ 0 for every axis",
    );
  return padNode([t], { before, after });
}

/** s − 1 zeros between neighbours along every axis with step s: [n] → [(n − 1)s + 1]. */
function dilate(x: Tensor, steps: readonly number[]): Tensor {
  return steps.reduce((t, step, axis) => {
    if (step === 1) return t;
    const n = t.shape[axis];
    const apart = expandDims(t, axis + 1);
    const zeros = apart.shape.map((_, i) => (i === axis + 1 ? step - 1 : 0));
    const wide = reshape(
      pad(
        apart,
        zeros.map(() => 0),
        zeros,
      ),
      t.shape.map((d, i) => (i === axis ? n * step : d)),
    );
    return slice(wide, ...t.shape.map((_, i) => (i === axis ? ([0, (n - 1) * step + 1] as const) : null)));
  }, x);
}

const flipNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "flip",
  infer: ([x]) => x,
  vjp: (g, { attributes: { axes } }) => flip(g, axes),
  simplify: ({ inputs: [x], attributes: { axes } }) => (axes.every((a) => x.shape[a] === 1) ? x : undefined),
  emit: ({ attributes: { axes } }, [x], emitter) => {
    const all = (v: number): string => emitter.int64(axes.map(() => v));
    return emitter.node("Slice", [x, all(-1), all(-(2 ** 31)), emitter.int64(axes), all(-1)]);
  },
  evaluate: ({ inputs: [x], attributes: { axes } }, [data]) => {
    const strides = stridesOf(x.shape);
    const start = axes.reduce((at, a) => at + (x.shape[a] - 1) * strides[a], 0);
    return pick(
      data,
      offsets(
        x.shape,
        strides.map((s, a) => (axes.includes(a) ? -s : s)),
        start,
      ),
    );
  },
});

/** The given axes backwards. */
export function flip(x: Operand, axes: readonly number[]): Tensor {
  const t = asTensor(x);
  return flipNode([t], { axes: axes.map((a) => normaliseAxis(a, t.shape.length, "flip")) });
}

const concatNode: Make<{ axis: number }> = primitive<{ axis: number }>({
  name: "concat",
  infer: (inputs, { axis }) => {
    const [first] = inputs;
    for (const t of inputs) {
      if (t.dtype !== first.dtype) fail("type", `concat: mixes ${first.dtype} and ${t.dtype}`, "cast them to one type");
      if (t.shape.length !== first.shape.length || t.shape.some((d, i) => i !== axis && d !== first.shape[i]))
        fail(
          "shape",
          `concat: shapes ${showShape(first.shape)} and ${showShape(t.shape)} differ off axis ${axis}`,
          "make all other axes equal",
        );
    }
    const total = inputs.reduce((n, t) => n + t.shape[axis], 0);
    return { shape: first.shape.map((d, i) => (i === axis ? total : d)), dtype: first.dtype };
  },
  vjp: (g, { inputs, attributes: { axis } }, i) => {
    const start = inputs.slice(0, i).reduce((n, t) => n + t.shape[axis], 0);
    const range = [start, start + inputs[i].shape[axis]] as const;
    return slice(g, ...g.shape.map((_, a) => (a === axis ? range : null)));
  },
  simplify: ({ inputs, attributes: { axis } }) => {
    if (inputs.length === 1) return inputs[0];
    const nested = (t: Tensor): boolean => is(t, concatNode) && t.attributes.axis === axis;
    return inputs.some(nested)
      ? concatNode(
          inputs.flatMap((t) => (nested(t) ? t.inputs : [t])),
          { axis },
        )
      : undefined;
  },
  emit: ({ attributes: { axis } }, inputs, emitter) => emitter.node("Concat", inputs, { axis }),
  evaluate: ({ inputs, attributes: { axis }, shape }, data) => {
    const out = new Float64Array(sizeOf(shape));
    const strides = stridesOf(shape);
    let start = 0;
    inputs.forEach((t, k) => {
      const where = offsets(t.shape, strides, start * strides[axis]);
      for (let i = 0; i < where.length; i++) out[where[i]] = data[k][i];
      start += t.shape[axis];
    });
    return out;
  },
});

/** Parts as tensors; bare numbers take the type of the first tensor among them. */
function asTensorList(parts: readonly Operand[]): Tensor[] {
  const like = parts.find((p) => p instanceof Tensor) as Tensor | undefined;
  return parts.map((p) => asTensor(p, like?.dtype));
}

export function concat(parts: readonly Operand[], axis = -1): Tensor {
  if (parts.length === 0) fail("usage", "concat: nothing to join", "give at least one tensor");
  const tensors = asTensorList(parts);
  return concatNode(tensors, { axis: normaliseAxis(axis, tensors[0].shape.length, "concat") });
}

/** Joins along a new axis. */
export function stack(parts: readonly Operand[], axis = 0): Tensor {
  if (parts.length === 0) fail("usage", "stack: nothing to join", "give at least one tensor");
  const tensors = asTensorList(parts);
  const other = tensors.find((t) => !sameShape(t.shape, tensors[0].shape));
  if (other)
    fail(
      "shape",
      `stack: shapes ${showShape(tensors[0].shape)} and ${showShape(other.shape)} differ`,
      "stack tensors of one shape, or use concat",
    );
  const a = normaliseAxis(axis, tensors[0].shape.length + 1, "stack");
  return concat(
    tensors.map((t) => expandDims(t, a)),
    a,
  );
}

/** A new axis of size 1 before position `axis`. */
export function expandDims(x: Operand, axis: number): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length + 1, "expandDims");
  return reshape(t, [...t.shape.slice(0, a), 1, ...t.shape.slice(a)]);
}

/** Without an axis of size 1. */
export function squeeze(x: Operand, axis: number): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "squeeze");
  if (t.shape[a] !== 1)
    fail(
      "shape",
      `squeeze: axis ${axis} of ${showShape(t.shape)} has size ${t.shape[a]}`,
      "squeeze only axes of size 1",
    );
  return reshape(t, t.shape.toSpliced(a, 1));
}

/** Axes a and b exchanged. */
export function swapAxes(x: Operand, a: number, b: number): Tensor {
  const t = asTensor(x);
  const rank = t.shape.length;
  const [i, j] = [normaliseAxis(a, rank, "swapAxes"), normaliseAxis(b, rank, "swapAxes")];
  return transpose(
    t,
    [...Array(rank).keys()].map((k) => (k === i ? j : k === j ? i : k)),
  );
}

const castNode: Make<{ to: DType }> = primitive<{ to: DType }>({
  name: "cast",
  infer: ([x], { to }) => ({ shape: x.shape, dtype: to }),
  vjp: (g, { inputs: [x] }) => (isFloat(x.dtype) ? cast(g, x.dtype) : undefined),
  simplify: ({ inputs: [x], attributes: { to } }) => (x.dtype === to ? x : undefined),
  emit: ({ attributes: { to } }, [x], emitter) => emitter.node("Cast", [x], { to: onnxType[to] }),
  evaluate: ({ attributes: { to } }, [x]) => {
    if (to === "float32") return toFloat64(convert(x, "float32"));
    if (to === "bool") return x.map((v) => (v === 0 ? 0 : 1));
    return to === "float64" ? x : x.map(Math.trunc);
  },
});

/** Another element type. Floats become integers by truncation. */
export const cast = (x: Operand, to: DType): Tensor => castNode([asTensor(x)], { to });

const stopNode: Make = primitive({
  name: "stopGradient",
  infer: ([x]) => x,
  simplify: ({ inputs: [x] }) => x,
  emit: (_, [x], emitter) => emitter.node("Identity", [x]),
  evaluate: (_, [x]) => x,
});

/** The same value; derivatives do not pass. Simplified away once differentiation is done. */
export const stopGradient = (x: Operand): Tensor => stopNode([asTensor(x)], {});

const variableNode: Make = primitive({
  name: "variable",
  infer: ([x]) => x,
  vjp: (g) => g,
  simplify: ({ inputs: [x] }) => x,
  emit: (_, [x], emitter) => emitter.node("Identity", [x]),
  evaluate: (_, [x]) => x,
});

/** A fresh node with the same value: what a derivative is taken with respect to, apart from other uses of `x`. */
export const variable = (x: Operand): Tensor => variableNode([asTensor(x)], {});

/** 0, 1, … n−1 */
export const iota = (n: number, dtype: DType = "int64"): Tensor =>
  asTensor({
    shape: [n],
    dtype,
    data: convert(
      Float64Array.from({ length: n }, (_, i) => i),
      dtype,
    ),
  });

/** The n×n identity matrix. */
export const eye = (n: number, dtype: DType = "float32"): Tensor =>
  asTensor({
    shape: [n, n],
    dtype,
    data: convert(
      Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
      dtype,
    ),
  });

/** Splits an axis into equal parts. */
export function split(x: Operand, parts: number, axis = -1): Tensor[] {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "split");
  const size = t.shape[a] / parts;
  if (!Number.isInteger(size) || !Number.isInteger(parts) || parts < 1)
    fail(
      "shape",
      `split: axis ${axis} of ${showShape(t.shape)} does not divide into ${parts}`,
      "choose a divisor of its size",
    );
  return Array.from({ length: parts }, (_, k) =>
    slice(t, ...t.shape.map((_, i) => (i === a ? ([k * size, (k + 1) * size] as const) : null))),
  );
}
