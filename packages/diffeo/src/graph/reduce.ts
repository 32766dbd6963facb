/** Reductions over axes, and the running sum. */
import { add, clip, div, exp, log, mul, sub, unscaled } from "./elementwise.ts";
import { internal } from "./error.ts";
import { matmul } from "./linalg.ts";
import { equal } from "./logic.ts";
import { broadcastOffsets, forEachLine } from "./loops.ts";
import { divisorNear, type FloatType, normaliseAxis, type Shape, sameShape, sizeOf } from "./ndarray.ts";
import { expand, reshape, unexpanded } from "./shape.ts";
import {
  asTensor,
  constant,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  requireNumbers,
  type Tensor,
} from "./tensor.ts";
import { cast } from "./value.ts";

type Axes = number | readonly number[];

interface ReduceOptions {
  /** Keep reduced axes with size 1. */
  readonly keepDims?: boolean;
}

const keptShape = (shape: Shape, axes: readonly number[]): number[] => shape.map((d, i) => (axes.includes(i) ? 1 : d));

function resolveAxes(shape: Shape, axes: Axes | undefined, operation: string): number[] {
  const list = axes === undefined ? [...shape.keys()] : typeof axes === "number" ? [axes] : axes;
  return [...new Set(list.map((a) => normaliseAxis(a, shape.length, operation)))].sort((a, b) => a - b);
}

/** All reductions keep their axes inside the graph; `keepDims: false` is a reshape on top. */
function reduced(x: Tensor, axes: readonly number[], kept: Tensor, options: ReduceOptions): Tensor {
  return options.keepDims
    ? kept
    : reshape(
        kept,
        x.shape.filter((_, i) => !axes.includes(i)),
      );
}

function reduceEvaluate(
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

const sumNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "sum",
  infer: ([x], { axes }) => {
    requireNumbers(x, "sum");
    return { shape: keptShape(x.shape, axes), dtype: x.dtype };
  },
  vjp: (g, { inputs: [x] }) => expand(g, x.shape),
  simplify: ({ inputs: [x], attributes: { axes }, shape }) => {
    const real = axes.filter((a) => x.shape[a] !== 1);
    if (real.length === 0) return x;
    const scaled = unscaled(x);
    if (scaled) return mul(sumNode([scaled.tensor], { axes }), scaled.factor);
    // Σ over an expanded axis is a multiple.
    const before = unexpanded(x);
    if (before !== undefined) {
      const lead = x.shape.length - before.shape.length;
      const aligned = reshape(before, [...Array<number>(lead).fill(1), ...before.shape]);
      const repeated = real.filter((a) => aligned.shape[a] === 1);
      if (repeated.length > 0) {
        const count = repeated.reduce((n, a) => n * x.shape[a], 1);
        return expand(mul(sumNode([aligned], { axes }), count), shape);
      }
    }
    return undefined;
  },
  lower: ({ inputs: [x], attributes: { axes }, shape }, target) => {
    if (target === "cpu") return productWithOnes(x, axes, shape);
    // A GPU gives each result to one thread: a long sum into few results is split into two shorter ones.
    const count = axes.reduce((n, a) => n * x.shape[a], 1);
    const adjacent = axes.every((a, i) => i === 0 || a === axes[i - 1] + 1);
    if (!adjacent || count < 1024 || sizeOf(shape) > 65_536) return undefined;
    const parts = divisorNear(count, Math.sqrt(count));
    const outer = sizeOf(x.shape.slice(0, axes[0]));
    const inner = sizeOf(x.shape.slice(axes[0] + axes.length));
    if (parts === 1) return undefined;
    return reshape(sum(sum(reshape(x, [outer, parts, count / parts, inner]), 2), 1), shape);
  },
  emit: ({ attributes: { axes } }, [x], emitter) =>
    emitter.node("ReduceSum", [x, emitter.int64(axes)], { keepdims: 1 }),
  evaluate: (node, [data]) => reduceEvaluate(node, data, 0, (s, v) => s + v),
});

/**
 * A sum over leading axes as 1ᵀX: ONNX Runtime's own walks down the columns of X, its product along the rows, which is two to
 * four times faster.
 */
function productWithOnes(x: Tensor, axes: readonly number[], shape: Shape): Tensor | undefined {
  const columns = sizeOf(shape);
  const rows = sizeOf(x.shape) / columns;
  const leading = axes.every((a, i) => a === i) && axes.length < x.shape.length;
  if (x.dtype !== "float32" || !leading || columns < 16 || rows < 16 || rows > 16_384) return undefined;
  const ones = constant({ shape: [1, rows], dtype: "float32", data: new Float32Array(rows).fill(1) }, "float32");
  return reshape(matmul(ones, reshape(x, [rows, columns])), shape);
}

export function sum(x: Operand, axes?: Axes, options: ReduceOptions = {}): Tensor {
  const t = asTensor(x);
  const list = resolveAxes(t.shape, axes, "sum");
  return reduced(t, list, sumNode([t], { axes: list }), options);
}

export function mean(x: Operand, axes?: Axes, options: ReduceOptions = {}): Tensor {
  const t = asTensor(x);
  requireFloat(t, "mean");
  const count = resolveAxes(t.shape, axes, "mean").reduce((n, a) => n * t.shape[a], 1);
  return mul(sum(t, axes, options), 1 / count);
}

/** The adjoint of broadcasting: sums a cotangent back to the shape it was broadcast from. */
export function unbroadcast(g: Tensor, shape: Shape): Tensor {
  if (sameShape(g.shape, shape)) return g;
  const lead = g.shape.length - shape.length;
  const axes = g.shape.map((_, i) => i).filter((i) => i < lead || (shape[i - lead] === 1 && g.shape[i] !== 1));
  return reshape(sum(g, axes, { keepDims: true }), shape);
}

const maxNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "max",
  infer: ([x], { axes }) => {
    requireNumbers(x, "max");
    return { shape: keptShape(x.shape, axes), dtype: x.dtype };
  },
  // The cotangent goes to the largest entry, shared where several are largest.
  vjp: (g, node) => {
    const [x] = node.inputs;
    const hit = cast(equal(x, node), g.dtype);
    return mul(div(g, sum(hit, node.attributes.axes, { keepDims: true })), hit);
  },
  // Not only for speed: ONNX takes no axes for all.
  simplify: ({ inputs: [x], shape }) => (sameShape(x.shape, shape) ? x : undefined),
  emit: ({ attributes: { axes } }, [x], emitter) => emitter.node("ReduceMax", [x], { axes, keepdims: 1 }),
  evaluate: (node, [data]) =>
    reduceEvaluate(node, data, Number.NEGATIVE_INFINITY, (m, v) =>
      Number.isNaN(v) || Number.isNaN(m) ? Number.NaN : Math.max(m, v),
    ),
});

/**
 * The largest entry. A NaN among the entries need not come through: ONNX Runtime on the CPU may pass over it. Where that
 * matters, compile with `checkFinite`, which looks at the inputs too.
 */
export function max(x: Operand, axes?: Axes, options: ReduceOptions = {}): Tensor {
  const t = asTensor(x);
  const list = resolveAxes(t.shape, axes, "max");
  return reduced(t, list, maxNode([t], { axes: list }), options);
}

const largestFinite: Readonly<Record<FloatType, number>> = {
  float32: (2 - 2 ** -23) * 2 ** 127,
  float64: Number.MAX_VALUE,
};

const logSumExpNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "logSumExp",
  infer: ([x], { axes }) => {
    requireFloat(x, "logSumExp");
    return { shape: keptShape(x.shape, axes), dtype: x.dtype };
  },
  vjp: (g, node) => mul(g, exp(sub(node.inputs[0], node))), // ∂ log Σ eˣ = e^{x − log Σ eˣ}
  // log Σ eˣ = m + log Σ e^{x − m} with m the largest x, held finite, as ∞ − ∞ would be NaN.
  lower: ({ inputs: [x], attributes: { axes } }) => {
    const bound = largestFinite[x.dtype as FloatType];
    const m = clip(max(x, axes, { keepDims: true }), -bound, bound);
    return add(log(sum(exp(sub(x, m)), axes, { keepDims: true })), m);
  },
  emit: () => internal("logSumExp is lowered before it is written"),
  evaluate: (node, [data]) => {
    const m = reduceEvaluate(node, data, Number.NEGATIVE_INFINITY, Math.max).map((v) => (Number.isFinite(v) ? v : 0));
    const into = broadcastOffsets(node.shape, node.inputs[0].shape);
    const s = new Float64Array(m.length);
    for (let i = 0; i < data.length; i++) s[into[i]] += Math.exp(data[i] - m[into[i]]);
    return s.map((v, i) => Math.log(v) + m[i]);
  },
});

/** log Σ eˣ without overflow. */
export function logSumExp(x: Operand, axes?: Axes, options: ReduceOptions = {}): Tensor {
  const t = asTensor(x);
  const list = resolveAxes(t.shape, axes, "logSumExp");
  return reduced(t, list, logSumExpNode([t], { axes: list }), options);
}

const softmaxNode: Make<{ axis: number }> = primitive<{ axis: number }>({
  name: "softmax",
  infer: ([x]) => {
    requireFloat(x, "softmax");
    return x;
  },
  // ∂yᵢ/∂xⱼ = yᵢ(δᵢⱼ − yⱼ)
  vjp: (g, node) => {
    const gy = mul(g, node);
    return sub(gy, mul(node, sum(gy, node.attributes.axis, { keepDims: true })));
  },
  emit: ({ attributes: { axis } }, [x], emitter) => emitter.node("Softmax", [x], { axis }),
  evaluate: (node, [data]) => {
    const out = new Float64Array(data.length);
    const n = node.shape[node.attributes.axis];
    forEachLine(node.shape, node.attributes.axis, (start, step) => {
      let m = Number.NEGATIVE_INFINITY;
      for (let k = 0; k < n; k++) m = Math.max(m, data[start + k * step]);
      let total = 0;
      for (let k = 0; k < n; k++) total += out[start + k * step] = Math.exp(data[start + k * step] - m);
      for (let k = 0; k < n; k++) out[start + k * step] /= total;
    });
    return out;
  },
});

/** eˣ / Σ eˣ along an axis. */
export function softmax(x: Operand, axis = -1): Tensor {
  const t = asTensor(x);
  return softmaxNode([t], { axis: normaliseAxis(axis, t.shape.length, "softmax") });
}

/** x − log Σ eˣ along an axis. */
export function logSoftmax(x: Operand, axis = -1): Tensor {
  const t = asTensor(x);
  return sub(t, logSumExp(t, axis, { keepDims: true }));
}

const cumsumNode: Make<{ axis: number; exclusive: boolean; reverse: boolean }> = primitive<{
  axis: number;
  exclusive: boolean;
  reverse: boolean;
}>({
  name: "cumsum",
  infer: ([x]) => {
    requireNumbers(x, "cumsum");
    return x;
  },
  vjp: (g, { attributes: { axis, exclusive, reverse } }) => cumsum(g, axis, { exclusive, reverse: !reverse }),
  emit: ({ attributes: { axis, exclusive, reverse } }, [x], emitter) =>
    emitter.node("CumSum", [x, emitter.constant({ shape: [], dtype: "int32", data: Int32Array.of(axis) })], {
      exclusive: exclusive ? 1 : 0,
      reverse: reverse ? 1 : 0,
    }),
  evaluate: (node, [data]) => {
    const { axis, exclusive, reverse } = node.attributes;
    const out = new Float64Array(data.length);
    const n = node.shape[axis];
    forEachLine(node.shape, axis, (start, step) => {
      let total = 0;
      for (let k = 0; k < n; k++) {
        const i = start + (reverse ? n - 1 - k : k) * step;
        out[i] = exclusive ? total : total + data[i];
        total += data[i];
      }
    });
    return out;
  },
});

/** Running sum along an axis; `exclusive` leaves out the entry itself, `reverse` runs from the end. */
export function cumsum(
  x: Operand,
  axis = -1,
  options: { readonly exclusive?: boolean; readonly reverse?: boolean } = {},
): Tensor {
  const t = asTensor(x);
  const { exclusive = false, reverse = false } = options;
  return cumsumNode([t], { axis: normaliseAxis(axis, t.shape.length, "cumsum"), exclusive, reverse });
}
