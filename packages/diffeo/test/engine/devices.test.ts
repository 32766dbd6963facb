/** Every public operation on every device of plain Node compared with the reference. */
import { execFileSync } from "node:child_process";
import { setFlagsFromString } from "node:v8";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Create } from "../../src/engine/session.ts";
import { wasmSession } from "../../src/engine/wasm/index.ts";
import { runtime as web } from "../../src/engine/web.ts";
import * as graph from "../../src/graph/index.ts";
import * as diffeo from "../../src/index.ts";
import { runtime as node } from "../../src/node/runtime.ts";
import { cases } from "./cases.ts";
import { briefly } from "./no-native.ts";
import { allOf, type Evaluate, type Finding, onDevice, survey } from "./survey.ts";

/** Findings beyond a bound; NaN is beyond every one. */
const beyond = (bound: number, findings: readonly Finding[]): Finding[] =>
  findings.filter((f) => !(f.error <= bound));

/** A graph in the form of one target, on the processor of a runtime. */
const onRuntime =
  (create: Create, target: diffeo.Target): Evaluate =>
  async (work, type) => {
    const given = work.map(({ args }) => args);
    const { inputs, outputs } = diffeo.trace(allOf(work), [given], type);
    const session = await create(diffeo.writeOnnx(outputs, target), "onnxruntime", { threads: 1 });
    const results = await session.run(
      Object.fromEntries(given.flat().map((a, i) => [inputs[i].attributes.name as string, a])),
    );
    await session.dispose();
    return outputs.map(({ name }) => results[name]);
  };

describe("the table of cases", () => {
  it("uses every public operation of diffeo/graph", () => {
    /** Functions that make, describe or carry tensors, and operate on none. */
    const others = [
      ...[
        "backward",
        "valueAndGrad",
        "reference",
        "lower",
        "simplify",
        "writeOnnx",
        "trace",
        "primitive",
        "topological",
        "unexpanded",
        "outside",
        "vmap",
      ],
      ...[
        "DiffeoError",
        "fail",
        "Tensor",
        "input",
        "fill",
        "onesLike",
        "zerosLike",
        "isNdArray",
        "leavesOf",
        "mapTree",
        "withLeaves",
      ],
      ...["isSpec", "fitsShape", "showOpenShape", "showShape", "sizeOf"],
      ...["allocate", "convert", "flattenNested", "isFloat", "ndarray", "toFloat64"],
    ];
    const used = new Set<PropertyKey>(others);
    const watched = new Proxy(graph, {
      get: (target, name, receiver) => {
        used.add(name);
        return Reflect.get(target, name, receiver);
      },
    });
    for (const { f, shapes } of cases(watched)) f(...shapes.map((s, i) => graph.input(`x${i}`, s)));
    expect(Object.keys(graph).filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("compared with the reference", () => {
  // And V8's own default afterwards, as it is listed, for other files of this process.
  const flags = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  const [, usual] = flags.match(/default: (--wasm-tiering-budget=\d+)/) ?? [];
  beforeAll(() => setFlagsFromString(briefly));
  afterAll(() => setFlagsFromString(usual));

  it("the CPU is accurate to 1e-5 in float32 and to 1e-12 in float64", async () => {
    const evaluate = onDevice(diffeo, { device: "onnxruntime", threads: 1 });
    expect(beyond(1e-5, await survey(diffeo, evaluate, ["float32"]))).toEqual([]);
    expect(beyond(1e-12, await survey(diffeo, evaluate, ["float64"]))).toEqual([]);
  });

  it("WebAssembly is accurate to 1e-5 in float32 and to 1e-12 in float64", async () => {
    const evaluate = onRuntime(web.create, "cpu");
    expect(beyond(1e-5, await survey(diffeo, evaluate, ["float32"]))).toEqual([]);
    expect(beyond(1e-12, await survey(diffeo, evaluate, ["float64"]))).toEqual([]);
  });

  it.each([
    ["float64", 1e-12],
    ["float32", 1e-5],
  ] as const)(
    "the compiler is right in %s to %f, and lacks only what networks are made of",
    async (type, bound) => {
      const lacking: string[] = [];
      for (const { name } of cases(diffeo)) {
        const evaluate: Evaluate = async ([{ f, args }], of) => {
          const { inputs, outputs, result } = diffeo.trace(
            (...x: diffeo.Tensor[]) => f(...x),
            args,
            of,
          );
          const session = await wasmSession({ inputs, outputs, result });
          if (!session) {
            lacking.push(name);
            return [];
          }
          const results = await session.run(
            Object.fromEntries(args.map((a, i) => [inputs[i].attributes.name as string, a])),
          );
          return outputs.map((o) => results[o.name]);
        };
        const run = survey(diffeo, evaluate, [type], (other) => other === name);
        expect(beyond(bound, await run.catch(() => []))).toEqual([]);
      }
      const networks = /conv2d|of many channels|rotary|attention/;
      expect(lacking.filter((name) => !networks.test(name))).toEqual([]);
    },
  );

  it("graphs lowered for a GPU are accurate to 1e-5 in float32 on the CPU", async () => {
    expect(beyond(1e-5, await survey(diffeo, onRuntime(node.create, "gpu"), ["float32"]))).toEqual(
      [],
    );
  });
});
