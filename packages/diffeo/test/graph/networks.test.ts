import { describe, expect, it } from "vitest";
import {
  add,
  averagePool,
  concat,
  conv2d,
  div,
  gelu,
  grad,
  groupNorm,
  jvp,
  layerNorm,
  leavesOf,
  matmul,
  mean,
  mul,
  attention as multiHead,
  type NdArray,
  reference,
  relu,
  reshape,
  silu,
  softmax,
  softplus,
  split,
  sqrt,
  square,
  squaredRelu,
  sub,
  type Tensor,
  toFloat64,
  trace,
  transpose,
  upsampleNearest,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { differentiate, inner, largest } from "./differences.ts";

const random = (name: string, shape: readonly number[], scale = 1): NdArray => {
  const a = normal(key(name), shape, { dtype: "float64" });
  return { ...a, data: a.data.map((v) => v * scale) };
};

/** Group normalisation in primitives: mean 0 and variance 1 over pixels and channels of a group. */
function normalise(x: Tensor, groups: number, epsilon: number): Tensor {
  const [b, h, w, c] = x.shape;
  const grouped = reshape(x, [b, h * w, groups, c / groups]);
  const centred = sub(grouped, mean(grouped, [1, 3], { keepDims: true }));
  return reshape(
    div(centred, sqrt(add(mean(square(centred), [1, 3], { keepDims: true }), epsilon))),
    x.shape,
  );
}

const heads = (t: Tensor, count: number): Tensor[] => split(t, count, -1);
/** softmax(QKᵀ/√d)V of one head. */
const headOf = (q: Tensor, k: Tensor, v: Tensor): Tensor =>
  matmul(softmax(mul(matmul(q, transpose(k)), 1 / Math.sqrt(q.shape[2]))), v);

/** softmax(QKᵀ/√d)V over [batch, tokens, features], with Q, K and V linear in x. */
function attention({ x, q, k, v }: Readonly<Record<"x" | "q" | "k" | "v", Tensor>>): Tensor {
  const scores = mul(matmul(matmul(x, q), transpose(matmul(x, k))), 1 / Math.sqrt(q.shape[1]));
  return matmul(softmax(scores), matmul(x, v));
}

const networks: Readonly<
  Record<string, { inputs: Record<string, NdArray>; f: (p: Record<string, Tensor>) => Tensor }>
> = {
  "a convolution": {
    inputs: {
      x: random("x", [2, 4, 4, 2]),
      w: random("w", [3, 3, 2, 3], 0.3),
      b: random("b", [3]),
    },
    f: ({ x, w, b }) => mean(square(silu(add(conv2d(x, w), b)))),
  },
  "strided convolutions, pooling and upsampling": {
    inputs: {
      x: random("x", [2, 6, 6, 1]),
      w: random("w", [3, 3, 1, 2], 0.5),
      w2: random("w2", [2, 2, 2, 2], 0.5),
    },
    f: ({ x, w, w2 }) => {
      const low = silu(conv2d(x, w, { stride: 2, padding: 1 }));
      const high = conv2d(upsampleNearest(low), w2, { padding: "same" });
      return mean(square(silu(averagePool(high, 3))));
    },
  },
  "group normalisation in primitives": {
    inputs: { x: random("x", [2, 3, 3, 4]), scale: random("s", [4]), shift: random("t", [4]) },
    f: ({ x, scale, shift }) => mean(softplus(add(mul(normalise(x, 2, 0.1), scale), shift))),
  },
  "group normalisation in one": {
    inputs: { x: random("x", [2, 3, 3, 4]), scale: random("s", [4]), shift: random("t", [4]) },
    f: ({ x, scale, shift }) => mean(softplus(groupNorm(x, scale, shift, 2, 0.1))),
  },
  "attention in heads, in one": {
    inputs: { q: random("q", [2, 3, 4]), k: random("k", [2, 5, 4]), v: random("v", [2, 5, 6]) },
    f: ({ q, k, v }) => mean(square(multiHead(q, k, v, { heads: 2 }))),
  },
  "attention in heads, in primitives": {
    inputs: { q: random("q", [2, 3, 4]), k: random("k", [2, 5, 4]), v: random("v", [2, 5, 6]) },
    f: ({ q, k, v }) =>
      mean(
        square(
          concat(
            heads(q, 2).map((one, h) => headOf(one, heads(k, 2)[h], heads(v, 2)[h])),
            -1,
          ),
        ),
      ),
  },
  "layer normalisation in one": {
    inputs: { x: random("x", [2, 3, 4]), scale: random("s", [4]), shift: random("t", [4]) },
    f: ({ x, scale, shift }) => mean(softplus(layerNorm(x, { scale, shift, epsilon: 0.1 }))),
  },
  "layer normalisation in primitives": {
    inputs: { x: random("x", [2, 3, 4]), scale: random("s", [4]), shift: random("t", [4]) },
    f: ({ x, scale, shift }) => {
      const centred = sub(x, mean(x, -1, { keepDims: true }));
      const n = div(centred, sqrt(add(mean(square(centred), -1, { keepDims: true }), 0.1)));
      return mean(softplus(add(mul(n, scale), shift)));
    },
  },
  "gelu, relu² and relu": {
    inputs: { x: random("x", [4, 4]), w: random("w", [4, 4]) },
    f: ({ x, w }) => mean(mul(squaredRelu(matmul(gelu(x), w)), gelu(relu(matmul(x, w)), "tanh"))),
  },
  attention: {
    inputs: {
      x: random("x", [2, 3, 4]),
      q: random("q", [4, 2]),
      k: random("k", [4, 2]),
      v: random("v", [4, 3]),
    },
    f: (p) => mean(square(attention(p as Readonly<Record<"x" | "q" | "k" | "v", Tensor>>))),
  },
};

describe.each(Object.entries(networks))("%s", (_, { inputs: arrays, f }) => {
  const given = leavesOf<NdArray>(
    arrays,
    (a) => typeof a === "object" && a !== null && "data" in a,
  );
  const directions = given.map((a, i) => random(`direction ${i}`, a.shape));

  /**
   * The loss, its gradient, and that gradient's derivative along the directions, all at inputs +
   * t·directions.
   */
  const { inputs, outputs } = trace(
    (p: Record<string, Tensor>, v: Record<string, Tensor>) => {
      const [gradient, second] = jvp(grad(f), p, v);
      return { loss: f(p), gradient, second };
    },
    [arrays, Object.fromEntries(Object.keys(arrays).map((name, i) => [name, directions[i]]))],
    "float64",
  );
  const tensors = outputs.map((o) => o.tensor);
  const n = given.length;
  const at = (t: number): Float64Array[] => {
    const values = [...given, ...directions].map((a, i) => {
      const data = toFloat64(a.data);
      return i < n ? data.map((v, j) => v + t * (directions[i].data[j] as number)) : data;
    });
    return reference(tensors, new Map(inputs.map((input, i) => [input, values[i]])));
  };

  it("has the gradient and the second derivatives of differences", () => {
    const [, ...exact] = at(0);
    const gradient = exact.slice(0, n);
    const second = exact.slice(n);
    const [loss, ...gradients] = differentiate((t) => at(t).slice(0, n + 1), 0.01);
    const slope = gradient.reduce((s, g, i) => s + inner(g, toFloat64(directions[i].data)), 0);
    expect(Math.abs(loss.derivative[0] / slope - 1)).toBeLessThan(1e-9);
    const scale = largest(second.map(largest));
    gradients.forEach(({ derivative }, i) => {
      expect(largest(derivative.map((d, j) => d - second[i][j]))).toBeLessThan(1e-8 * scale);
    });
  });
});

describe.each(["group normalisation", "layer normalisation", "attention in heads,"])(
  "%s",
  (name) => {
    it("is the same as one operation and in primitives", () => {
      const { inputs, f: one } = networks[`${name} in one`];
      const { f: many } = networks[`${name} in primitives`];
      const p = trace(
        (t: Record<string, Tensor>) => [grad(one)(t), grad(many)(t)],
        [inputs],
        "float64",
      );
      const results = reference(
        p.outputs.map((o) => o.tensor),
        new Map(p.inputs.map((t, i) => [t, toFloat64(Object.values(inputs)[i].data)])),
      );
      for (let i = 0; i < 3; i++)
        expect(largest(results[i].map((v, j) => v - results[i + 3][j]))).toBeLessThan(1e-14);
    });
  },
);
