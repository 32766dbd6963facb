/**
 * One small graph for every public operation, for the tests that compare a device with the
 * reference. Each takes `diffeo/graph` as an argument, so that the same table runs on the sources,
 * on the built package and in a browser.
 */
import type * as Graph from "../../src/graph/index.ts";

type G = typeof Graph;
type T = Graph.Tensor;

export interface Case {
  readonly name: string;
  /** Shapes of the inputs. */
  readonly shapes: readonly (readonly number[])[];
  readonly f: (...x: T[]) => T;
  /** Bounds of their values. */
  readonly range: readonly [low: number, high: number];
}

/** A line of the table; shapes read "3×4 4×2", and "·" is a scalar. */
const line = (
  name: string,
  shapes: string,
  f: Case["f"],
  range: Case["range"] = [-2, 2],
): Case => ({
  name,
  shapes: shapes.split(" ").map((s) => (s === "·" ? [] : s.split("×").map(Number))),
  f,
  range,
});

/** Also for long sums: between terms of both signs the digits of a float32 cancel. */
const positive = [0.1, 3] as const;

function unary(g: G): Case[] {
  const plain = [
    "neg",
    "exp",
    "expm1",
    "floor",
    "abs",
    "sign",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "erf",
    "erfc",
    "sinh",
    "cosh",
    "asinh",
    "atan",
    "silu",
    "relu",
    "squaredRelu",
  ] as const;
  const wide = ["softplus", "logSigmoid", "tanh", "sigmoid", "silu"] as const;
  const half = ["log", "log1p", "sqrt"] as const;
  return [
    ...plain.map((name) => line(name, "3×5", g[name])),
    ...wide.map((name) => line(`${name} at ±50`, "3×5", g[name], [-50, 50])),
    ...half.map((name) => line(name, "3×5", g[name], positive)),
    line("erfc in the tail", "3×5", g.erfc, [2, 6]),
    line("erfInverse", "3×5", g.erfInverse, [-0.999, 0.999]),
    line("normalQuantile", "3×5", g.normalQuantile, [0.001, 0.999]),
    line("logGamma", "3×5", g.logGamma, [2.5, 30]),
    line("polygamma", "3×5", (x) => g.polygamma(1, x), [0.1, 30]),
    line("sinh far out", "3×5", g.sinh, [-40, 40]),
    line("asinh far out", "3×5", g.asinh, [-1e6, 1e6]),
    line("square", "3×5", g.square),
    line("gelu", "3×5", (x) => g.gelu(x)),
    line("gelu by tanh", "3×5", (x) => g.gelu(x, "tanh")),
    line("sin far out", "3×5", g.sin, [-2000, 2000]),
    line("cos far out", "3×5", g.cos, [-2000, 2000]),
  ];
}

const binary = (g: G): Case[] => [
  line("add, broadcast", "4×1×3 2×1", g.add),
  line("sub, broadcast", "3 2×3", g.sub),
  line("mul by a scalar", "2×3 ·", g.mul),
  line("div", "2×3 3", g.div, positive),
  line("pow", "2×3 3", g.pow, positive),
  line("maximum", "2×3 3", g.maximum),
  line("minimum", "2×3 3", g.minimum),
  line("addAll", "2 2 2", (...x) => g.addAll(x)),
  line("clip", "4×4", (x) => g.clip(x, -0.5, 0.5)),
];

function logic(g: G): Case[] {
  const number =
    (f: (a: T, b: T) => T): Case["f"] =>
    (a, b) =>
      g.cast(f(a, b), a.dtype);
  const both = (a: T, b: T): T => g.logicalAnd(g.greater(a, 0), g.greater(b, 0));
  const either = (a: T, b: T): T => g.logicalOr(g.greater(a, 0), g.logicalNot(g.greater(b, 0)));
  return [
    line("less", "2×6 6", number(g.less)),
    line("lessEqual", "2×6 6", number(g.lessEqual)),
    line("greater", "2×6 6", number(g.greater)),
    line("greaterEqual", "2×6 6", number(g.greaterEqual)),
    line("equal", "4", (x) => g.cast(g.equal(g.sign(x), 1), x.dtype)),
    line("logicalAnd", "2×6 6", number(both)),
    line("logicalOr and logicalNot", "2×6 6", number(either)),
    line("where of booleans", "2×6 6", (a, b) =>
      g.cast(g.where(g.less(a, b), g.less(a, 0), g.less(b, 0)), a.dtype),
    ),
    line("where", "2×6 6", (a, b) => g.where(g.less(a, b), a, g.mul(b, 2))),
  ];
}

const reductions = (g: G): Case[] => [
  line("sum of all", "3×4×5", (x) => g.sum(x)),
  line("sum over one axis", "3×4×5", (x) => g.sum(x, 1)),
  line("sum of a length without divisors", "262147", (x) => g.sum(x), positive),
  line("sum over many rows", "2048×24", (x) => g.sum(x, 0), positive),
  line("sum of many", "3×50×48×2", (x) => g.sum(x, [1, 2]), positive),
  line("mean over two axes", "3×4×5", (x) => g.mean(x, [0, 2], { keepDims: true })),
  line("max", "3×4×5", (x) => g.max(x, [1])),
  line("logSumExp", "3×4×5", (x) => g.logSumExp(x, -1), [-60, 60]),
  line("softmax", "3×4×5", (x) => g.softmax(x)),
  line("softmax over a middle axis", "3×4×5", (x) => g.softmax(x, 1)),
  line("logSoftmax", "3×4", (x) => g.logSoftmax(x), [-40, 40]),
  line("cumsum", "3×4×5", (x) => g.cumsum(x, 1)),
  line("scan of a recurrence", "3×7 3×7", (a, b) => {
    const after = (p: readonly T[], q: readonly T[]): readonly T[] => [
      g.mul(p[0], q[0]),
      g.add(g.mul(q[0], p[1]), q[1]),
    ];
    return g.scan(after, [g.tanh(a), b] as readonly T[], 1)[1];
  }),
  line("combineAll of matrices", "3×7×2×2", (x) =>
    g.combineAll((a: T, b: T) => g.matmul(a, b), x, 1),
  ),
  line("cumsum, exclusive and reverse", "3×7", (x) =>
    g.cumsum(x, 1, { exclusive: true, reverse: true }),
  ),
];

const moves = (g: G): Case[] => [
  line("reshape", "2×6", (x) => g.exp(g.reshape(x, [3, -1]))),
  line("transpose", "2×3×4", (x) => g.transpose(x, [2, 0, 1])),
  line("swapAxes", "2×3×4", (x) => g.swapAxes(x, 0, 2)),
  line("expand", "3×1", (x) => g.expand(x, [2, 3, 4])),
  line("slice", "5×6", (x) => g.slice(x, [1, 4], [2, 5])),
  line("slice with steps", "5×7", (x) => g.slice(x, [0, 5, 2], [1, 7, 3])),
  line("at", "5×6", (x) => g.at(x, -2, 1)),
  line("pad", "2×3", (x) => g.pad(x, [1, 0], [0, 2])),
  line("flip", "3×4", (x) => g.flip(x, [0, 1])),
  line("concat", "2×3 2×1", (a, b) => g.concat([a, b])),
  line("stack", "2×3 2×3", (a, b) => g.stack([a, b], 1)),
  line("split", "2×6", (x) => g.sub(...(g.split(x, 2) as [T, T]))),
  line("expandDims and squeeze", "2×3", (x) => g.squeeze(g.exp(g.expandDims(x, 1)), 1)),
  line("cast through integers", "6", (x) => g.cast(g.cast(x, "int32"), x.dtype), [-9, 9]),
  line("stopGradient", "6", (x) => g.mul(x, g.stopGradient(x))),
  line("eye and iota", "3", (x) => g.add(g.mul(g.eye(3, x.dtype), x), g.iota(3, x.dtype))),
];

function indices(g: G): Case[] {
  const rows = g.constant([3, 0, 3], "int32");
  const each = g.constant(
    [
      [1, 0],
      [2, 2],
      [0, 3],
    ].flat(),
    "int32",
  );
  const along = g.reshape(each, [3, 2]);
  const pull = (f: (x: T) => T) => (x: T, u: T) => g.vjp(f, x)[1](u);
  return [
    line("take", "4×3", (x) => g.take(x, rows)),
    line("take from the end", "4×3", (x) => g.take(x, g.constant([-1, 0, -4], "int32"))),
    line("take along the last axis", "3×4", (x) => g.take(x, rows, -1)),
    line("takeAlong", "3×4", (x) => g.takeAlong(x, along)),
    line("oneHot", "3×4", (x) => g.oneHot(rows, 4, x.dtype)),
    line("oneHot of argmax", "3×4", (x) => g.oneHot(g.argmax(x), 4, x.dtype)),
    line("argmax", "3×4", (x) => g.cast(g.argmax(x, 0), x.dtype)),
    line("argTop", "3×4", (x) => g.cast(g.argTop(x, 2), x.dtype)),
    line("argsort", "3×4", (x) => g.cast(g.argsort(x), x.dtype)),
    line("sort", "3×4", (x) => g.sort(x)),
    line("top", "5×3", (x) => g.top(x, 2, 0)),
    line(
      "gradient of take",
      "4×3 3×3",
      pull((x) => g.take(x, rows)),
    ),
    line(
      "gradient of take along the last axis",
      "3×4 3×3",
      pull((x) => g.take(x, rows, -1)),
    ),
    line(
      "gradient of takeAlong",
      "3×4 3×2",
      pull((x) => g.takeAlong(x, along)),
    ),
    line(
      "gradient of sort",
      "3×4 3×4",
      pull((x) => g.sort(x)),
    ),
  ];
}

function linear(g: G): Case[] {
  const posed = (x: T): T => g.add(x, g.mul(g.eye(4, x.dtype), 3));
  return [
    line("matmul", "7×5 5×6", g.matmul),
    line("matmul, transposed", "5×7 6×5", (a, b) => g.matmul(g.transpose(a), g.transpose(b))),
    line("matmul, batched", "3×7×5 3×5×6", g.matmul),
    line("matmul, batched and transposed", "3×5×7 2×1×5×6", (a, b) => g.matmul(g.transpose(a), b)),
    line("matmul with bias", "4×7×5 5×6 6", (a, b, c) => g.add(g.matmul(a, b), c)),
    line("matmul with a number", "7×5 5×6", (a, b) => g.add(g.matmul(a, b), 1)),
    line("matmul of rows with a number", "4×7×5 5×6", (a, b) => g.add(g.matmul(a, b), 1)),
    line(
      "matmul over many rows, narrow first",
      "4096×3 4096×5",
      (a, b) => g.matmul(g.transpose(a), b),
      positive,
    ),
    line(
      "matmul over many rows, wide first",
      "4096×7 4096×3",
      (a, b) => g.matmul(g.transpose(a), b),
      positive,
    ),
    line("dot", "4×5 4×5", g.dot),
    line("matvec", "4×3×5 4×5", g.matvec),
    line("squaredNorm", "4×5", g.squaredNorm),
    line("inverse", "2×4×4", (x) => g.inverse(posed(x))),
    line("solve", "2×4×4 2×4×2", (a, b) => g.solve(posed(a), b)),
    line("cholesky", "2×4×4", (x) =>
      g.cholesky(g.add(g.matmul(x, g.transpose(x)), g.eye(4, x.dtype))),
    ),
    line(
      "gradient of cholesky",
      "2×4×4",
      g.grad((x: T) =>
        g.sum(g.square(g.cholesky(g.add(g.matmul(x, g.transpose(x)), g.eye(4, x.dtype))))),
      ),
    ),
    line("symmetric", "2×6", (x) => g.symmetric(x, { diagonal: 1 })),
    line("logAbsDet", "2×4×4", (x) => g.logAbsDet(posed(x))),
    line("logAbsDet of small numbers", "2×4×4", (x) => g.logAbsDet(g.mul(posed(x), 1e-25))),
    line(
      "gradient of logAbsDet",
      "2×4×4",
      g.grad((x: T) => g.sum(g.logAbsDet(posed(x)))),
    ),
  ];
}

function images(g: G): Case[] {
  const geometries: readonly (readonly [string, Graph.ConvOptions])[] = [
    ["stride 1, same", {}],
    ["stride 1, valid", { padding: "valid" }],
    ["stride 2, same", { stride: 2 }],
    ["stride 2, valid", { stride: 2, padding: "valid" }],
    ["stride 2, two zeros", { stride: 2, padding: 2 }],
  ];
  // 7×6: one odd and one even side, so that stride 2 leaves a pixel over on one axis only.
  const shapes = "2×7×6×3 3×3×3×4";
  const loss = (o: Graph.ConvOptions, x: T, w: T): T => g.sum(g.tanh(g.conv2d(x, w, o)));
  return [
    ...geometries.flatMap(([name, o]) => [
      line(`conv2d, ${name}`, shapes, (x, w) => g.conv2d(x, w, o)),
      line(`conv2d's gradient in the image, ${name}`, shapes, (x, w) =>
        g.grad((t: T) => loss(o, t, w))(x),
      ),
      line(`conv2d's gradient in the kernel, ${name}`, shapes, (x, w) =>
        g.grad((t: T) => loss(o, x, t))(w),
      ),
    ]),
    ...(["conv2d", "its gradient in the image", "its gradient in the kernel"] as const).map(
      (name, i) =>
        line(
          `of many channels: ${name}`,
          "64×2×2×48 3×3×48×32",
          (x, w) =>
            i === 0
              ? g.conv2d(x, w)
              : g.grad((t: T) => g.sum(i === 1 ? g.conv2d(t, w) : g.conv2d(x, t)))(i === 1 ? x : w),
          positive,
        ),
    ),
    line("conv2d with a 1×1 kernel", "2×4×4×3 1×1×3×5", (x, w) => g.conv2d(x, w)),
    line("groupNorm", "2×3×3×8 8 8", (x, scale, shift) => g.groupNorm(x, scale, shift, 4)),
    line("layerNorm", "2×3×8", (x) => g.layerNorm(x)),
    line("layerNorm with scale and shift", "2×3×8 8 8", (x, scale, shift) =>
      g.layerNorm(x, { scale, shift }),
    ),
    line("gradient of layerNorm of a sum", "2×3×8 2×3×8", (x, y) =>
      g.grad((t: T) => g.sum(g.tanh(g.layerNorm(g.add(t, y)))))(x),
    ),
    line("gradient of layerNorm", "2×3×8", (x) =>
      g.grad((t: T) => g.sum(g.tanh(g.layerNorm(t))))(x),
    ),
    line("rotary", "2×3×16", (x) =>
      g.rotary(
        x,
        g.ndarray(
          [
            [0, 1],
            [2, 3],
            [-1, 0.5],
          ],
          "float64",
        ),
        2,
      ),
    ),
    line("attention with a bias", "2×5×8 2×3×8 2×3×8 2×5×3", (q, k, v, bias) =>
      g.attention(q, k, v, { heads: 2, scale: 1, bias }),
    ),
    line("attention", "2×5×8 2×3×8 2×3×8", (q, k, v) => g.attention(q, k, v, { heads: 2 })),
    ...(["queries", "keys", "values"] as const).map((name, i) =>
      line(`gradient of attention in its ${name}`, "2×5×8 2×3×8 2×3×8", (...x) =>
        g.grad((t: T) => {
          const [q, k, v] = x.with(i, t);
          return g.sum(g.tanh(g.attention(q, k, v, { heads: 2 })));
        })(x[i]),
      ),
    ),
    line("averagePool", "2×4×6×3", (x) => g.averagePool(x)),
    line("maxPool", "2×4×6×3", (x) => g.maxPool(x)),
    line(
      "gradient of maxPool",
      "1×4×4×2",
      g.grad((x: T) => g.sum(g.square(g.maxPool(x)))),
    ),
    line("upsampleNearest", "2×2×3×3", (x) => g.upsampleNearest(x)),
  ];
}

function derivatives(g: G): Case[] {
  // f(x) = log Σ exp(softplus(x W) Wᵀ), per sample
  const net = (x: T): T => {
    const w = g.reshape(
      g.constant([0.3, -0.7, 0.2, 0.9, 0.1, -0.4, -0.5, 0.6, 0.8], x.dtype),
      [3, 3],
    );
    return g.logSumExp(g.matmul(g.softplus(g.matmul(x, w)), g.transpose(w)), -1);
  };
  return [
    line("gradEach", "5×3", g.gradEach(net)),
    line("hvp", "5×3 5×3", (x, v) => g.hvp(net, x, v)),
    line("jacobian", "5×3", (x) => g.jacobian(g.gradEach(net), x)),
    line("traceJacobian", "5×3", (x) => g.traceJacobian(g.gradEach(net), x)),
    line(
      "gradient of a laplacian",
      "5×3",
      g.gradEach((x) => g.laplacian(net, x)),
    ),
    line("linearRecurrence", "2×5 2×5", (factor, term) => g.linearRecurrence(factor, term)),
    line("solveOde", "2×3", (x) =>
      g.solveOde((t: T, y: T) => g.mul(g.sub(t, y), x), x, g.constant([0.3, 1], x.dtype)),
    ),
    line("columns", "4 4", (x, y) => g.columns(1, x, g.greater(x, y), y)),
    line("jvp of softmax", "5×3 5×3", (x, v) => g.jvp((t: T) => g.softmax(t), x, v)[1]),
  ];
}

export const cases = (g: G): Case[] => [
  ...unary(g),
  ...binary(g),
  ...logic(g),
  ...reductions(g),
  ...moves(g),
  ...indices(g),
  ...linear(g),
  ...images(g),
  ...derivatives(g),
];
