import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ndarray } from "../../src/graph/index.ts";
import {
  batches,
  concatArrays,
  flatten,
  mapValues,
  partsOf,
  pickRows,
  quantile,
  quantiles,
  rightSvd,
  rowsOf,
  stackArrays,
} from "../../src/host/index.ts";

const grid = ndarray(
  [
    [
      [1, 2],
      [3, 4],
    ],
    [
      [5, 6],
      [7, 8],
    ],
    [
      [9, 10],
      [11, 12],
    ],
  ],
  "float64",
);

describe("rows", () => {
  it("are sliced from an array, selected by index, and concatenated", () => {
    expect(rowsOf(grid, 1, 2)).toEqual({
      shape: [2, 2, 2],
      dtype: "float64",
      data: Float64Array.of(5, 6, 7, 8, 9, 10, 11, 12),
    });
    expect(pickRows(grid, [2, 0, 2]).data).toEqual(
      Float64Array.of(9, 10, 11, 12, 1, 2, 3, 4, 9, 10, 11, 12),
    );
    expect(pickRows(grid, [])).toEqual({
      shape: [0, 2, 2],
      dtype: "float64",
      data: new Float64Array(0),
    });
    const whole = {
      shape: [2, 2],
      dtype: "int64",
      data: BigInt64Array.of(1n, 2n, 3n, 4n),
    } as const;
    expect(pickRows(whole, Int32Array.of(1)).data).toEqual(BigInt64Array.of(3n, 4n));
    expect(stackArrays([rowsOf(grid, 0, 1), rowsOf(grid, 1, 2)])).toEqual(grid);
    const end = [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(3)];
    expect(concatArrays((length) => new Uint8Array(length), end)).toEqual(Uint8Array.of(1, 2, 3));
    expect(concatArrays((length) => new Uint8Array(length), [])).toEqual(new Uint8Array(0));
  });

  it("are divided into consecutive batches of limited size", () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 60 }));
    fc.assert(
      fc.property(sizes, ([count, size]) => {
        const cut = batches(count, size);
        const parts = partsOf(count, size).map(([from, to]) => [from, to - from]);
        for (const list of [cut, parts]) {
          let next = 0;
          for (const [from, n] of list) {
            expect(from).toBe(next);
            expect(n).toBeGreaterThanOrEqual(1);
            expect(n).toBeLessThanOrEqual(size);
            next += n;
          }
          expect(next).toBe(count);
        }
      }),
    );
  });
});

describe("quantiles", () => {
  it("are order statistics with linear interpolation", () => {
    expect(quantiles([30, 10, 20], [0, 0.25, 0.5, 0.75, 1])).toEqual([10, 15, 20, 25, 30]);
    expect(quantile([7], 0.3)).toBe(7);
    expect(quantile(Float32Array.of(4, 1, 3, 2), 0.5)).toBe(2.5);
    expect(quantiles([1, Infinity, Infinity], [0.5, 0.9])).toEqual([Infinity, Infinity]);
  });
});

describe("a tree of arrays", () => {
  it("is flattened in order, and converted to float32", () => {
    const of = (...v: number[]) => ndarray(v, "float32");
    expect(flatten({ b: [of(1, 2), of(3)], a: of(4) })).toEqual(Float32Array.of(1, 2, 3, 4));
    expect(() => flatten({ a: ndarray([1], "float64") })).toThrow(/a parameter is float64/);
  });
});

describe("values by name", () => {
  it("are mapped with the same names in the same order, for any names", () => {
    const record = Object.fromEntries([
      ["b", 2],
      ["__proto__", 3],
      ["a", 1],
    ]);
    expect(Object.entries(mapValues(record, (value, name) => `${name} ${value}`))).toEqual([
      ["b", "b 2"],
      ["__proto__", "__proto__ 3"],
      ["a", "a 1"],
    ]);
  });
});

describe("the singular values", () => {
  it("of columns 1e8 apart in scale: AV = UΣ, its columns orthogonal, V a rotation, Σ descending", () => {
    const n = 4;
    const scales = [1e-6, 1, 100, 3e2];
    const a = Float64Array.from(
      { length: 10 * n },
      (_, i) => (((i * i * 37) % 101) / 101 - 0.5) * scales[i % n],
    );
    const { values, vectors } = rightSvd(a, n);
    const column = (j: number): number[] =>
      Array.from({ length: 10 }, (_, r) =>
        Array.from({ length: n }, (_, k) => a[r * n + k] * vectors[k * n + j]).reduce(
          (s, v) => s + v,
        ),
      );
    const dot = (p: readonly number[], q: readonly number[]): number =>
      p.reduce((s, v, i) => s + v * q[i], 0);
    for (let j = 0; j < n; j++) {
      expect(Math.abs(Math.hypot(...column(j)) - values[j])).toBeLessThan(1e-14 * values[0]);
      if (j > 0) expect(values[j]).toBeLessThanOrEqual(values[j - 1]);
      for (let k = 0; k < n; k++) {
        const turned = dot(
          Array.from({ length: n }, (_, i) => vectors[i * n + j]),
          Array.from({ length: n }, (_, i) => vectors[i * n + k]),
        );
        expect(Math.abs(turned - (j === k ? 1 : 0))).toBeLessThan(1e-14);
        if (j !== k)
          expect(Math.abs(dot(column(j), column(k)))).toBeLessThan(1e-14 * values[0] * values[0]);
      }
    }
  });
});
