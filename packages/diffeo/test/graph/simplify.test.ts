import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { data, lossAndGradient } from "../../../../bench/third-order.ts";
import * as g from "../../src/graph/index.ts";
import { simplify, type Tensor, topological } from "../../src/graph/index.ts";
import { key, uniform } from "../../src/random/index.ts";
import { largest } from "./differences.ts";
import { effort } from "./draw.ts";
import { derivatives, programs } from "./programs.ts";

const x = g.input("x", [2, 3], "float64");
const y = g.input("y", [3], "float64");
const z = g.input("z", [], "float64");
const c = g.input("c", [2, 3], "bool");

/** An expression as text: `add(x, 2)`. */
function show(t: Tensor): string {
  if (t.op.name === "input") return t.attributes.name as string;
  const value = t.attributes.value as g.NdArray | undefined;
  if (value)
    return new Set(value.data as Float64Array).size === 1 ? `${value.data[0]}` : `[${value.data}]`;
  return `${t.op.name}(${t.inputs.map(show).join(", ")})`;
}

const simplified = (t: Tensor): string => show(simplify([t])[0]);
const count = (outputs: readonly Tensor[], name?: string): number =>
  topological(outputs).filter((t) => name === undefined || t.op.name === name).length;

describe("algebraic identities", () => {
  it.each<[string, Tensor, string]>([
    ["x + 0", g.add(x, 0), "x"],
    ["0 + x", g.add(0, x), "x"],
    ["x − 0", g.sub(x, 0), "x"],
    ["0 − x", g.sub(0, x), "neg(x)"],
    ["x · 1", g.mul(x, 1), "x"],
    ["1 · x", g.mul(1, x), "x"],
    ["x · −1", g.mul(x, -1), "neg(x)"],
    ["−(−x)", g.neg(g.neg(x)), "x"],
    ["x + (−y)", g.add(x, g.neg(y)), "sub(x, y)"],
    ["(−y) + x", g.add(g.neg(y), x), "sub(x, y)"],
    ["x − (−y)", g.sub(x, g.neg(y)), "add(x, y)"],
    ["(−x) · y", g.mul(g.neg(x), y), "neg(mul(x, y))"],
    ["(−x) · (−y)", g.mul(g.neg(x), g.neg(y)), "mul(x, y)"],
    ["x / 1", g.div(x, 1), "x"],
    ["x / 4", g.div(x, 4), "mul(x, 0.25)"],
    ["x / 2⁻¹³⁰, whose inverse float32 does not hold", g.div(x, 2 ** -130), `div(x, ${2 ** -130})`],
    ["(x · 2) · 3", g.mul(g.mul(x, 2), 3), "mul(x, 6)"],
    ["2 · (x · 3)", g.mul(2, g.mul(x, 3)), "mul(x, 6)"],
    ["x⁰", g.pow(x, 0), "1"],
    ["x¹", g.pow(x, 1), "x"],
    ["x²", g.pow(x, 2), "mul(x, x)"],
    ["√x as a power", g.pow(x, 0.5), "sqrt(x)"],
    ["1/x as a power", g.pow(x, -1), "div(1, x)"],
    ["xᵀᵀ", g.transpose(g.transpose(x)), "x"],
    ["a transpose of axes of size 1", g.transpose(g.reshape(x, [1, 6])), "reshape(x)"],
    ["a reshape and its inverse", g.reshape(g.reshape(x, [6]), [2, 3]), "x"],
    ["two reshapes", g.reshape(g.reshape(x, [6]), [3, 2]), "reshape(x)"],
    ["an expansion to the same shape", g.expand(x, [2, 3]), "x"],
    ["an expansion that broadcasting makes anyway", g.add(x, g.expand(y, [2, 3])), "add(x, y)"],
    ["a function of repeated numbers", g.sin(g.expand(y, [2, 3])), "expand(sin(y))"],
    ["a norm of repeated rows", g.layerNorm(g.expand(x, [4, 2, 3])), "expand(layerNorm(x))"],
    [
      "a sum of two repeated tensors",
      g.add(g.expand(y, [2, 3]), g.expand(z, [2, 3])),
      "expand(add(y, z))",
    ],
    ["the whole of an axis", g.slice(x, [0, 2], null), "x"],
    ["padding by nothing", g.pad(x, [0, 0], [0, 0]), "x"],
    ["flipping an axis of size 1", g.flip(g.expandDims(x, 0), [0]), "reshape(x)"],
    ["joining one tensor", g.concat([x]), "x"],
    ["a cast to the same type", g.cast(x, "float64"), "x"],
    ["stopGradient", g.stopGradient(x), "x"],
    ["a choice between equals", g.where(c, x, x), "x"],
    ["a choice already made", g.where([[1, 1, 1], [1, 1, 1]], x, g.neg(x)), "x"], // biome-ignore format: a matrix
    ["a sum over axes of size 1", g.sum(g.expandDims(x, 1), 1, { keepDims: true }), "reshape(x)"],
    ["a sum of repeated numbers", g.sum(g.expand(z, [5])), "mul(z, 5)"],
    ["a multiple, reshaped", g.reshape(g.mul(x, 5), [6]), "mul(reshape(x), 5)"],
  ])("%s", (_, before, after) => {
    expect(simplified(before)).toBe(after);
  });

  it("do not change 0 · x, which is not 0 for infinite x", () => {
    expect(simplified(g.mul(x, 0))).toBe("mul(x, 0)");
  });

  it("do not change x − x and x / x for the same reason", () => {
    expect(simplified(g.sub(x, x))).toBe("sub(x, x)");
    expect(simplified(g.div(x, x))).toBe("div(x, x)");
  });

  it("normalise repeated rows once, also in the derivative", () => {
    const [, slope] = g.jvp((rows: Tensor) => g.layerNorm(rows), g.expand(y, [2, 3]), x);
    const norms = topological(simplify([slope])).filter(({ op }) =>
      /layerNorm|inverseStd/.test(op.name),
    );
    expect(norms.map(({ shape }) => shape)).toEqual([[1], [3]]);
  });
});

describe("constants", () => {
  it("are folded", () => {
    expect(simplified(g.add(g.mul(g.exp(g.constant(0, "float64")), 2), g.mul(z, 0.5)))).toBe(
      "add(2, mul(z, 0.5))",
    );
  });

  it("are rounded to their type after each operation, as on a device", () => {
    const third = g.div(g.constant(1, "float32"), 3);
    expect(simplified(g.mul(third, 3))).toBe(String(Math.fround(Math.fround(1 / 3) * 3)));
  });

  it("are not folded if float64 would lose digits of an integer or the result is not a number", () => {
    const large = g.constant(
      { shape: [], dtype: "int64", data: BigInt64Array.of(2n ** 60n + 1n) },
      "int64",
    );
    expect(simplified(g.add(g.constant(2 ** 40, "int64"), 2))).toBe(`${2 ** 40 + 2}`);
    expect(simplified(g.add(large, 2))).toBe("add(1152921504606846977, 2)");
    expect(simplified(g.mul(g.constant(2 ** 40, "int64"), 2 ** 40))).toBe(
      `mul(${2 ** 40}, ${2 ** 40})`,
    );
    expect(simplified(g.div(g.constant(1, "int64"), 0))).toBe("div(1, 0)");
  });

  it("include all empty results", () => {
    expect(simplified(g.sort(g.input("x", [0, 3])))).toBe("[]");
  });

  it("do not enlarge the file if they are large", () => {
    const ones = g.expand(g.constant([1, 2, 3], "float64"), [10_000, 3]);
    expect(simplified(g.sin(ones))).toBe(
      "expand([0.8414709848078965,0.9092974268256817,0.1411200080598672])",
    );
  });
});

describe("equal expressions", () => {
  it("are computed once", () => {
    const f = (): Tensor => g.sin(g.mul(x, g.constant(2.5, "float64")));
    const [t] = simplify([g.add(g.mul(f(), f()), f())]);
    expect(count([t], "sin")).toBe(1);
    expect(count([t])).toBe(6);
  });

  it("are shared between outputs", () => {
    const [a, b] = simplify([g.exp(x), g.exp(x)]);
    expect(a).toBe(b);
  });

  it("are only those with equal attributes, types and signs of zero", () => {
    const part = (start: number): Tensor => g.slice(y, [start, start + 2]);
    expect(count(simplify([g.add(part(0), part(1))]), "slice")).toBe(2);
    expect(count(simplify([g.cast(x, "float32"), g.cast(x, "int32")]), "cast")).toBe(2);
    const [plus, minus] = simplify([
      g.div(z, g.constant(0, "float64")),
      g.div(z, g.constant(-0, "float64")),
    ]);
    expect(plus).not.toBe(minus);
  });

  it("are not those of different primitives with the same name", () => {
    const times = (factor: number): Tensor =>
      g.primitive({
        name: "times",
        infer: ([t]) => t,
        emit: () => "",
        evaluate: (_, [v]) => v.map((one) => one * factor),
      })([z], {});
    expect(
      g
        .reference(simplify([times(2), times(3)]), new Map([[z, Float64Array.of(1)]]))
        .map((v) => v[0]),
    ).toEqual([2, 3]);
  });
});

describe("graphs lowered for a device", () => {
  const a = g.input("a", [4, 3]);
  const w = g.input("w", [5, 3]);
  const b = g.input("b", [5]);
  const lowered = (t: Tensor, target: g.Target): string => show(g.lower([t], target)[0]);

  it("has one product for a·wᵀ + b", () => {
    expect(lowered(g.add(g.matmul(a, g.transpose(w)), b), "cpu")).toBe("gemm(a, w, b)");
    expect(lowered(g.add(b, g.matmul(a, g.transpose(w))), "gpu")).toBe("gemm(a, w, b)");
  });

  it("keeps a product separate if it is used twice", () => {
    const product = g.matmul(a, g.transpose(w));
    expect(count(g.lower([g.add(product, b), g.exp(product)], "cpu"), "gemm")).toBe(1);
  });

  it("has one product for rows of any batch", () => {
    const batch = g.input("x", [2, 4, 3]);
    expect(lowered(g.add(g.matmul(batch, g.transpose(w)), b), "cpu")).toBe(
      "reshape(gemm(reshape(x), w, b))",
    );
  });

  it("has a bias, the same at every pixel or one a board, in the last product of a 3×3 convolution", () => {
    const image = g.input("x", [32, 4, 4, 64]);
    const kernel = g.input("k", [3, 3, 64, 64]);
    const shifts = [g.input("s", [64]), g.input("s", [32, 1, 1, 64])];
    const random = (t: Tensor, i: number): [Tensor, Float64Array] => [
      t,
      g.toFloat64(uniform(key(`bias ${i}`), t.shape).data),
    ];
    for (const shift of shifts)
      for (const target of ["cpu", "gpu"] as const) {
        const sum = g.add(shift, g.conv2d(image, kernel));
        const form = g.lower([sum], target);
        expect(count(form, "add")).toBe(0);
        const given = new Map([image, kernel, shift].map(random));
        const [value] = g.reference(form, given);
        const [exact] = g.reference([sum], given);
        expect(largest(value.map((v, i) => v - exact[i]))).toBeLessThan(1e-4);
      }
  });

  it("computes the moments of a group normalisation once, for its value and gradients", () => {
    const [t, scale, shift] = [
      g.input("x", [4, 16, 128]),
      g.input("s", [128]),
      g.input("b", [128]),
    ];
    const [value, pull] = g.vjp(
      ([p, q, r]: readonly Tensor[]) => g.groupNorm(p, q, r, 8),
      [t, scale, shift],
    );
    for (const target of ["cpu", "gpu"] as const)
      expect(count(g.lower([value, ...pull(g.input("g", value.shape))], target), "sqrt")).toBe(1);
  });

  it("computes the norm of a concatenated vector by its parts", () => {
    const parts = ["a", "b", "c"].map((name) => g.input(name, [2 ** 22]));
    const whole = g.concat(parts, 0);
    expect(show(g.lower([g.sum(g.mul(whole, whole))], "cpu")[0])).not.toContain("concat");
  });

  it("is the runtime's attention, and one softmax with a backward pass", () => {
    const [q, k, v] = ["q", "k", "v"].map((name) => g.input(name, [2, 4, 6]));
    const f = ([a, b, e]: readonly Tensor[]): Tensor => g.attention(a, b, e, { heads: 2 });
    const names = (outputs: readonly Tensor[]): number[] =>
      ["attention", "softmax"].map((name) => count(g.lower(outputs, "cpu"), name));
    expect(names([f([q, k, v])])).toEqual([1, 0]);
    const [value, pull] = g.vjp(f, [q, k, v]);
    expect(names([value, ...pull(g.input("g", value.shape))])).toEqual([0, 1]);
  });

  it("transposes heads of attention fourteen times on a GPU for value and gradients", () => {
    const [q, k, v] = ["q", "k", "v"].map((name) => g.input(name, [128, 64, 256], "float32"));
    const [value, pull] = g.vjp(
      ([a, b, e]) => g.attention(a, b, e, { heads: 8, scale: 1 }),
      [q, k, v],
    );
    const form = g.lower([value, ...pull(g.input("g", value.shape, "float32"))], "gpu");
    expect(count(form, "turn")).toBe(14);
    expect(count(form, "transpose")).toBe(0);
  });

  it("is one gather and one product for a convolution, on either device", () => {
    const image = g.input("x", [1, 4, 4, 2]);
    const kernel = g.input("k", [3, 3, 2, 5]);
    const names = (target: g.Target): string[] =>
      topological(g.lower([g.conv2d(image, kernel)], target)).map((t) => t.op.name);
    expect(names("cpu").filter((name) => name === "take" || name === "gemm")).toEqual([
      "take",
      "gemm",
    ]);
    expect(names("gpu")).toEqual(names("cpu"));
  });
});

describe("unused nodes", () => {
  it("are not in the file", () => {
    const [value] = g.valueAndGrad((t: Tensor) => g.sum(g.sin(t)))(x);
    const { bytes } = g.writeOnnx([{ name: "y", tensor: value }]);
    expect(Buffer.from(bytes).includes("Cos")).toBe(false);
  });
});

describe("a third-order gradient", () => {
  const { parameters, x: points, v } = data("float64");
  const traced = (): readonly Tensor[] =>
    g.trace(lossAndGradient, [parameters, points, v], "float64").outputs.map((o) => o.tensor);

  it("has a third fewer nodes after simplification", () => {
    const outputs = traced();
    expect(count(simplify(outputs))).toBeLessThan((2 / 3) * count(outputs));
  });

  it("does not shrink when simplified again", () => {
    const once = simplify(traced());
    expect(simplify(once).map((t, i) => t === once[i])).toEqual(once.map(() => true));
  });
});

describe("any program", () => {
  const draw = (name: string, n: number): Float64Array =>
    uniform(key(name), [n], { dtype: "float64", low: -2, high: 2 }).data;
  const inputs = [x, y, z];
  const values = new Map(
    inputs.map((t) => [t, draw(t.attributes.name as string, g.sizeOf(t.shape))]),
  );

  it("keeps its value and derivatives, and does not grow", () => {
    fc.assert(
      fc.property(programs, (steps) => {
        const outputs = derivatives(steps, inputs);
        const plain = g.reference(outputs, values);
        const scale = Math.max(1, largest(plain.map(largest)));
        const simple = simplify(outputs);
        expect(count(simple)).toBeLessThanOrEqual(count(outputs));
        const same = (rewritten: readonly Tensor[], tolerance: number): void =>
          g.reference(rewritten, values).forEach((r, k) => {
            expect(rewritten[k].shape).toEqual(outputs[k].shape);
            expect(largest(r.map((v, j) => v - plain[k][j]))).toBeLessThanOrEqual(
              tolerance * scale,
            );
          });
        same(simple, 1e-12);
        same(g.lower(outputs, "cpu"), 1e-12);
        same(g.lower(outputs, "gpu"), 1e-4); // its sine is made for float32
      }),
      { numRuns: effort(150) },
    );
  });

  it("is simplified the same way every time", () => {
    fc.assert(
      fc.property(programs, (steps) => {
        const bytes = (): Uint8Array =>
          g.writeOnnx(derivatives(steps, inputs).map((tensor, i) => ({ name: `y${i}`, tensor })))
            .bytes;
        expect(Buffer.from(bytes()).equals(bytes())).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
