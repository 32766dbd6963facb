/**
 * Parts of tensors. Each operation is linear, and its derivative is another one: slice ↔ pad, flip
 * ↔ flip.
 */
import { fail } from "./error.ts";
import { offsets, pick } from "./loops.ts";
import { normaliseAxis, sameShape, showShape, sizeOf, stridesOf } from "./ndarray.ts";
import { expandDims, reshape, squeeze } from "./shape.ts";
import { asTensor, type Make, type Operand, primitive, type Tensor } from "./tensor.ts";

export const sliceNode: Make<{
  starts: readonly number[];
  stops: readonly number[];
  steps: readonly number[];
}> = primitive<{
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
    // Dilates the cotangent by the steps (s − 1 zeros between entries), then pads it to the start
    // of the slice.
    const wide = dilate(g, steps);
    const after = x.shape.map((d, i) => d - starts[i] - dilated(shape[i], steps[i]));
    return pad(wide, starts, after);
  },
  simplify: ({ inputs: [x], attributes: { starts, steps }, shape }) =>
    sameShape(x.shape, shape) && steps.every((s) => s === 1) && starts.every((s) => s === 0)
      ? x
      : undefined,
  batch: ({ attributes: { starts, stops, steps } }, [x]) =>
    sliceNode([x], {
      starts: [0, ...starts],
      stops: [x.shape[0], ...stops],
      steps: [1, ...steps],
    }),
  emit: ({ inputs: [x], attributes: { starts, stops, steps } }, [name], emitter) => {
    const used = x.shape
      .map((_, i) => i)
      .filter((i) => starts[i] !== 0 || stops[i] !== x.shape[i] || steps[i] !== 1);
    const select = (values: readonly number[]): string => emitter.int64(used.map((i) => values[i]));
    const ends = steps.every((s) => s === 1) ? [] : [select(steps)];
    return emitter.node("Slice", [
      name,
      select(starts),
      select(stops),
      emitter.int64(used),
      ...ends,
    ]);
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
 * Slices every axis: `[start, stop]` or `[start, stop, step]` with step ≥ 1, or `null` for the
 * whole axis. Axes without a range are not sliced; negative positions count from the end.
 *
 * @throws DiffeoError of kind `shape` if a range is empty or outside its axis
 * @example
 * slice(x, null, [0, -1]); // all rows, without the last column
 */
export function slice(
  x: Operand,
  ...ranges: readonly (readonly [number, number] | readonly [number, number, number] | null)[]
): Tensor {
  const t = asTensor(x);
  if (ranges.length > t.shape.length)
    fail(
      "shape",
      `slice: ${ranges.length} ranges are given for a tensor of shape ${showShape(t.shape)}`,
      "give at most one range per axis",
    );
  const starts: number[] = [];
  const stops: number[] = [];
  const steps: number[] = [];
  t.shape.forEach((size, axis) => {
    const [start, stop, step = 1] = ranges[axis] ?? [0, size];
    const from = start < 0 ? start + size : start;
    const to = stop < 0 ? stop + size : stop;
    const something = from < to || (from === to && size === 0); // an empty axis is taken whole
    if (
      !(
        [from, to, step].every(Number.isInteger) &&
        step >= 1 &&
        from >= 0 &&
        something &&
        to <= size
      )
    )
      fail(
        "shape",
        `slice: [${start}, ${stop}, ${step}] selects nothing from axis ${axis} of size ${size}`,
        "use 0 ≤ start < stop ≤ size and step ≥ 1",
      );
    starts.push(from);
    stops.push(to);
    steps.push(step);
  });
  return sliceNode([t], { starts, stops, steps });
}

/** Entries start … stop − 1 of one axis; may be empty. */
export function part(t: Tensor, axis: number, start: number, stop: number): Tensor {
  return sliceNode([t], {
    starts: t.shape.map((_, a) => (a === axis ? start : 0)),
    stops: t.shape.with(axis, stop),
    steps: t.shape.map(() => 1),
  });
}

/** Selects one entry of an axis and removes the axis. */
export function at(x: Operand, index: number, axis = 0): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "at");
  const i = index < 0 ? index + t.shape[a] : index;
  if (!Number.isInteger(i) || i < 0 || i >= t.shape[a])
    fail(
      "shape",
      `at: index ${index} is outside axis ${axis} of ${showShape(t.shape)}`,
      "use an index within the axis",
    );
  return squeeze(part(t, a, i, i + 1), a);
}

export const padNode: Make<{ before: readonly number[]; after: readonly number[] }> = primitive<{
  before: readonly number[];
  after: readonly number[];
}>({
  name: "pad",
  infer: ([x], { before, after }) => ({
    shape: x.shape.map((d, i) => d + before[i] + after[i]),
    dtype: x.dtype,
  }),
  vjp: (g, { inputs: [x], attributes: { before } }) =>
    sliceNode([g], {
      starts: before,
      stops: x.shape.map((d, i) => before[i] + d),
      steps: x.shape.map(() => 1),
    }),
  simplify: ({ inputs: [x], attributes: { before, after } }) =>
    [...before, ...after].every((p) => p === 0) ? x : undefined,
  batch: ({ attributes: { before, after } }, [x]) =>
    padNode([x], { before: [0, ...before], after: [0, ...after] }),
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

/** Pads every axis with zeros before and after it. */
export function pad(x: Operand, before: readonly number[], after: readonly number[]): Tensor {
  const t = asTensor(x);
  if (
    before.length !== t.shape.length ||
    after.length !== t.shape.length ||
    [...before, ...after].some((p) => !Number.isInteger(p) || p < 0)
  )
    fail(
      "shape",
      `pad: ${showShape(before)} before and ${showShape(after)} after do not match ` +
        `${showShape(t.shape)}`,
      "give a count ≥ 0 for every axis",
    );
  return padNode([t], { before, after });
}

/** The size of n entries with s − 1 zeros between neighbours. */
const dilated = (n: number, s: number): number => Math.max(0, (n - 1) * s + 1);

/** s − 1 zeros between neighbours along every axis with step s. */
function dilate(x: Tensor, steps: readonly number[]): Tensor {
  return steps.reduce((t, step, axis) => {
    if (step === 1) return t;
    const n = t.shape[axis];
    const expanded = expandDims(t, axis + 1);
    const zeros = expanded.shape.map((_, i) => (i === axis + 1 ? step - 1 : 0));
    const wide = reshape(
      pad(
        expanded,
        zeros.map(() => 0),
        zeros,
      ),
      t.shape.map((d, i) => (i === axis ? n * step : d)),
    );
    return part(wide, axis, 0, dilated(n, step));
  }, x);
}

const flipNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "flip",
  infer: ([x]) => x,
  vjp: (g, { attributes: { axes } }) => flip(g, axes),
  simplify: ({ inputs: [x], attributes: { axes } }) =>
    axes.every((a) => x.shape[a] === 1) ? x : undefined,
  batch: ({ attributes: { axes } }, [x]) => flipNode([x], { axes: axes.map((a) => a + 1) }),
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

/** Reverses one or several axes. */
export function flip(x: Operand, axes: number | readonly number[]): Tensor {
  const t = asTensor(x);
  const list = [axes].flat().map((a) => normaliseAxis(a, t.shape.length, "flip"));
  if (new Set(list).size !== list.length)
    fail(
      "shape",
      `flip: axes ${showShape([axes].flat())} of ${showShape(t.shape)} contain one twice`,
      "give every axis once",
    );
  return flipNode([t], { axes: list });
}
