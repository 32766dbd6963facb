/**
 * Expansion along axes and its adjoint, the sum over them; each is the derivative of the other.
 *   expand  y[i, j] = x[j]        sum  y[j] = Σᵢ x[i, j]
 */
import { fail } from "./error.ts";
import { broadcastOffsets, pick } from "./loops.ts";
import {
  broadcastShapes,
  normaliseAxis,
  type Shape,
  sameShape,
  showShape,
  sizeOf,
} from "./ndarray.ts";
import { aligned, reshape } from "./shape.ts";
import {
  asTensor,
  fill,
  is,
  type Make,
  type Operand,
  primitive,
  requireNumbers,
  type Tensor,
  uniformValue,
} from "./tensor.ts";

const expandNode: Make<{ shape: Shape }> = primitive<{ shape: Shape }>({
  name: "expand",
  infer: ([x], { shape }) => {
    const to = broadcastShapes(x.shape, shape, "expand");
    if (!sameShape(to, shape) || shape.some((d) => !Number.isInteger(d) || d < 0))
      fail(
        "shape",
        `expand: ${showShape(x.shape)} cannot be expanded to ${showShape(shape)}`,
        "expand only axes of size 1 or new leading axes, to integer sizes",
      );
    return { shape, dtype: x.dtype };
  },
  vjp: (g, { inputs: [x] }) => unbroadcast(g, x.shape),
  simplify: ({ inputs: [x], shape }) => {
    if (sameShape(x.shape, shape)) return x;
    if (is(x, expandNode)) return expandNode([x.inputs[0]], { shape });
    // Leading axes of size 1 are part of the expansion: [1, n] → [m, n] is [n] → [m, n].
    const extra = x.shape.findIndex((d) => d !== 1);
    if (x.shape[0] === 1 && extra > 0)
      return expandNode([reshape(x, x.shape.slice(extra))], { shape });
    const value = uniformValue(x);
    return value !== undefined && sizeOf(shape) <= 4096 ? fill(shape, value, x.dtype) : undefined;
  },
  batch: ({ shape }, inputs, mapped) => {
    const [x] = aligned(inputs, mapped, shape.length);
    return expandNode([x], { shape: [x.shape[0], ...shape] });
  },
  emit: (node, [x], emitter) => emitter.node("Expand", [x, emitter.int64(node.shape)]),
  evaluate: ({ inputs: [x], shape }, [data]) => pick(data, broadcastOffsets(x.shape, shape)),
});

/** Repeats a tensor along new leading axes and axes of size 1. */
export const expand = (x: Operand, shape: Shape): Tensor => expandNode([asTensor(x)], { shape });

/** The inputs of a batched operation, all with the batch axis; unmapped ones are repeated. */
export function repeated(inputs: readonly Tensor[], mapped: readonly boolean[]): Tensor[] {
  const n = inputs[mapped.indexOf(true)].shape[0];
  return inputs.map((t, i) => (mapped[i] ? t : expand(t, [n, ...t.shape])));
}

/**
 * An elementwise operation on expanded operands is the expansion of the operation. `make` gets the
 * operands without expansions that broadcasting implies, and its result is expanded if all of them
 * were.
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
export const unexpanded = (t: Tensor): Tensor | undefined =>
  is(t, expandNode) ? t.inputs[0] : undefined;

export type Axes = number | readonly number[];

export interface ReduceOptions {
  /** Keep reduced axes with size 1. */
  readonly keepDims?: boolean;
}

export const keptShape = (shape: Shape, axes: readonly number[]): number[] =>
  shape.map((d, i) => (axes.includes(i) ? 1 : d));

export function resolveAxes(shape: Shape, axes: Axes | undefined, operation: string): number[] {
  const list = axes === undefined ? [...shape.keys()] : typeof axes === "number" ? [axes] : axes;
  return [...new Set(list.map((a) => normaliseAxis(a, shape.length, operation)))].sort(
    (a, b) => a - b,
  );
}

/** In the graph all reductions keep their axes; `keepDims: false` adds a reshape. */
export function reduced(
  x: Tensor,
  axes: readonly number[],
  kept: Tensor,
  options: ReduceOptions,
): Tensor {
  return options.keepDims
    ? kept
    : reshape(
        kept,
        x.shape.filter((_, i) => !axes.includes(i)),
      );
}

export function reduceEvaluate(
  node: Tensor,
  data: Float64Array,
  start: number,
  step: (total: number, value: number) => number,
): Float64Array {
  const out = new Float64Array(sizeOf(node.shape)).fill(start);
  const into = broadcastOffsets(node.shape, node.inputs[0].shape);
  for (let i = 0; i < data.length; i++) out[into[i]] = step(out[into[i]], data[i]);
  return out;
}

export const sumNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "sum",
  infer: ([x], { axes }) => {
    requireNumbers(x, "sum");
    return { shape: keptShape(x.shape, axes), dtype: x.dtype };
  },
  vjp: (g, { inputs: [x] }) => expand(g, x.shape),
  simplify: ({ inputs: [x], attributes: { axes } }) =>
    axes.every((a) => x.shape[a] === 1) ? x : undefined,
  batch: ({ attributes: { axes } }, [x]) => sumNode([x], { axes: axes.map((a) => a + 1) }),
  emit: ({ attributes: { axes } }, [x], emitter) =>
    emitter.node("ReduceSum", [x, emitter.int64(axes)], { keepdims: 1 }),
  evaluate: (node, [data]) => reduceEvaluate(node, data, 0, (s, v) => s + v),
});

/**
 * The sum over axes, by default over all axes.
 *
 * @param options `keepDims` keeps reduced axes with size 1
 */
export function sum(x: Operand, axes?: Axes, options: ReduceOptions = {}): Tensor {
  const t = asTensor(x);
  const list = resolveAxes(t.shape, axes, "sum");
  return reduced(t, list, sumNode([t], { axes: list }), options);
}

/** The adjoint of broadcasting: sums a cotangent back to the shape it was broadcast from. */
export function unbroadcast(g: Tensor, shape: Shape): Tensor {
  if (sameShape(g.shape, shape)) return g;
  const lead = g.shape.length - shape.length;
  const axes = g.shape
    .map((_, i) => i)
    .filter((i) => i < lead || (shape[i - lead] === 1 && g.shape[i] !== 1));
  return reshape(sum(g, axes, { keepDims: true }), shape);
}
