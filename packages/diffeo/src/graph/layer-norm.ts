/**
 * Layer normalisation over the last axis, as one operation with its derivative written out:
 *
 *   n = (x − μ) r,   r = 1/√(mean (x − μ)² + ε),   y = γ n + β
 *
 * ONNX Runtime returns r together with n, so the backward pass does not compute them again.
 */
import { add, div, mul, neg, sub } from "./arithmetic.ts";
import { expand, sum, unexpanded } from "./broadcast.ts";
import { fail } from "./error.ts";
import { sameShape, showShape } from "./ndarray.ts";
import { mean } from "./reduce.ts";
import { aligned } from "./shape.ts";
import {
  asTensor,
  asTensors,
  constant,
  type Make,
  type Operand,
  onesLike,
  primitive,
  rebuild,
  requireFloat,
  type Tensor,
} from "./tensor.ts";
import { sqrt } from "./transcendental.ts";

type Epsilon = { epsilon: number };

const over = (t: Tensor): Tensor => mean(t, -1, { keepDims: true });

/**
 * x − μ and r in primitives, for float64 graphs, because ε and r are float32 in the runtime's
 * operator.
 */
function moments(x: Tensor, epsilon: number): { centred: Tensor; r: Tensor } {
  const centred = sub(x, over(x));
  return { centred, r: div(1, sqrt(add(over(mul(centred, centred)), epsilon))) };
}

/** The runtime's operator; `output` 0 is y, 2 is r. */
const operator = (inputs: readonly string[], epsilon: number, output: number) =>
  ["LayerNormalization", inputs, { axis: -1, epsilon: { float: epsilon } }, { output }] as const;

const ones = (x: Tensor): Tensor => {
  const c = x.shape.at(-1) as number;
  return constant({ shape: [c], dtype: "float32", data: new Float32Array(c).fill(1) });
};

/** The sums of one row, with two passes for Σ(x − μ)². */
function evaluateRow(x: Float64Array, epsilon: number): { mu: number; r: number } {
  const mu = x.reduce((s, v) => s + v, 0) / x.length;
  const variance = x.reduce((s, v) => s + (v - mu) ** 2, 0) / x.length;
  return { mu, r: 1 / Math.sqrt(variance + epsilon) };
}

/** Normalises repeated rows once. */
function outsideRepeats(
  { inputs: [x, ...rest], attributes, shape }: Tensor<Epsilon>,
  make: Make<Epsilon>,
) {
  const few = unexpanded(x);
  return few && few.shape.at(-1) === x.shape.at(-1)
    ? expand(make([few, ...rest], attributes), shape)
    : undefined;
}

/** r alone, […, 1]. */
const inverseStdNode: Make<Epsilon> = primitive<Epsilon>({
  name: "inverseStd",
  infer: ([x]) => ({ shape: [...x.shape.slice(0, -1), 1], dtype: x.dtype }),
  // dr = −r³ mean((x − μ) dx) = −r² mean(n dx)
  vjp: (g, node) => {
    const [x] = node.inputs;
    const n = layerNormNode([x], node.attributes);
    return mul(n, mul(neg(mul(g, mul(node, node))), 1 / (x.shape.at(-1) as number)));
  },
  simplify: (node) => outsideRepeats(node, inverseStdNode),
  lower: (node) => (node.dtype === "float32" ? undefined : normWrittenOut(node)),
  batch: rebuild,
  emit: ({ inputs: [x], attributes: { epsilon } }, [name], e) => {
    const scale = ones(x);
    return e.node(...operator([name, scale.op.emit(scale, [], e)], epsilon, 2));
  },
  evaluate: ({ inputs: [x], attributes: { epsilon } }, [data]) => {
    const c = x.shape.at(-1) as number;
    return Float64Array.from(
      { length: data.length / c },
      (_, i) => evaluateRow(data.subarray(i * c, (i + 1) * c), epsilon).r,
    );
  },
});

/** Layer normalisation of x, optionally with γ and β. */
const layerNormNode: Make<Epsilon> = primitive<Epsilon>({
  name: "layerNorm",
  infer: ([x]) => x,
  // dn = r(dx − mean dx) + (x − μ) dr = r(dx − mean dx − n mean(n dx)), which is its own transpose.
  vjp: (g, { inputs: [x, gamma], attributes }, i) => {
    const leading = x.shape.slice(0, -1).map((_, axis) => axis);
    if (i === 2) return sum(g, leading);
    const n = layerNormNode([x], attributes);
    if (i === 1) return sum(mul(g, n), leading);
    const dn = gamma ? mul(g, gamma) : g;
    return mul(sub(sub(dn, mul(n, over(mul(dn, n)))), over(dn)), inverseStdNode([x], attributes));
  },
  simplify: (node) => outsideRepeats(node, layerNormNode),
  lower: (node) => (node.dtype === "float32" ? undefined : normWrittenOut(node)),
  batch: ({ attributes, shape }, inputs, mapped) => {
    if (!mapped[1] && !mapped[2] && mapped[0]) return layerNormNode(inputs, attributes);
    const [x, gamma, beta] = inputs;
    const n = layerNormNode([x], attributes);
    const [own, scale, shift] = aligned([n, gamma, beta], mapped, shape.length);
    return add(mul(own, scale), shift);
  },
  emit: ({ inputs: [x, gamma], attributes: { epsilon } }, names, e) => {
    const scale = ones(x);
    return e.node(...operator(gamma ? names : [names[0], scale.op.emit(scale, [], e)], epsilon, 0));
  },
  evaluate: ({ inputs: [x], attributes: { epsilon } }, [data, gamma, beta]) => {
    const c = x.shape.at(-1) as number;
    const out = new Float64Array(data.length);
    for (let at = 0; at < data.length; at += c) {
      const { mu, r } = evaluateRow(data.subarray(at, at + c), epsilon);
      for (let j = 0; j < c; j++) {
        const n = (data[at + j] - mu) * r;
        out[at + j] = gamma ? n * gamma[j] + beta[j] : n;
      }
    }
    return out;
  },
});

/** Either node in primitives; undefined for other nodes. */
export function normWrittenOut({ op, inputs, attributes }: Tensor): Tensor | undefined {
  const [x, gamma, beta] = inputs;
  if (op.name !== "layerNorm" && op.name !== "inverseStd") return undefined;
  const { centred, r } = moments(x, attributes.epsilon as number);
  if (op.name === "inverseStd") return r;
  const n = mul(centred, r);
  return gamma ? add(mul(n, gamma), beta) : n;
}

/** Options of `layerNorm`. */
export interface LayerNormOptions {
  /** γ and β, one number per channel. Default 1 and 0. */
  readonly scale?: Operand;
  readonly shift?: Operand;
  /** ε. Default 1e-5. */
  readonly epsilon?: number;
}

/**
 * Layer normalisation: normalises the last axis to mean 0 and variance 1, then optionally scales
 * and shifts each channel.
 */
export function layerNorm(
  x: Operand,
  { scale, shift, epsilon = 1e-5 }: LayerNormOptions = {},
): Tensor {
  const t = asTensor(x);
  requireFloat(t, "layerNorm");
  const c = t.shape.at(-1);
  if (c === undefined || c === 0)
    fail("shape", `layerNorm: shape ${showShape(t.shape)} has no channels`, "give […, channels]");
  if (!scale && !shift) return layerNormNode([t], { epsilon });
  const like = constant({ shape: [c], dtype: "float64", data: new Float64Array(c) }, t.dtype);
  const affine = [scale ?? onesLike(like), shift ?? like].map(
    (a) => asTensors(t, a, "layerNorm")[1],
  );
  for (const a of affine)
    if (!sameShape(a.shape, [c]))
      fail(
        "shape",
        `layerNorm: \`scale\` or \`shift\` has shape ${showShape(a.shape)} for an input of shape ` +
          `${showShape(t.shape)}`,
        `give one number per channel, shape [${c}]`,
      );
  return layerNormNode([t, ...affine], { epsilon });
}
