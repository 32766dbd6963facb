import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  add,
  constant,
  conv2d,
  convert,
  type DType,
  exp,
  type FloatType,
  grad,
  input,
  isFloat,
  lower,
  matmul,
  mul,
  type NdArray,
  neg,
  reference,
  sum,
  type Target,
  type Tensor,
  toFloat64,
  topological,
  trace,
  transpose,
  vjp,
  writeOnnx,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { largest } from "./differences.ts";
import { type Draw, type Entry, effort, together } from "./draw.ts";
import { complaintsOfOnnx } from "./onnx-checker.ts";
import { faults, readOnnx } from "./onnx-reader.ts";
import { runOnCpu } from "./ort.ts";
import { probe } from "./probe.ts";
import { discrete, smooth } from "./table.ts";

const RUNS = effort(8);

/**
 * A graph of one entry with its inputs, under names with a prefix: with derivatives where it has
 * them.
 */
function traced({ f, args }: Draw, type: FloatType, derivatives: boolean, prefix = "") {
  const { graph, arrays } = derivatives ? probe({ f, args }) : { graph: f, arrays: args };
  const given = arrays.map(
    (a): NdArray => (isFloat(a.dtype) ? { ...a, dtype: type, data: convert(a.data, type) } : a),
  );
  const names = given.map((_, i) => `${prefix}x${i}`);
  const { inputs, outputs } = trace<unknown>(graph, given, type, names);
  return {
    inputs,
    outputs: outputs.map(({ name, tensor }) => ({ name: prefix + name, tensor })),
    given,
  };
}

const entries: readonly (Entry & { readonly derivatives: boolean })[] = [
  ...smooth.map((e) => ({ ...e, derivatives: true })),
  ...discrete.map((e) => ({ ...e, derivatives: false })),
];

const kinds: readonly (readonly [FloatType, readonly Target[]])[] = [
  ["float32", ["cpu", "gpu"]],
  ["float64", ["cpu"]],
];

/** Models of every primitive and its derivatives, for every target and type: `sample` of each. */
const models = (
  sample: number,
): { name: string; bytes: Uint8Array; outputs: readonly Tensor[] }[] =>
  entries.flatMap(({ name, draws, derivatives }) =>
    fc.sample(draws, { seed: 1, numRuns: sample }).flatMap((draw, k) =>
      kinds.flatMap(([type, targets]) => {
        const { outputs } = traced(draw, type, derivatives);
        return targets.map((target) => ({
          name: `${name} ${k}, ${target}, ${type}`,
          bytes: writeOnnx(outputs, target).bytes,
          outputs: outputs.map((o) => o.tensor),
        }));
      }),
    ),
  );

const types: Readonly<Record<number, DType>> = {
  1: "float32",
  6: "int32",
  7: "int64",
  9: "bool",
  11: "float64",
};

describe("ONNX files", () => {
  let all: (ReturnType<typeof models>[number] & { readonly file: ReturnType<typeof readOnnx> })[];
  beforeAll(() => {
    all = models(3).map((model) => ({ ...model, file: readOnnx(model.bytes) }));
  });

  it("state opset 17 and IR version 8", () => {
    for (const { file, name } of all) {
      const { irVersion, producer, opsets } = file;
      expect([irVersion, producer], name).toEqual([8, "diffeo"]);
      expect(opsets[0], name).toEqual({ domain: "", version: 17 });
      expect(opsets.slice(1), name).toEqual(
        opsets.length > 1 ? [{ domain: "com.microsoft", version: 1 }] : [],
      );
    }
  });

  it("define every name once and before its use, and declare the shapes and types of the graph", () => {
    for (const { file, outputs, name } of all) {
      expect(faults(file), name).toEqual([]);
      expect(
        file.outputs.map((o) => [o.shape, types[o.type]]),
        name,
      ).toEqual(outputs.map((t) => [t.shape, t.dtype]));
    }
  });

  it("pass ONNX's own checker, where python3 has the package onnx; in CI it must", () => {
    expect(complaintsOfOnnx(all)).toEqual([]);
  });

  it("have the same bytes when the program is traced again", () => {
    const first = new Map(all.map(({ name, bytes }) => [name, bytes]));
    for (const { name, bytes } of models(1))
      expect(Buffer.from(bytes).equals(first.get(name) ?? Buffer.of()), name).toBe(true);
  });

  it("separate the names of inputs and outputs from inner ones", () => {
    const x = input("Neg_0", [2], "float64");
    const file = readOnnx(
      writeOnnx([
        { name: "constant_1", tensor: exp(mul(neg(x), 3)) },
        { name: "Mul_2", tensor: mul(neg(x), 3) },
        { name: "same", tensor: mul(neg(x), 3) },
        { name: "untouched", tensor: x },
        { name: "fixed", tensor: constant([1, 2], "float64") },
      ]).bytes,
    );
    expect(faults(file)).toEqual([]);
    expect(file.inputs.map((p) => p.name)).toEqual(["Neg_0"]);
    expect(file.outputs.map((p) => p.name)).toEqual([
      "constant_1",
      "Mul_2",
      "same",
      "untouched",
      "fixed",
    ]);
  });

  it("refuse two inputs of one name", () => {
    const tensor = add(input("x", [2]), input("x", [2]));
    expect(() => writeOnnx([{ name: "y", tensor }])).toThrow('two inputs have the name "x"');
  });

  it("store every large constant once", () => {
    const weights = {
      shape: [200, 200],
      dtype: "float32",
      data: new Float32Array(40_000).fill(0.5),
    } as const;
    const x = input("x", [3, 200]);
    const tensor = sum(add(matmul(x, constant(weights)), matmul(mul(x, 2), constant(weights))));
    const { bytes } = writeOnnx([{ name: "y", tensor }]);
    expect(bytes.length).toBeLessThan(1.1 * 160_000);
  });
});

describe("a large array of one number", () => {
  it("is written as that number, and expanded when it is run", async () => {
    const [a, unused] = [input("a", [2]), input("unused", [300, 300])];
    const [, tensor] = grad(([t]: readonly Tensor[]) => sum(t))([a, unused]);
    const outputs = [{ name: "y", tensor }];
    expect(writeOnnx(outputs).bytes.length).toBeLessThan(1000);
    const [{ shape, data }] = await runOnCpu(outputs, new Map(), "cpu");
    expect([shape, data.length, largest(toFloat64(data))]).toEqual([[300, 300], 90_000, 0]);
  });
});

describe("graphs lowered for a GPU, run on the CPU in float32", () => {
  it.each(entries)("$name", async (entry) => {
    await fc.assert(
      fc.asyncProperty(together(entry, RUNS), async (draws) => {
        const graphs = draws.map((draw, i) =>
          traced(draw, "float32", entry.derivatives, `draw ${i}, `),
        );
        const results = await runOnCpu(
          graphs.flatMap(({ outputs }) => outputs),
          new Map(
            graphs.flatMap(({ inputs, given }) => inputs.map((t, i) => [t, given[i]] as const)),
          ),
          "gpu",
        );
        for (const { inputs, outputs, given } of graphs) {
          const exact = reference(
            outputs.map((o) => o.tensor),
            new Map(inputs.map((t, i) => [t, toFloat64(given[i].data)])),
          );
          // ONNX Runtime's Sigmoid on the CPU knows no tails, so that here results count against 1
          // too.
          const whole = Math.max(1, largest(exact.map(largest)));
          const found = results.splice(0, outputs.length);
          outputs.forEach(({ name, tensor }, k) => {
            expect(found[k].shape, name).toEqual(tensor.shape);
            toFloat64(found[k].data).forEach((y, j) => {
              if (!(Math.abs(y - exact[k][j]) <= 1e-5 * whole))
                expect.fail(`${name}, entry ${j}: ${y} instead of ${exact[k][j]}`);
            });
          });
        }
      }),
      { numRuns: 1 },
    );
  });
});

describe("a 3×3 convolution of many channels", () => {
  type Case = [
    image: number[],
    channels: number,
    padding: "same" | "valid" | number,
    targets: Target[],
  ];
  const cases: Case[] = [
    [[8, 8, 8, 40], 32, "same", ["cpu"]],
    [[16, 8, 8, 96], 80, "same", ["gpu"]],
    [[32, 4, 4, 24], 32, "same", ["cpu", "gpu"]],
    [[16, 2, 2, 32], 24, "same", ["cpu", "gpu"]],
    [[8, 7, 8, 48], 48, "same", ["cpu"]],
    [[8, 6, 10, 32], 48, "valid", ["cpu"]],
    [[16, 6, 2, 48], 24, 2, ["cpu", "gpu"]],
  ];

  it.each(cases)(
    "has its value and gradients: images %j to %i channels, padding %s",
    async (image, channels, padding, targets) => {
      const [x, k] = [input("x", image), input("k", [3, 3, image[3], channels])];
      const [y, pull] = vjp(([a, c]: readonly Tensor[]) => conv2d(a, c, { padding }), [x, k]);
      const g = input("g", y.shape);
      const outputs = [y, ...pull(g)].map((tensor, i) => ({ name: `${i}`, tensor }));
      const given = new Map([x, k, g].map((t, i) => [t, normal(key(`many ${i}`), t.shape)]));
      const exact = reference(
        outputs.map((o) => o.tensor),
        new Map([...given].map(([t, a]) => [t, toFloat64(a.data)])),
      );
      for (const target of targets) {
        // Nothing is gathered: this is the form with fewer products.
        const names = topological(
          lower(
            outputs.map((o) => o.tensor),
            target,
          ),
        ).map((t) => t.op.name);
        expect(names).not.toContain("take");
        const results = await runOnCpu(outputs, given, target);
        results.forEach((result, i) => {
          const squares = (v: Float64Array): number => v.reduce((s, a) => s + a * a, 0);
          const apart = toFloat64(result.data).map((v, j) => v - exact[i][j]);
          expect(Math.sqrt(squares(apart) / squares(exact[i]))).toBeLessThan(2e-6);
        });
      }
    },
  );
});

describe("transposes on a GPU", () => {
  const cases: [number[], number[], number][] = [
    [[128, 3, 33], [0, 2, 1], 1],
    [[128, 33, 5], [0, 2, 1], 0],
    [[2, 64, 1, 3, 35], [0, 1, 4, 2, 3], 1],
    [[128, 3, 2, 17], [0, 2, 3, 1], 1],
    [[128, 3, 2, 37], [0, 3, 1, 2], 1],
    [[128, 33, 2, 34], [0, 2, 1, 3], 2],
    [[128, 2, 35, 17], [0, 2, 1, 3], 2],
    [[128, 3, 2, 5], [0, 2, 1, 3], 0],
    [[128, 3, 2, 5], [0, 3, 2, 1], 0],
    [[128, 3], [1, 0], 0],
  ];

  it.each(cases)("%j by %j is the same in %i turns", async (shape, axes, turns) => {
    const x = input("x", shape);
    const outputs = [{ name: "y", tensor: transpose(x, axes) }];
    expect(
      topological(lower([outputs[0].tensor], "gpu")).filter((t) => t.op.name === "turn"),
    ).toHaveLength(turns);
    const given = normal(key("turn"), shape);
    const [exact] = reference([outputs[0].tensor], new Map([[x, toFloat64(given.data)]]));
    const [lowered] = reference(
      lower([outputs[0].tensor], "gpu"),
      new Map([[x, toFloat64(given.data)]]),
    );
    const [result] = await runOnCpu(outputs, new Map([[x, given]]), "gpu");
    expect(toFloat64(result.data)).toEqual(exact);
    expect(lowered).toEqual(exact);
  });
});

describe("every geometry of a convolution", () => {
  const array = (name: string, shape: readonly number[]): NdArray => normal(key(name), shape);
  const given = new Map<Tensor, NdArray>();
  const fresh = (shape: readonly number[]): Tensor => {
    const t = input(`x${given.size}`, shape);
    given.set(t, array(`${given.size}`, shape));
    return t;
  };
  const outputs: { name: string; tensor: Tensor }[] = [];
  for (const h of [3, 4, 5])
    for (const k of [1, 2, 3, 4])
      for (const stride of [1, 2, 3])
        for (const padding of ["same", "valid", 1, 2] as const) {
          if (padding === "valid" && k > h) continue;
          const x = fresh([2, h, h, 2]);
          const w = fresh([k, k, 2, 3]);
          const [y, pull] = vjp(
            ([a, b]: readonly Tensor[]) => conv2d(a, b, { stride, padding }),
            [x, w],
          );
          const [dx, dw] = pull(fresh(y.shape));
          const name = `${h}×${h} by ${k}×${k}, stride ${stride}, padding ${padding}`;
          outputs.push(
            { name, tensor: y },
            { name: `${name}, ∂x`, tensor: dx },
            { name: `${name}, ∂w`, tensor: dw },
          );
        }

  let exact: Float64Array[];
  beforeAll(() => {
    exact = reference(
      outputs.map((o) => o.tensor),
      new Map([...given].map(([t, a]) => [t, toFloat64(a.data)])),
    );
  });

  it.each(["cpu", "gpu"] as const)(
    "has its value and gradients when lowered for a %s",
    async (target) => {
      const results = await runOnCpu(outputs, given, target);
      outputs.forEach(({ name }, i) => {
        expect(
          largest(toFloat64(results[i].data).map((y, j) => y - exact[i][j])),
          name,
        ).toBeLessThan(2e-5);
      });
    },
  );
});
