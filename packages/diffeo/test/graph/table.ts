/**
 * One line per primitive: its name, test tensors and an application. Every property of this folder
 * runs over these tables, so a new primitive is tested by adding a line.
 */
import fc from "fast-check";
import type { Tensor } from "../../src/graph/index.ts";
import * as g from "../../src/graph/index.ts";
import {
  away,
  beside,
  broadcastable,
  type Domain,
  distinct,
  type Entry,
  entry,
  lattice,
  regular,
  shapeAndAxes,
  shapeAndAxis,
  shapes,
  size,
  whole,
  within,
} from "./draw.ts";

const one = (name: string, f: (x: Tensor) => Tensor, x: Domain, rounding = 0): Entry =>
  entry(name, shapes(), (s) => [f, [s, x]], { elementwise: true, rounding });

const two = (name: string, f: (a: Tensor, b: Tensor) => Tensor, a: Domain, b: Domain): Entry =>
  entry(name, broadcastable(2), ([s, t]) => [f, [s, a], [t, b]]);

const reduction = (name: string, f: typeof g.sum, x: Domain): Entry =>
  entry(name, shapeAndAxes, ({ shape, axes, keepDims }) => [
    (t) => f(t, axes, { keepDims }),
    [shape, x],
  ]);

const along = (
  name: string,
  f: (x: Tensor, axis: number) => Tensor,
  x: Domain = within(-3, 3),
): Entry => entry(name, shapeAndAxis(), ({ shape, axis }) => [(t) => f(t, axis), [shape, x]]);

const real = within(-3, 3);
const wild = within(-5, 5, -50, 50, -20, 20, 1e-9, 0);

/** A convolution's sizes, with every padding, stride and kernel that fits. */
const convolutions = fc
  .record({
    batch: size(1, 2),
    h: size(1, 6),
    w: size(1, 6),
    kh: size(1, 4),
    kw: size(1, 4),
    channels: fc.tuple(size(1, 3), size(1, 3)),
    stride: size(1, 3),
    padding: fc.constantFrom<"same" | "valid" | number>("same", "valid", 0, 1, 2),
  })
  .filter(({ h, w, kh, kw, padding: p }) => {
    const room = p === "same" ? 6 : p === "valid" ? 0 : 2 * p;
    return h + room >= kh && w + room >= kw;
  });

const images = fc.record({
  batch: size(1, 2),
  h: size(1, 3),
  w: size(1, 3),
  c: size(1, 3),
  window: size(1, 3),
});

const permutations = shapes(1, 4).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    axes: fc.shuffledSubarray([...shape.keys()], {
      minLength: shape.length,
      maxLength: shape.length,
    }),
  }),
);

/** A range with a step on every axis. */
const ranges = fc.array(
  fc.tuple(size(0, 3), size(1, 4), size(1, 3), size(0, 2)).map(([start, length, step, rest]) => ({
    range: [start, start + length, step] as const,
    size: start + length + rest,
  })),
  { minLength: 1, maxLength: 3 },
);

const padded = shapes(1, 3).chain((shape) => {
  const counts = fc.array(size(0, 2), { minLength: shape.length, maxLength: shape.length });
  return fc.record({ shape: fc.constant(shape), before: counts, after: counts });
});

const joined = fc.record({
  at: shapeAndAxis(),
  extra: fc.array(size(1, 3), { minLength: 0, maxLength: 2 }),
});

/** Shapes [batch, m, k] and [batch, k, n] whose batches broadcast. */
const products = fc.tuple(broadcastable(2), size(), size(), size());

const gathered = fc.record({ at: shapeAndAxis(), indices: shapes(0, 2) });

const reshaped = shapes().chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    to: fc.constantFrom<number[]>([-1], [1, -1], [-1, 1, shape[0] ?? 1], [...shape].reverse(), [
      ...shape,
      1,
    ]),
  }),
);

/** Primitives with derivatives. */
export const smooth: readonly Entry[] = [
  one("neg", g.neg, real),
  one("exp", g.exp, within(-3, 3, -50, 50, 1e-9)),
  one("log", g.log, within(0.3, 3, 1e9, 1)),
  one("expm1", g.expm1, within(-3, 3, -50, 50, 1e-9, -1e-9, 1e-300)),
  one("log1p", g.log1p, within(-0.5, 3, 1e-9, -1e-9, 1e-300, 1e9)),
  one("sqrt", g.sqrt, within(0.3, 3, 1e9)),
  one("abs", g.abs, beside(0.1, 3)),
  one("sign", g.sign, beside(0.1, 3)),
  one("floor", g.floor, lattice(0.25)),
  one("sin", g.sin, real),
  one("cos", g.cos, real),
  one("tanh", g.tanh, wild),
  one("sigmoid", g.sigmoid, wild),
  one("softplus", g.softplus, wild),
  one("erf", g.erf, within(-3, 3, 1e-9, -1e-300, 0.999, 1.001, 6, -6, 20)),
  one("erfc", g.erfc, within(-3, 3, 1e-9, 0, 0.499, 0.501, 6, -6, 8)),
  one("erfInverse", g.erfInverse, within(-0.95, 0.95, 1e-9, 0, 0.85, -0.8501)),
  one("normalQuantile", g.normalQuantile, within(0.03, 0.97, 0.5, 0.075, 0.0749)),
  one("sinh", g.sinh, within(-3, 3, 1e-9, 0, -19.99, 20.01, 40)),
  one("cosh", g.cosh, within(-3, 3, 1e-9, 0, -20, 40)),
  one("atan", g.atan, within(-3, 3, 1e-9, 0, 1e3, -1e6)),
  one("asinh", g.asinh, within(-3, 3, 1e-9, 0, 1e3, -1e6)),
  // Beside their zeros the terms cancel.
  one("logGamma", g.logGamma, within(2.6, 6, 0.1, 0.5, 7.99, 8.01, 300)),
  one("polygamma 0", (x) => g.polygamma(0, x), within(2, 6, 0.1, 0.5, 7.99, 8.01, 300)),
  one("polygamma 2", (x) => g.polygamma(2, x), within(0.2, 4, 11.9, 12.1, 30, 0.1)),
  one("logSigmoid", g.logSigmoid, wild),
  // Beside −1.2785, where the derivative is a difference of like terms, float32 has no relative
  // accuracy.
  // Below −18 its factor σ is 0 there, which for xσ is 18/(1 + e¹⁸) too little.
  one("silu", g.silu, away(wild, -1.2785, 0.05), 3e-7),
  one("relu", g.relu, beside(0.1, 3)),
  one("squaredRelu", g.squaredRelu, beside(0.1, 3)),
  // Far to the left Φ is a difference of like numbers, and beside −0.7518 the derivative is.
  one("gelu", (x) => g.gelu(x), away(within(-2, 3, 20, 1e-9, 0), -0.7518, 0.05)),
  one("gelu, by tanh", (x) => g.gelu(x, "tanh"), away(within(-2, 3, 20, 1e-9, 0), -0.7525, 0.05)),
  one("square", g.square, real),
  two("add", g.add, real, real),
  two("sub", g.sub, real, real),
  two("mul", g.mul, real, real),
  two("div", g.div, real, beside(0.4, 3)),
  two("pow", g.pow, within(0.4, 2, 1), within(-2, 2, 0, 1, 2, -1, 0.5)),
  two("maximum", g.maximum, lattice(0), lattice(0.25)),
  two("minimum", g.minimum, lattice(0), lattice(0.25)),
  entry("clip", shapes(), (s) => [(x) => g.clip(x, -1, 1.5), [s, lattice(0.25)]], {
    elementwise: true,
  }),
  entry("where", broadcastable(3), ([s, t, r]) => [
    (c, a, b) => g.where(g.greater(c, 0), a, b),
    [s, beside(0.1, 1)],
    [t, real],
    [r, real],
  ]),
  entry("addAll", broadcastable(3), ([s, t, r]) => [
    (...x) => g.addAll(x),
    [s, real],
    [t, real],
    [r, real],
  ]),

  reduction("sum", g.sum, real),
  reduction("mean", g.mean, real),
  reduction("max", g.max, distinct),
  reduction("logSumExp", g.logSumExp, within(-3, 3, 20, -20)),
  along("softmax", g.softmax, within(-3, 3, 8, -8)),
  along("logSoftmax", g.logSoftmax, within(-3, 3, 20, -20)),
  along("cumsum", g.cumsum),
  along("cumsum, exclusive", (x, a) => g.cumsum(x, a, { exclusive: true })),
  along("cumsum, reverse", (x, a) => g.cumsum(x, a, { reverse: true })),
  along("cumsum, exclusive and reverse", (x, a) =>
    g.cumsum(x, a, { exclusive: true, reverse: true }),
  ),

  entry("matmul", products, ([[s, t], m, k, n]) => [
    g.matmul,
    [[...s, m, k], real],
    [[...t, k, n], real],
  ]),
  entry("matmul of matrices", fc.tuple(size(), size(), size()), ([m, k, n]) => [
    g.matmul,
    [[m, k], real],
    [[k, n], real],
  ]),
  entry(
    "matmul by a shared matrix",
    fc.tuple(shapes(1, 2), size(), size(), size()),
    ([s, m, k, n]) => [g.matmul, [[...s, m, k], real], [[k, n], real]],
  ),
  entry("matmul with a bias", fc.tuple(size(), size(), size()), ([m, k, n]) => [
    (a, b, c) => g.add(g.matmul(g.transpose(a), g.transpose(b)), c),
    [[k, m], real],
    [[n, k], real],
    [[n], real],
  ]),
  entry("matvec", products, ([[s], m, k]) => [g.matvec, [[...s, m, k], real], [[...s, k], real]]),
  entry("dot", broadcastable(2), ([s, t]) => [g.dot, [[...s, 3], real], [[...t, 3], real]]),
  entry("squaredNorm", shapes(1), (s) => [g.squaredNorm, [s, real]]),
  entry("inverse", fc.tuple(shapes(0, 2), size(1, 4)), ([s, n]) => [
    g.inverse,
    [[...s, n, n], regular],
  ]),
  entry("solve", fc.tuple(broadcastable(2), size(1, 4), size(1, 3)), ([[s, t], n, m]) => [
    g.solve,
    [[...s, n, n], regular],
    [[...t, n, m], real],
  ]),
  entry("cholesky", fc.tuple(shapes(0, 2), size(1, 5)), ([s, n]) => [
    (x) => g.cholesky(g.add(x, g.mul(g.eye(n, x.dtype), 4 * n))),
    [[...s, n, n], real],
  ]),
  entry(
    "cholesky in halves",
    size(9, 21),
    (n) => [(x) => g.cholesky(g.add(x, g.mul(g.eye(n, x.dtype), 4 * n))), [[n, n], real]],
    { runs: 4 },
  ),
  entry("symmetric", fc.tuple(shapes(0, 2), size(1, 4)), ([s, n]) => [
    (x) => g.symmetric(x),
    [[...s, (n * (n + 1)) / 2], real],
  ]),
  entry("symmetric, of ones", fc.tuple(shapes(0, 2), size(1, 4)), ([s, n]) => [
    (x) => g.symmetric(x, { diagonal: 1 }),
    [[...s, (n * (n + 1)) / 2], real],
  ]),
  entry("logAbsDet", fc.tuple(shapes(0, 2), size(1, 5)), ([s, n]) => [
    g.logAbsDet,
    [[...s, n, n], regular],
  ]),

  entry("transpose", permutations, ({ shape, axes }) => [
    (x) => g.transpose(x, axes),
    [shape, real],
  ]),
  entry("transpose of the last two axes", shapes(2, 4), (s) => [(x) => g.transpose(x), [s, real]]),
  entry("swapAxes", fc.tuple(shapes(3, 3), size(-3, 2), size(-3, 2)), ([s, i, j]) => [
    (x) => g.swapAxes(x, i, j),
    [s, real],
  ]),
  entry("reshape", reshaped, ({ shape, to }) => [(x) => g.reshape(x, to), [shape, real]]),
  entry("expand", fc.tuple(broadcastable(1), shapes(1, 2)), ([[s], lead]) => [
    (x) => g.expand(x, [...lead, ...s.map((d) => (d === 1 ? 3 : d))]),
    [s, real],
  ]),
  along("expandDims", (x, a) => g.expandDims(x, a)),
  along("squeeze", (x, a) => g.squeeze(g.expandDims(x, a), a)),
  entry("slice", ranges, (r) => [
    (x) => g.slice(x, ...r.map(({ range }) => range)),
    [r.map(({ size: n }) => n), real],
  ]),
  entry("slice from the end", size(2, 6), (n) => [
    (x) => g.slice(x, null, [-2, n]),
    [[2, n], real],
  ]),
  along("at", (x, a) => g.at(x, -1, a)),
  entry("pad", padded, ({ shape, before, after }) => [
    (x) => g.pad(x, before, after),
    [shape, real],
  ]),
  entry("concat", joined, ({ at: { shape, axis }, extra }) => {
    const other = (d: number): number[] => shape.with(axis, d);
    return [
      (...x) => g.concat(x, axis),
      [shape, real],
      ...extra.map((d) => [other(d), real] as const),
    ];
  }),
  entry("stack", fc.tuple(shapeAndAxis(), size(1, 3)), ([{ shape, axis }, n]) => [
    (...x) => g.stack(x, axis),
    ...Array.from({ length: n }, () => [shape, real] as const),
  ]),
  entry("split", fc.tuple(shapeAndAxis(), size(1, 3)), ([{ shape, axis }, parts]) => [
    (x) => g.addAll(g.split(x, parts, axis).map((p, k) => g.mul(p, k + 1))),
    [shape.with(axis, parts * (shape.at(axis) as number)), real],
  ]),
  entry("flip", shapeAndAxes, ({ shape, axes }) => [(x) => g.flip(x, axes ?? -1), [shape, real]]),
  entry("take", gathered, ({ at: { shape, axis }, indices }) => [
    (x, i) => g.take(x, i, axis),
    [shape, real],
    [indices, whole(-(shape.at(axis) as number), (shape.at(axis) as number) - 1)],
  ]),
  entry("takeAlong", fc.tuple(shapeAndAxis(), size()), ([{ shape, axis }, n]) => [
    (x, i) => g.takeAlong(x, i, axis),
    [shape, real],
    [
      shape.with(axis, n),
      whole(-(shape.at(axis) as number), (shape.at(axis) as number) - 1, "int64"),
    ],
  ]),
  along("sort", (x, a) => g.sort(x, a), distinct),
  along("top", (x, a) => g.top(x, Math.ceil((x.shape.at(a) as number) / 2), a), distinct),

  entry("conv2d", convolutions, ({ batch, h, w, kh, kw, channels: [i, o], stride, padding }) => [
    (x, k) => g.conv2d(x, k, { stride, padding }),
    [[batch, h, w, i], real],
    [[kh, kw, i, o], real],
  ]),
  entry("conv2d, 1×1", images, ({ batch, h, w, c }) => [
    (x, k) => g.conv2d(x, k),
    [[batch, h, w, c], real],
    [[1, 1, c, 2], real],
  ]),
  // From some size on, sums and products have forms of their own.
  entry(
    "sum of thousands",
    fc.constantFrom<number[]>([2, 1200, 2], [3000], [1, 1009]),
    (s) => [(x) => g.sum(x, s.indexOf(Math.max(...s))), [s, real]],
    { runs: 3 },
  ),
  entry(
    "AᵀB over thousands of rows",
    fc.constantFrom([4096, 1, 3], [5000, 4, 2], [4099, 2, 2]),
    ([k, m, n]) => [(a, b) => g.matmul(g.transpose(a), b), [[k, m], real], [[k, n], real]],
    { runs: 3 },
  ),

  entry("averagePool", images, ({ batch, h, w, c, window: k }) => [
    (x) => g.averagePool(x, k),
    [[batch, h * k, w * k, c], real],
  ]),
  entry("maxPool", images, ({ batch, h, w, c, window: k }) => [
    (x) => g.maxPool(x, k),
    [[batch, h * k, w * k, c], distinct],
  ]),
  entry("groupNorm", fc.tuple(shapes(2, 3), size(1, 3), size(1, 3)), ([s, groups, n]) => [
    (x, scale, shift) => g.groupNorm(x, scale, shift, groups, 0.1),
    [[...s, groups * n], real],
    [[groups * n], real],
    [[groups * n], real],
  ]),
  entry("layerNorm", fc.tuple(shapes(0, 2), size(2, 5)), ([s, n]) => [
    (x) => g.layerNorm(x, { epsilon: 0.1 }),
    [[...s, n], real],
  ]),
  entry("layerNorm with scale and shift", fc.tuple(shapes(0, 2), size(2, 5)), ([s, n]) => [
    (x, scale, shift) => g.layerNorm(x, { scale, shift, epsilon: 0.1 }),
    [[...s, n], real],
    [[n], real],
    [[n], real],
  ]),
  entry(
    "attention",
    fc.tuple(size(1, 2), size(1, 3), size(1, 4), size(1, 3), size(1, 3)),
    ([b, heads, n, d, m]) => [
      (q, k, v) => g.attention(q, k, v, { heads }),
      [[b, n, heads * d], real],
      [[b, m, heads * d], real],
      [[b, m, heads * d], real],
    ],
  ),
  entry(
    "attention with a bias",
    fc.tuple(size(1, 2), size(1, 3), size(1, 4), size(1, 3), size(1, 3)),
    ([b, heads, n, d, m]) => [
      (q, k, v, bias) => g.attention(q, k, v, { heads, scale: 0.7, bias }),
      [[b, n, heads * d], real],
      [[b, m, heads * d], real],
      [[b, m, heads * d], real],
      [[heads, n, m], real],
    ],
  ),
  entry(
    "rotary",
    fc.tuple(size(1, 2), size(1, 3), size(1, 3), size(1, 2), size(0, 3)),
    ([b, heads, n, p, rest]) => [
      (x) =>
        g.rotary(
          x,
          {
            shape: [n, p],
            dtype: "float64",
            data: Float64Array.from({ length: n * p }, (_, i) => i * i - 1),
          },
          heads,
        ),
      [[b, n, heads * (2 * p + rest)], real],
    ],
  ),
  entry("upsampleNearest", images, ({ batch, h, w, c, window: k }) => [
    (x) => g.upsampleNearest(x, k),
    [[batch, h, w, c], real],
  ]),
];

const near = lattice(0); // repeated values are likely
const flag: Domain = whole(0, 1, "bool");
const int = (dtype: "int32" | "int64"): Domain => whole(-9, 9, dtype);

/**
 * Primitives whose results are booleans or integers, and arithmetic of integers: values, but no
 * derivatives.
 */
export const discrete: readonly Entry[] = [
  two("less", g.less, whole(0, 2, "float64"), whole(0, 2, "float64")),
  two("lessEqual", g.lessEqual, whole(0, 2, "float64"), whole(0, 2, "float64")),
  two("greater", g.greater, whole(0, 2, "float64"), whole(0, 2, "float64")),
  two("greaterEqual", g.greaterEqual, whole(0, 2, "float64"), whole(0, 2, "float64")),
  two("equal", g.equal, whole(0, 2, "float64"), whole(0, 2, "float64")),
  two("equal, of integers", g.equal, whole(0, 2, "int64"), whole(0, 2, "int64")),
  two("less, of integers", g.less, whole(0, 2), whole(0, 2)),
  two("logicalAnd", g.logicalAnd, flag, flag),
  two("logicalOr", g.logicalOr, flag, flag),
  one("logicalNot", g.logicalNot, flag),
  entry("where, of booleans", broadcastable(3), ([s, t, r]) => [
    g.where,
    [s, flag],
    [t, flag],
    [r, flag],
  ]),
  along("argmax", g.argmax, near),
  along("argmax, of ties", g.argmax, whole(0, 2, "float64")),
  along("argsort", g.argsort, distinct),
  along("argsort, of ties", g.argsort, whole(0, 2, "float64")),
  along("argTop", (x, a) => g.argTop(x, 1, a), distinct),
  along(
    "argTop, of ties",
    (x, a) => g.argTop(x, x.shape.at(a) as number, a),
    whole(0, 2, "float64"),
  ),
  entry("oneHot", shapes(), (s) => [(i) => g.oneHot(i, 4, "float64"), [s, whole(0, 3)]]),
  one("cast to int32", (x) => g.cast(x, "int32"), real),
  one("cast to int64", (x) => g.cast(x, "int64"), real),
  one("cast to bool", (x) => g.cast(x, "bool"), whole(-1, 1, "float64")),
  one("cast from bool", (x) => g.cast(x, "float32"), flag),
  ...(["int32", "int64"] as const).flatMap((dtype) => {
    const positive = whole(1, 4, dtype);
    return [
      two(`add, ${dtype}`, g.add, int(dtype), int(dtype)),
      two(`sub, ${dtype}`, g.sub, int(dtype), int(dtype)),
      two(`mul, ${dtype}`, g.mul, int(dtype), int(dtype)),
      two(`div, ${dtype}`, g.div, int(dtype), positive),
      two(`pow, ${dtype}`, g.pow, int(dtype), positive),
      two(`maximum, ${dtype}`, g.maximum, int(dtype), int(dtype)),
      two(`minimum, ${dtype}`, g.minimum, int(dtype), int(dtype)),
      one(`neg, ${dtype}`, g.neg, int(dtype)),
      one(`abs, ${dtype}`, g.abs, int(dtype)),
      one(`sign, ${dtype}`, g.sign, int(dtype)),
      reduction(`sum, ${dtype}`, g.sum, int(dtype)),
      reduction(`max, ${dtype}`, g.max, int(dtype)),
      along(`cumsum, ${dtype}`, g.cumsum, int(dtype)),
      along(`argmax, ${dtype}`, g.argmax, int(dtype)),
      along(`argsort, ${dtype}`, g.argsort, int(dtype)),
      along(`sort, ${dtype}`, g.sort, int(dtype)),
      two(`where, ${dtype}`, (a, b) => g.where(g.less(a, b), a, b), int(dtype), int(dtype)),
      entry(`take, ${dtype}`, size(), (n) => [
        (x, i) => g.take(x, i),
        [[4, n], int(dtype)],
        [[3], whole(0, 3, dtype)],
      ]),
      entry(`pad and slice, ${dtype}`, size(), (n) => [
        (x) => g.slice(g.pad(x, [1, 1], [0, 1]), [0, 2], [0, n, 2]),
        [[2, n], int(dtype)],
      ]),
    ];
  }),
];
