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
import { effort, together } from "./draw.ts";
import { type Probed, probe } from "./probe.ts";
import { derivatives, programs } from "./programs.ts";
import { discrete, smooth } from "./table.ts";

const RUNS = effort(8);

interface Case<Y> {
  readonly f: (...x: Tensor[]) => Y;
  readonly args: readonly NdArray[];
}

/**
 * Runs functions of arguments of their own on a device, all as one graph, and on the reference with
 * the very same numbers.
 */
async function both<Y>(cases: readonly Case<Y>[], type: FloatType, on: string) {
  const as = (a: NdArray, dtype: FloatType): NdArray =>
    isFloat(a.dtype) ? { ...a, dtype, data: convert(toFloat64(a.data), dtype) } : a;
  const given = cases.map(({ args }) => args.map((a) => as(a, type)));
  const exact = given.map((args) => args.map((a) => as(a, "float64")));
  const all = (x: readonly (readonly Tensor[])[]): Y[] => cases.map(({ f }, i) => f(...x[i]));
  const device = compile(all, [given], { type, threads: 1, device: on });
  const reference = compile(all, [exact], { device: "reference" });
  try {
    const [actual, expected] = [await device(given), await reference(exact)];
    return cases.map((_, i) => [actual[i], expected[i]] as const);
  } finally {
    await device.dispose();
  }
}

/** The smallest normal number of a type: below it digits are lost on every device. */
const tiny: Readonly<Record<FloatType, number>> = { float64: 2.3e-308, float32: 1.2e-38 };

const near = (
  name: string,
  actual: NdArray,
  expected: NdArray,
  bound: (value: number) => number,
): void => {
  expect(actual.shape, name).toEqual(expected.shape);
  const [a, b] = [toFloat64(actual.data), toFloat64(expected.data)];
  b.forEach((v, j) => {
    if (!(Math.abs(a[j] - v) <= bound(v)))
      expect.fail(`${name}, entry ${j}: ${a[j]} instead of ${v}`);
  });
};

/** Arrays by their paths: `value`, `gradient.0`, … */
function named(results: Probed<NdArray>): Map<string, NdArray> {
  const all = new Map<string, NdArray>();
  const isArray = (value: unknown): boolean =>
    typeof value === "object" && value !== null && "data" in value;
  mapTree<NdArray, void>(results, (a, path) => void all.set(path, a), isArray);
  return all;
}

describe.each([
  ["cpu", "float64", 1e-12],
  ["cpu", "float32", 1e-5],
  ["wasm", "float64", 1e-12],
  ["wasm", "float32", 1e-5],
] as const)("device %s in %s, against the reference", (device, type, tolerance) => {
  it.each(smooth)("$name: value and derivatives", async (entry) => {
    await fc.assert(
      fc.asyncProperty(together(entry, RUNS), async (draws) => {
        const cases = draws.map(probe).map(({ graph, arrays }) => ({ f: graph, args: arrays }));
        (await both<Probed<Tensor>>(cases, type, device)).forEach((results, i) => {
          const [actual, expected] = results.map(named);
          // What is summed cancels, and is then as good as its largest terms; an elementwise result
          // is good by itself.
          const whole = largest([...expected.values()].map((b) => largest(toFloat64(b.data))));
          for (const [name, b] of expected) {
            const alone = entry.elementwise && !name.startsWith("second");
            const least = tiny[type] + (type === "float32" ? entry.rounding : 0);
            const bound = (v: number): number => tolerance * (alone ? Math.abs(v) : whole) + least;
            near(`draw ${i}, ${name}`, actual.get(name)!, b, bound);
          }
        });
      }),
      { numRuns: 1 },
    );
  });

  it.each(discrete)("$name: value", async (entry) => {
    await fc.assert(
      fc.asyncProperty(together(entry, RUNS), async (draws) => {
        (await both(draws, type, device)).forEach(([actual, expected], i) => {
          const [a, b] = [actual, expected].map((y) => ({ ...y, data: toFloat64(y.data) }));
          expect(a, `draw ${i}`).toEqual(b);
        });
      }),
      { numRuns: 1 },
    );
  });

  it("reciprocals shared between products survive the rewriting of the runtime", async () => {
    const f = (a: Tensor, b: Tensor, u: Tensor) => ({
      x: mul(u, div(1, a)),
      y: mul(div(1, a), div(1, b)),
    });
    const args = [2, 4, 8].map((v) => ndarray([v, 2 * v], "float64"));
    const [[actual, expected]] = await both([{ f, args }], type, device);
    expect([[...actual.x.data], [...actual.y.data]]).toEqual([
      [...expected.x.data],
      [...expected.y.data],
    ]);
  });

  it("any program: value and derivatives", async () => {
    const args = [[2, 3], [3], []].map((shape, i) =>
      uniform(key(i), shape, { dtype: "float64", low: -2, high: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(programs, { minLength: 5, maxLength: 5 }), async (some) => {
        const cases = some.map((steps) => ({ f: (...x: Tensor[]) => derivatives(steps, x), args }));
        (await both(cases, type, device)).forEach(([actual, expected], k) => {
          const whole = Math.max(1, largest(expected.map((b) => largest(toFloat64(b.data)))));
          expected.forEach((b, i) => {
            near(`program ${k}, output ${i}`, actual[i], b, () => 10 * tolerance * whole);
          });
        });
      }),
      { numRuns: RUNS },
    );
  });
});
