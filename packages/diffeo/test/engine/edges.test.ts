/**
 * The compiler at special values: 0, −0, infinities, NaN, denormals and the largest numbers through
 * every operation on numbers, alone, in pairs and broadcast; empty axes and axes of one through
 * every operation on axes. Compared with the float64 reference.
 */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import type { FloatType, NdArray, Tensor } from "../../src/graph/index.ts";
import * as g from "../../src/graph/index.ts";

const types = ["float64", "float32"] as const;
const operation = { ...g };
const edges: Readonly<Record<FloatType, readonly number[]>> = {
  float64: [0, -0, 1, -1, 0.5, 2.5, -3, 1e-310, -5e-324, 1e-160, 1e300, -1e300, Infinity, -Infinity, Number.NaN],
  float32: [0, -0, 1, -1, 0.5, 2.5, -3, 1e-40, -1.401298464324817e-45, 1e-20, 2e38, -2e38, Infinity, -Infinity, Number.NaN],
}; // biome-ignore format: lists

async function results(f: (...x: Tensor[]) => Tensor, args: readonly NdArray[], device: string) {
  const type = args[0]?.dtype as FloatType;
  const compiled = compile(f, args.map(({ shape }) => shape) as never, { device, type });
  const out = await (compiled as (...a: NdArray[]) => Promise<NdArray>)(...args);
  await compiled.dispose();
  return out;
}

const LARGEST = 3.4028234663852886e38;
const LEAST = 2 ** -126;

/** What a float64 result is as a float32 one, where rounding does not decide. */
function expectNear(found: number, expected: number, type: FloatType, label: string): void {
  const size = Math.abs(expected);
  if (Number.isFinite(expected) && size > 0) {
    if (type === "float32" && size > LARGEST)
      return void expect(found, label).toBe(Math.sign(expected) * Infinity);
    // Below the normal numbers, as many digits as there are.
    const least = type === "float32" ? LEAST : 2 ** -1022;
    const bound = Math.max(
      (type === "float32" ? 2e-6 : 1e-13) * size,
      size < least ? least * 2 ** -20 : 0,
    );
    expect(Math.abs(found - expected), `${label}: ${found} for ${expected}`).toBeLessThanOrEqual(
      bound,
    );
  } else expect(found, label).toBe(expected);
}

async function compareAt(
  name: string,
  f: (...x: Tensor[]) => Tensor,
  args: readonly NdArray[],
): Promise<void> {
  const type = args[0].dtype as FloatType;
  const [own, other] = await Promise.all(
    ["wasm", "reference"].map((device) => results(f, args, device)),
  );
  expect(own.shape, name).toEqual(other.shape);
  own.data.forEach((v, i) => {
    const at = args.map(({ data }) => (data.length === own.data.length ? data[i] : "…"));
    expectNear(Number(v), Number(other.data[i]), type, `${name}(${at}) in ${type}`);
  });
}

const unary = ["neg", "abs", "sign", "floor", "sqrt", "square", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "sigmoid", "logSigmoid", "softplus", "erf", "erfc", "atan", "relu", "squaredRelu", "silu", "logGamma"] as const; // biome-ignore format: a list
const binary = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "less", "lessEqual", "greater", "greaterEqual", "equal"] as const; // biome-ignore format: a list

describe.each(types)("special values in %s", (type) => {
  const points = edges[type];
  const n = points.length;

  it.each(unary)("%s", async (name) => {
    // sin and cos of numbers of 300 digits are reduced differently by JavaScript's own.
    const far = name === "sin" || name === "cos";
    const own = points.filter((x) => !far || Math.abs(x) < 1e22 || !Number.isFinite(x));
    await compareAt(name, operation[name], [g.ndarray([...own], type)]);
    for (const x of [0, -0, Number.NaN])
      await compareAt(name, operation[name], [g.ndarray([x], type)]);
  });

  it.each(binary)("%s, in all pairs and broadcast", async (name) => {
    const f = (a: Tensor, b: Tensor): Tensor => {
      const y = operation[name](a, b);
      return y.dtype === "bool" ? g.cast(y, type) : y;
    };
    const [rows, column] = [
      points.flatMap((x) => new Array<number>(n).fill(x)),
      points.flatMap(() => points),
    ];
    await compareAt(name, f, [g.ndarray(rows, type), g.ndarray(column, type)]);
    // A column and a row, which are the same pairs, and a single number on either side.
    const wide = await results(f, [g.ndarray(rows, type), g.ndarray(column, type)], "wasm");
    const few = [
      g.ndarray(
        points.map((x) => [x]),
        type,
      ),
      g.ndarray([[...points]], type),
    ];
    const grid = await results(f, few, "wasm");
    expect([...grid.data]).toEqual([...wide.data]);
    const row = g.ndarray([...points], type);
    for (const [i, x] of points.entries()) {
      const left = await results(f, [g.ndarray(x, type), row], "wasm");
      expect([...left.data]).toEqual([...wide.data.slice(i * n, (i + 1) * n)]);
      const right = await results(f, [row, g.ndarray([x], type)], "wasm");
      expect([...right.data]).toEqual(points.map((_, k) => wide.data[k * n + i]));
    }
  });

  it("where does not pass on a NaN of the other branch", async () => {
    const f = (a: Tensor, b: Tensor): Tensor => g.where(g.less(a, b), a, b);
    const all = points.flatMap((x) => new Array<number>(n).fill(x));
    await compareAt("where", f, [
      g.ndarray(all, type),
      g.ndarray(
        points.flatMap(() => points),
        type,
      ),
    ]);
  });

  it("reductions of each value with others", async () => {
    for (const [name, f] of [
      ["sum", (x: Tensor) => g.sum(x, -1)],
      ["max", (x: Tensor) => g.max(x, -1)],
      ["softmax", (x: Tensor) => g.softmax(x, -1)],
      ["logSumExp", (x: Tensor) => g.logSumExp(x, -1)],
      ["cumsum", (x: Tensor) => g.cumsum(x, -1)],
    ] as const) {
      const rows = points.map((x) => [1, x, 0.25, -2, 3]);
      await compareAt(name, f, [g.ndarray(rows, type)]);
    }
  });
});

/** Shapes with axes of none and of one. */
const shapes = [[0], [1], [0, 3], [3, 0], [2, 0, 3], [1, 1], [1, 5], [5, 1], [1, 4, 1]] as const; // biome-ignore format: a list

describe.each(types)("axes of size 0 and 1 in %s", (type) => {
  const filled = (shape: readonly number[]): NdArray => {
    const data = Array.from({ length: g.sizeOf(shape) }, (_, i) => ((i * 7) % 5) - 1.5);
    return { ...g.ndarray(data, type), shape: [...shape] };
  };
  const operations: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    "sum of all": (x) => g.sum(x),
    "sum of the last": (x) => g.sum(x, -1),
    "sum of the first": (x) => g.sum(x, 0),
    mean: (x) => g.mean(g.concat([x, x, g.fill([...x.shape.slice(0, -1), 1], 1, type)], -1), -1),
    exp: (x) => g.exp(x),
    "a sum with itself": (x) => g.add(x, x),
    "with a row": (x) => g.mul(x, g.fill([1], 2, type)),
    reshape: (x) => g.reshape(x, [g.sizeOf(x.shape)]),
    expand: (x) => g.expand(x, [2, ...x.shape]),
    transpose: (x) => (x.shape.length < 2 ? x : g.transpose(x)),
    flip: (x) => g.flip(x, -1),
    concat: (x) => g.concat([x, x], -1),
    pad: (x) => g.pad(x, x.shape.map(() => 1), x.shape.map(() => 2)), // biome-ignore format: a line
    softmax: (x) => g.softmax(x, -1),
    cumsum: (x) => g.cumsum(x, -1),
    "matmul with its transpose": (x) => {
      const m = x.shape.length === 1 ? g.expandDims(x, 0) : x;
      return g.matmul(m, g.swapAxes(m, -1, -2));
    },
    where: (x) => g.where(g.less(x, 0), x, g.neg(x)),
    gradient: (x) => g.grad((y: Tensor) => g.sum(g.exp(y)))(x),
  };
  it.each(Object.keys(operations))("%s", async (name) => {
    for (const shape of shapes)
      await compareAt(`${name} of [${shape}]`, operations[name], [filled(shape)]);
  });
});

describe.each(types)("products of matrices in %s", (type) => {
  const filled = (shape: readonly number[], seed: number): NdArray => {
    const data = Array.from({ length: g.sizeOf(shape) }, (_, i) => Math.sin(i * i + seed));
    return { ...g.ndarray(data, type), shape: [...shape] };
  };
  // Several vectors at a time, one, and single columns that remain; a last row of a batch.
  it.each([1, 3, 8, 16, 17, 23, 37, 70])(
    "with %i columns, in vectors and in the remainder",
    async (n) => {
      const products: Readonly<
        Record<string, readonly [(a: Tensor, b: Tensor) => Tensor, number[]]>
      > = {
        plain: [g.matmul, [9, n]],
        transposed: [(a, b) => g.matmul(a, g.transpose(b)), [n, 9]],
        flipped: [(a, b) => g.matmul(a, g.flip(b, -1)), [9, n]],
        "of a sum": [(a, b) => g.matmul(g.add(a, 1), g.mul(b, 0.5)), [9, n]],
        batched: [g.matmul, [2, 9, n]],
      };
      for (const [name, [f, shape]] of Object.entries(products)) {
        const args = [filled([2, 5, 9], 1), filled(shape, 2)];
        const [own, other] = await Promise.all(
          ["wasm", "reference"].map((device) => results(f, args, device)),
        );
        own.data.forEach((v, i) => {
          const off = Math.abs(Number(v) - Number(other.data[i]));
          expect(off, name).toBeLessThan(type === "float64" ? 1e-14 : 5e-6);
        });
      }
    },
  );
});
