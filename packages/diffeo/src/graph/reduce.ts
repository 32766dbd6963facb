/** Reductions over axes beyond the sum, and the running sum. */
import { add, clip, div, mul, sub } from "./arithmetic.ts";
import {
  type Axes,
  keptShape,
  type ReduceOptions,
  reduced,
  reduceEvaluate,
  resolveAxes,
  sum,
} from "./broadcast.ts";
import { internal } from "./error.ts";
import { equal } from "./logic.ts";
import { broadcastOffsets, forEachLine } from "./loops.ts";
import { type FloatType, normaliseAxis, sameShape } from "./ndarray.ts";
import {
  asTensor,
  type Make,
  type Operand,
  primitive,
  requireFloat,
  requireNumbers,
  type Tensor,
} from "./tensor.ts";
import { exp, log } from "./transcendental.ts";
import { cast } from "./value.ts";

/**
 * The mean over axes, by default over all axes.
 *
 * @param options `keepDims` keeps reduced axes with size 1
 */
export function mean(x: Operand, axes?: Axes, options: ReduceOptions = {}): Tensor {
  const t = asTensor(x);
  requireFloat(t, "mean");
  const count = resolveAxes(t.shape, axes, "mean").reduce((n, a) => n * t.shape[a], 1);
  return mul(sum(t, axes, options), 1 / count);
}

const maxNode: Make<{ axes: readonly number[] }> = primitive<{ axes: readonly number[] }>({
  name: "max",
  infer: ([x], { axes }) => {
    requireNumbers(x, "max");
    return { shape: keptShape(x.shape, axes), dtype: x.dtype };
  },
  // The cotangent goes to the greatest entry, or is shared equally by several.
  vjp: (g, node) => {
    const [x] = node.inputs;
    const hit = cast(equal(x, node), g.dtype);
    return mul(div(g, sum(hit, node.attributes.axes, { keepDims: true })), hit);
  },
  // Also needed because in ONNX no axes mean all axes.
  simplify: ({ inputs: [x], shape }) => (sameShape(x.shape, shape) ? x : undefined),
  batch: ({ attributes: { axes } }, [x]) => maxNode([x], { axes: axes.map((a) => a + 1) }),
  emit: ({ attributes: { axes } }, [x], emitter) =>
    emitter.node("ReduceMax", [x], { axes, keepdims: 1 }),
  evaluate: (node, [data]) =>
    reduceEvaluate(node, data, Number.NEGATIVE_INFINITY, (m, v) =>
      Number.isNaN(v) || Number.isNaN(m) ? Number.NaN : Math.max(m, v),
    ),
});

/**
 * The maximum over axes, by default over all axes. NaN entries may be ignored, as by ONNX Runtime
 * on the CPU. If this matters, compile with `checkFinite`, which also checks the inputs.
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
  // log Σ eˣ = m + log Σ e^{x − m} with m the greatest x, clamped to finite numbers, because ∞ − ∞
  // would be NaN.
  lower: ({ inputs: [x], attributes: { axes } }) => {
    const bound = largestFinite[x.dtype as FloatType];
    const m = clip(max(x, axes, { keepDims: true }), -bound, bound);
    return add(log(sum(exp(sub(x, m)), axes, { keepDims: true })), m);
  },
  batch: ({ attributes: { axes } }, [x]) => logSumExpNode([x], { axes: axes.map((a) => a + 1) }),
  emit: () => internal("logSumExp is lowered before it is written"),
  evaluate: (node, [data]) => {
    const m = reduceEvaluate(node, data, Number.NEGATIVE_INFINITY, Math.max).map((v) =>
      Number.isFinite(v) ? v : 0,
    );
    const into = broadcastOffsets(node.shape, node.inputs[0].shape);
    const s = new Float64Array(m.length);
    for (let i = 0; i < data.length; i++) s[into[i]] += Math.exp(data[i] - m[into[i]]);
    return s.map((v, i) => Math.log(v) + m[i]);
  },
});

/** log Σ eˣ over axes, by default over all axes, without overflow. */
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
  batch: ({ attributes: { axis } }, [x]) => softmaxNode([x], { axis: axis + 1 }),
  emit: ({ attributes: { axis } }, [x], emitter) => emitter.node("Softmax", [x], { axis }),
  evaluate: (node, [data]) => {
    const out = new Float64Array(data.length);
    const n = node.shape[node.attributes.axis];
    forEachLine(node.shape, node.attributes.axis, (start, step) => {
      let m = Number.NEGATIVE_INFINITY;
      for (let k = 0; k < n; k++) m = Math.max(m, data[start + k * step]);
      let total = 0;
      for (let k = 0; k < n; k++)
        total += out[start + k * step] = Math.exp(data[start + k * step] - m);
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
  vjp: (g, { attributes: { axis, exclusive, reverse } }) =>
    cumsum(g, axis, { exclusive, reverse: !reverse }),
  batch: ({ attributes }, [x]) => cumsumNode([x], { ...attributes, axis: attributes.axis + 1 }),
  emit: ({ attributes: { axis, exclusive, reverse } }, [x], emitter) =>
    emitter.node(
      "CumSum",
      [x, emitter.constant({ shape: [], dtype: "int32", data: Int32Array.of(axis) })],
      {
        exclusive: exclusive ? 1 : 0,
        reverse: reverse ? 1 : 0,
      },
    ),
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

/**
 * The cumulative sum along an axis. `exclusive` omits the entry itself, `reverse` sums from the
 * end.
 */
export function cumsum(
  x: Operand,
  axis = -1,
  options: { readonly exclusive?: boolean; readonly reverse?: boolean } = {},
): Tensor {
  const t = asTensor(x);
  const { exclusive = false, reverse = false } = options;
  return cumsumNode([t], {
    axis: normaliseAxis(axis, t.shape.length, "cumsum"),
    exclusive,
    reverse,
  });
}
