import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import {
  convert,
  div,
  type FloatType,
  isFloat,
  mapTree,
  mul,
  type NdArray,
  ndarray,
  type Tensor,
  toFloat64,
} from "../../src/graph/index.ts";
import { key, uniform } from "../../src/random/index.ts";
import { largest } from "./differences.ts";
import { effort } from "./draw.ts";
import { type Probed, probe } from "./probe.ts";
import { derivatives, programs } from "./programs.ts";
import { discrete, smooth } from "./table.ts";

const RUNS = effort(8);

/** Runs f on ONNX Runtime, and on the reference with the very same numbers. */
async function both<Y>(f: (...x: Tensor[]) => Y, args: readonly NdArray[], type: FloatType) {
  const given = args.map((a) => (isFloat(a.dtype) ? { ...a, dtype: type, data: convert(a.data, type) } : a));
  const exact = given.map((a): NdArray => (isFloat(a.dtype) ? { ...a, dtype: "float64", data: toFloat64(a.data) } : a));
  const device = compile(f, given, { type, threads: 1 });
  const reference = compile(f, exact, { device: "reference" });
  try {
    return [await device(...given), await reference(...exact)] as const;
  } finally {
    await device.dispose();
  }
}

/** The smallest normal number of a type: below it digits are lost on every device. */
const tiny: Readonly<Record<FloatType, number>> = { float64: 2.3e-308, float32: 1.2e-38 };

const near = (name: string, actual: NdArray, expected: NdArray, bound: (value: number) => number): void => {
  expect(actual.shape, name).toEqual(expected.shape);
  const [a, b] = [toFloat64(actual.data), toFloat64(expected.data)];
  b.forEach((v, j) => {
    if (!(Math.abs(a[j] - v) <= bound(v))) expect.fail(`${name}, entry ${j}: ${a[j]} instead of ${v}`);
  });
};

/** Arrays by their paths: `value`, `gradient.0`, … */
function named(results: Probed<NdArray>): Map<string, NdArray> {
  const all = new Map<string, NdArray>();
  const isArray = (value: unknown): boolean => typeof value === "object" && value !== null && "data" in value;
  mapTree<NdArray, void>(results, (a, path) => void all.set(path, a), isArray);
  return all;
}

describe.each([
  ["float64", 1e-12],
  ["float32", 1e-5],
] as const)("ONNX Runtime in %s, against the reference", (type, tolerance) => {
  it.each(smooth)("$name: value and derivatives", async ({ draws, elementwise, runs }) => {
    await fc.assert(
      fc.asyncProperty(draws, async (draw) => {
        const { graph, arrays } = probe(draw);
        const [actual, expected] = (await both(graph, arrays, type)).map((r) => named(r as Probed<NdArray>));
        // What is summed cancels, and is then as good as its largest terms; an elementwise result is good by itself.
        const whole = largest([...expected.values()].map((b) => largest(toFloat64(b.data))));
        for (const [name, b] of expected) {
          const alone = elementwise && !name.startsWith("second");
          near(name, actual.get(name)!, b, (v) => tolerance * (alone ? Math.abs(v) : whole) + tiny[type]);
        }
      }),
      { numRuns: Math.min(runs, RUNS) },
    );
  });

  it.each(discrete)("$name: value", async ({ draws, runs }) => {
    await fc.assert(
      fc.asyncProperty(draws, async ({ f, args }) => {
        const [actual, expected] = await both(f, args, type);
        expect({ ...actual, data: toFloat64(actual.data) }).toEqual({ ...expected, data: toFloat64(expected.data) });
      }),
      { numRuns: Math.min(runs, RUNS) },
    );
  });

  it("reciprocals shared between products survive the runtime's own rewriting", async () => {
    const f = (a: Tensor, b: Tensor, u: Tensor) => ({ x: mul(u, div(1, a)), y: mul(div(1, a), div(1, b)) });
    const args = [2, 4, 8].map((v) => ndarray([v, 2 * v], "float64"));
    const [actual, expected] = await both(f, args, type);
    expect([[...actual.x.data], [...actual.y.data]]).toEqual([[...expected.x.data], [...expected.y.data]]);
  });

  it("any program: value and derivatives", async () => {
    const args = [[2, 3], [3], []].map((shape, i) => uniform(key(i), shape, { dtype: "float64", low: -2, high: 2 }));
    await fc.assert(
      fc.asyncProperty(programs, async (steps) => {
        const [actual, expected] = await both((...x) => derivatives(steps, x), args, type);
        const whole = Math.max(1, largest(expected.map((b) => largest(toFloat64(b.data)))));
        expected.forEach((b, i) => {
          near(`output ${i}`, actual[i], b, () => 10 * tolerance * whole);
        });
      }),
      { numRuns: 5 * RUNS },
    );
  });
});
