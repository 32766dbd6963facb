/**
 * Operations on the axes of a tensor. Each is linear, and its derivative is its inverse: reshape ↔
 * reshape, transpose ↔ inverse transpose.
 */
import { fail } from "./error.ts";
import { offsets, pick } from "./loops.ts";
import { normaliseAxis, type Shape, sameShape, showShape, sizeOf, stridesOf } from "./ndarray.ts";
import { asTensor, is, type Make, type Operand, primitive, type Tensor } from "./tensor.ts";

export const reshapeNode: Make<{ shape: Shape }> = primitive<{ shape: Shape }>({
  name: "reshape",
  infer: ([x], { shape }) => ({ shape, dtype: x.dtype }),
  vjp: (g, { inputs: [x] }) => reshape(g, x.shape),
  simplify: ({ inputs: [x], shape }) => {
    if (sameShape(x.shape, shape)) return x;
    return is(x, reshapeNode) ? reshapeNode([x.inputs[0]], { shape }) : undefined;
  },
  batch: ({ shape }, [x]) => reshapeNode([x], { shape: [x.shape[0], ...shape] }),
  emit: ({ inputs: [x], shape }, [name], emitter) => emitter.reshape(name, x.shape, shape),
  evaluate: (_, [x]) => x,
});

/** Changes the shape of a tensor. One size may be −1, and is then computed. */
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
      `reshape: ${showShape(t.shape)} has ${sizeOf(t.shape)} numbers and cannot become ` +
        `${showShape(shape)}`,
      "give sizes with the same product, with at most one −1",
    );
  return reshapeNode([t], { shape: full });
}

export const transposeNode: Make<{ axes: readonly number[] }> = primitive<{
  axes: readonly number[];
}>({
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
    if (is(x, transposeNode))
      return transposeNode([x.inputs[0]], { axes: axes.map((a) => x.attributes.axes[a]) });
    // If all axes of size above 1 keep their order, it is a reshape.
    const real = axes.filter((a) => x.shape[a] !== 1);
    return real.every((a, i) => i === 0 || real[i - 1] < a) ? reshape(x, shape) : undefined;
  },
  batch: ({ attributes: { axes } }, [x]) =>
    transposeNode([x], { axes: [0, ...axes.map((a) => a + 1)] }),
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

/** Permutes the axes; by default the last two are exchanged. */
export function transpose(x: Operand, axes?: readonly number[]): Tensor {
  const t = asTensor(x);
  const rank = t.shape.length;
  if (axes === undefined && rank < 2)
    fail(
      "shape",
      `transpose: shape ${showShape(t.shape)} has fewer than two axes`,
      "use expandDims first",
    );
  const order =
    axes?.map((a) => normaliseAxis(a, rank, "transpose")) ??
    [...Array(rank).keys()].map((i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
  if (order.length !== rank || new Set(order).size !== rank)
    fail(
      "shape",
      `transpose: axes ${showShape(order)} are not a permutation of ${rank} axes`,
      "give every axis once",
    );
  return transposeNode([t], { axes: order });
}

/**
 * The mapped inputs of a batched operation, with their axes after the first one aligned for
 * broadcasting: [n, …shape] as [n, 1, …, 1, …shape], `rank` axes after the first.
 */
export const aligned = (
  inputs: readonly Tensor[],
  mapped: readonly boolean[],
  rank: number,
): Tensor[] =>
  inputs.map((t, i) => {
    const missing = rank + 1 - t.shape.length;
    if (!mapped[i] || missing === 0) return t;
    return reshape(t, [t.shape[0], ...Array<number>(missing).fill(1), ...t.shape.slice(1)]);
  });

/**
 * The tensor before a swap of the last two axes, if this is one, so that a product can use it
 * directly.
 */
export function swapped(t: Tensor): Tensor | undefined {
  if (!is(t, transposeNode)) return undefined;
  const { axes } = t.attributes;
  const rank = axes.length;
  return axes.every((a, i) => a === (i < rank - 2 ? i : 2 * rank - 3 - i))
    ? t.inputs[0]
    : undefined;
}

/** The tensor before a reshape. */
export const unreshaped = (t: Tensor): Tensor | undefined =>
  is(t, reshapeNode) ? t.inputs[0] : undefined;

/** Inserts an axis of size 1 at position `axis`. */
export function expandDims(x: Operand, axis: number): Tensor {
  const t = asTensor(x);
  const a = normaliseAxis(axis, t.shape.length + 1, "expandDims");
  return reshape(t, [...t.shape.slice(0, a), 1, ...t.shape.slice(a)]);
}

/** Removes an axis of size 1. */
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

/** Exchanges axes a and b. */
export function swapAxes(x: Operand, a: number, b: number): Tensor {
  const t = asTensor(x);
  const rank = t.shape.length;
  const [i, j] = [normaliseAxis(a, rank, "swapAxes"), normaliseAxis(b, rank, "swapAxes")];
  return transpose(
    t,
    [...Array(rank).keys()].map((k) => (k === i ? j : k === j ? i : k)),
  );
}
