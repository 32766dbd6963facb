/**
 * Joins tensors along an axis (`concat`) or a new axis (`stack`); `split` is the inverse. The
 * derivative of a join is one slice per part.
 */
import { expand, repeated } from "./broadcast.ts";
import { fail } from "./error.ts";
import { offsets } from "./loops.ts";
import {
  broadcastShapes,
  normaliseAxis,
  type Shape,
  sameShape,
  showShape,
  sizeOf,
  stridesOf,
} from "./ndarray.ts";
import { expandDims } from "./shape.ts";
import { part } from "./slice.ts";
import { asTensor, is, type Make, type Operand, primitive, Tensor } from "./tensor.ts";
import { cast } from "./value.ts";

const concatNode: Make<{ axis: number }> = primitive<{ axis: number }>({
  name: "concat",
  infer: (inputs, { axis }) => {
    const [first] = inputs;
    for (const t of inputs) {
      if (t.dtype !== first.dtype)
        fail(
          "type",
          `concat: the tensors have the types ${first.dtype} and ${t.dtype}`,
          "cast them to one type",
        );
      if (
        t.shape.length !== first.shape.length ||
        t.shape.some((d, i) => i !== axis && d !== first.shape[i])
      )
        fail(
          "shape",
          `concat: shapes ${showShape(first.shape)} and ${showShape(t.shape)} differ in ` +
            `axes other than ${axis}`,
          "make all other axes equal",
        );
    }
    const total = inputs.reduce((n, t) => n + t.shape[axis], 0);
    return { shape: first.shape.map((d, i) => (i === axis ? total : d)), dtype: first.dtype };
  },
  vjp: (g, { inputs, attributes: { axis } }, i) => {
    const start = inputs.slice(0, i).reduce((n, t) => n + t.shape[axis], 0);
    return part(g, axis, start, start + inputs[i].shape[axis]);
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
  batch: ({ attributes: { axis } }, inputs, mapped) =>
    concatNode(repeated(inputs, mapped), { axis: axis + 1 }),
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

/** Parts as tensors; plain numbers take the type of the first tensor among them. */
function asTensorList(parts: readonly Operand[]): Tensor[] {
  const like = parts.find((p) => p instanceof Tensor) as Tensor | undefined;
  return parts.map((p) => asTensor(p, like?.dtype));
}

/**
 * Concatenates tensors along an axis, by default the last.
 *
 * @throws DiffeoError of kind `shape` if other axes differ, of kind `type` if types differ, of kind
 * `usage` without tensors
 */
export function concat(parts: readonly Operand[], axis = -1): Tensor {
  if (parts.length === 0) fail("usage", "concat: nothing to join", "give at least one tensor");
  const tensors = asTensorList(parts);
  return concatNode(tensors, { axis: normaliseAxis(axis, tensors[0].shape.length, "concat") });
}

/**
 * 16 MiB in float32. Allocators reuse blocks of this size, but request blocks above 32 MiB from the
 * system every time.
 */
const RUN = 2 ** 22;

/**
 * Splits a long vector that is joined from parts into a few vectors of neighbouring parts; returns
 * other tensors themselves.
 */
export function runsOf(t: Tensor): Tensor[] {
  if (!is(t, concatNode) || t.shape.length !== 1 || sizeOf(t.shape) <= RUN) return [t];
  const runs: Tensor[][] = [[]];
  let size = 0;
  for (const one of t.inputs) {
    size += sizeOf(one.shape);
    if (size > RUN && size > sizeOf(one.shape)) {
      runs.push([]);
      size = sizeOf(one.shape);
    }
    runs[runs.length - 1].push(one);
  }
  return runs.map((parts) => (parts.length === 1 ? parts[0] : concatNode(parts, { axis: 0 })));
}

/** Joins tensors of the same shape along a new axis. */
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

/**
 * A matrix whose columns are vectors or numbers that broadcast, such as the design matrix of a
 * regression. Booleans become 1 or 0.
 *
 * @example
 * columns(1, x, equal(y, 2)); // [n, 3] for x and y [n]
 */
export function columns(...parts: readonly Operand[]): Tensor {
  const like = parts.find((p) => p instanceof Tensor && p.dtype !== "bool") as Tensor | undefined;
  const dtype = like?.dtype ?? "float64";
  const tensors = parts.map((part) => {
    const t = asTensor(part, dtype);
    return t.dtype === "bool" ? cast(t, dtype) : t;
  });
  const shape = tensors.reduce<Shape>((all, t) => broadcastShapes(all, t.shape, "columns"), []);
  return stack(
    tensors.map((t) => expand(t, shape)),
    -1,
  );
}

/** Splits an axis into equal parts. */
export function split(x: Operand, parts: number, axis = -1): Tensor[] {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length, "split");
  const size = t.shape[a] / parts;
  if (!Number.isInteger(size) || !Number.isInteger(parts) || parts < 1)
    fail(
      "shape",
      `split: axis ${axis} of ${showShape(t.shape)} does not divide into ${parts}`,
      "use a divisor of its size",
    );
  return Array.from({ length: parts }, (_, k) => part(t, a, k * size, (k + 1) * size));
}
