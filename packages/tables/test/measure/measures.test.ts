/** Measures that compare samples with rows, on distributions for which their values are known. */
import { angle, between, category, count, positive, product, real, simplex } from "diffeo/domain";
import type { NdArray } from "diffeo/graph";
import { key, normal, uniform } from "diffeo/random";
import { areaUnderCurve } from "diffeo/two-sample";
import { describe, expect, it } from "vitest";
import { rowsAuc } from "../../src/measure/classifier.ts";
import { clusterMasses } from "../../src/measure/clusters.ts";
import {
  columnDistances,
  correlationDifferences,
  slicedDistance,
} from "../../src/measure/distances.ts";
import { featuresOf } from "../../src/measure/features.ts";
import { cellMarks, decimalsOf } from "../../src/measure/marks.ts";
import { privacyOf } from "../../src/measure/neighbours.ts";
import type { Cells } from "../../src/measure/table-distribution.ts";

/** Points of the plane made of two normal and two uniform numbers each. */
function points(
  rows: number,
  seed: number,
  of: (z: Float64Array, u: Float64Array) => readonly number[],
): NdArray {
  const z = normal(key(seed), [rows, 2], { dtype: "float64" }).data;
  const u = uniform(key(seed), [rows, 2], { dtype: "float64" }).data;
  const all = Array.from({ length: rows }, (_, i) =>
    of(z.subarray(2 * i, 2 * i + 2), u.subarray(2 * i, 2 * i + 2)),
  );
  return { shape: [rows, all[0].length], dtype: "float64", data: Float64Array.from(all.flat()) };
}

const correlated =
  (rho: number) =>
  ([a, b]: Float64Array): number[] => [a, rho * a + Math.sqrt(1 - rho * rho) * b];

describe("the two-sample test of rows", () => {
  it("is at chance for two samples of one distribution", () => {
    const found = [0, 1, 2].map((s) =>
      rowsAuc(points(800, s, correlated(0.5)), points(800, s + 9, correlated(0.5)), key(s)),
    );
    for (const { value, error } of found) expect(Math.abs(value - 0.5)).toBeLessThan(4 * error);
    expect(found[0].error).toBeCloseTo(Math.sqrt(1601 / (12 * 800 * 800)), 12);
  });

  it("detects a wrong correlation, which no single column shows", () => {
    // What the ratio of the two densities itself reaches: log N_ρ/N₀ = (2ρab − ρ²(a² + b²))/2(1 −
    // ρ²) + const.
    const ratios = ({ data }: NdArray): number[] =>
      Array.from({ length: data.length / 2 }, (_, i) => {
        const [a, b] = [Number(data[2 * i]), Number(data[2 * i + 1])];
        return a * b - (a * a + b * b) / 4;
      });
    const [zero, half] = [points(1000, 1, correlated(0)), points(1000, 2, correlated(0.5))];
    const best = areaUnderCurve(ratios(zero), ratios(half));
    const { value, error } = rowsAuc(zero, half, key(0));
    expect(value).toBeGreaterThan(0.5 + 5 * error);
    expect(value).toBeGreaterThan(best - 0.05);
    expect(value).toBeLessThan(best + 0.01);
  });

  it("detects a shape that means and correlations do not show", () => {
    const ring = points(1000, 1, (_, [u]) => [
      Math.SQRT2 * Math.cos(2 * Math.PI * u),
      Math.SQRT2 * Math.sin(2 * Math.PI * u),
    ]);
    const square = points(1000, 2, (_, [u, v]) => [u < 0.5 ? -1 : 1, v < 0.5 ? -1 : 1]);
    expect(rowsAuc(ring, square, key(0)).value).toBeGreaterThan(0.95);
  });
});

describe("mass by cluster", () => {
  const modes = (share: number) => (z: Float64Array, u: Float64Array) =>
    u[0] < share ? [z[0] * 0.4 - 2, z[1] * 0.4] : [z[0] * 0.4 + 2, z[1] * 0.4];

  it("finds two modes and their masses", () => {
    const { masses, silhouette } = clusterMasses(
      points(1000, 1, modes(0.97)),
      points(1500, 2, modes(0.6)),
      key(0),
    );
    expect(masses).toHaveLength(2);
    expect(silhouette).toBeGreaterThan(0.7);
    expect(masses[0].data).toBeCloseTo(0.6, 1);
    expect(Math.abs(masses[0].samples - 0.97)).toBeLessThan(0.02);
    expect(masses[0].samples + masses[1].samples).toBeCloseTo(1, 12);
    expect(masses[0].error).toBeGreaterThan(0.01);
  });

  it("agrees if the distributions do", () => {
    for (const { data, samples, error } of clusterMasses(
      points(1000, 3, modes(0.6)),
      points(1500, 4, modes(0.6)),
      key(1),
    ).masses)
      expect(Math.abs(data - samples)).toBeLessThan(4 * error);
  });
});

describe("distances", () => {
  it("of columns are the largest difference of their distribution functions", () => {
    const domain = product({ x: real(), ward: category(["a", "b", "c"]) });
    const [samples, rows] = [
      [
        [1, "a"],
        [2, "b"],
      ],
      [
        [1, "c"],
        [3, "b"],
      ],
    ];
    expect(columnDistances(domain, samples, rows)).toMatchObject([
      { column: "x", distance: 0.5 },
      { column: "ward", distance: 0.5 },
    ]);
  });

  it("of correlations are those of ranks, by pair", () => {
    const domain = product({ a: real(), b: real(), c: category(["x", "y"]) });
    const of = (rows: readonly (readonly [number, number])[]): Cells[] =>
      rows.map(([a, b], i) => [a, b, i < 2 ? "x" : "y"]);
    const up = of([1, 2, 30, 4000].map((v) => [v, v * v]));
    const down = of([1, 2, 30, 4000].map((v) => [v, -v]));
    const { most, worst } = correlationDifferences(domain, down, up);
    expect(most).toBeCloseTo(2, 12);
    expect(worst[0]).toMatchObject({ columns: ["a", "b"] });
    expect([worst[0].samples, worst[0].data]).toEqual([
      expect.closeTo(-1, 12),
      expect.closeTo(1, 12),
    ]);
    expect(correlationDifferences(domain, up, up).most).toBe(0);
  });

  it("of slices are right for a shift, and fall to their floor if the distributions agree", () => {
    const at = (x: number, rows: number, seed: number): NdArray =>
      points(rows, seed, ([a, b]) => [a + x, b]);
    // W₂ of a shift by δ along θ is |δ·θ|, whose mean square over directions of the plane is δ²/2.
    const { value, floor } = slicedDistance(at(3, 600, 1), at(0, 600, 1), {
      key: key(0),
      directions: 400,
    });
    expect(Math.abs(value / (3 / Math.SQRT2) - 1)).toBeLessThan(0.1);
    expect(floor).toBeLessThan(0.1 * value);
    const same = slicedDistance(at(0, 600, 1), at(0, 900, 2), { key: key(0) });
    expect(same.value / same.floor).toBeLessThan(2);
    expect(same.value / same.floor).toBeGreaterThan(0.5);
  });
});

describe("nearest rows", () => {
  it("have the right distances, and are nearer than others as often as counted over pairs", () => {
    const at = (row: Cells): number[] => row.map(Number);
    const points = (rows: readonly Cells[]): NdArray => ({
      ...{ shape: [rows.length, 2], dtype: "float64" },
      data: Float64Array.from(rows.flatMap(at)),
    });
    // 0, 5, …, 100 from the first row of training, and 1 or 7 from the second.
    const samples = Array.from({ length: 21 }, (_, k): Cells => [3 * k, 4 * k]);
    const fresh: Cells[] = [...Array<Cells>(9).fill([60, -999]), [60, -1000], [67, -1000]];
    const found = privacyOf(
      samples,
      fresh,
      [
        [0, 0],
        [60, -1000],
      ],
      points,
    );
    expect(found.samples).toEqual({ median: 50, low: 5, copies: 1 / 21 });
    expect(found.fresh).toEqual({ median: 1, low: expect.closeTo(0.5, 12), copies: 1 / 11 });
    // Of 231 pairs one is equal, 0 and 0; the first sample is nearer than 10, the second than 1.
    expect(found.nearer).toBeCloseTo((10 + 0.5 + 1) / 231, 12);
    expect(found.error).toBeCloseTo(Math.sqrt(33 / (12 * 231)), 12);
    expect(found.among).toBe(2);
  });

  const domain = product({ a: real(), b: positive() });
  const rows = (count: number, seed: number): Cells[] =>
    Array.from({ length: count }, (_, i) => {
      const [a, b] = normal(key(1000 * seed + i), 2, { dtype: "float64" }).data;
      return [a, Math.exp(b)];
    });
  const training = rows(400, 1);
  const { of } = featuresOf(domain, training);

  it("distinguish copies from new rows", () => {
    const honest = privacyOf(rows(300, 2), rows(300, 3), training, of);
    expect(Math.abs(honest.nearer - 0.5)).toBeLessThan(4 * honest.error);
    expect(Math.abs(honest.membership - 0.5)).toBeLessThan(4 * honest.membershipError);
    expect([honest.samples.copies, honest.fresh.copies]).toEqual([0, 0]);
    const copied = privacyOf(
      training.slice(0, 300).map(([a, b]) => [Number(a) + 1e-4, b]),
      rows(300, 3),
      training,
      of,
    );
    expect(copied.nearer).toBeGreaterThan(0.98);
    expect(copied.membership).toBeGreaterThan(0.5 + 4 * copied.membershipError);
    expect(copied.samples.median).toBeLessThan(1e-3);
    expect(privacyOf(training.slice(0, 100), rows(300, 3), training, of).samples).toMatchObject({
      copies: 1,
      median: 0,
    });
  });
});

describe("features", () => {
  it("are coordinates of the domains' maps, indicators of labels and points of circles, standardised", () => {
    const domain = product({
      size: positive(),
      share: between(0, 1),
      parts: simplex(["p", "q", "r"]),
      visits: count(),
      ward: category(["n", "s"]),
      wind: angle({ period: 360 }),
    });
    const rows: Cells[] = [
      [1, 0.5, 0.2, 0.3, 0.5, 0, "n", 0],
      [Math.E ** 2, 0.9, 0.5, 0.3, 0.2, 7, "s", 90],
      [Math.E ** 4, 0.1, 0.6, 0.1, 0.3, 2, "n", 359],
    ];
    const { names, of } = featuresOf(domain, rows);
    expect(names).toEqual([
      "size",
      "share",
      "p+q+r (1)",
      "p+q+r (2)",
      "visits",
      "ward = n",
      "ward = s",
      "wind (1)",
      "wind (2)",
    ]);
    const { shape, data } = of(rows);
    expect(shape).toEqual([3, 9]);
    // log size is 0, 2, 4: deviation √(8/3).
    expect([0, 9, 18].map((i) => Number(data[i]))).toEqual(
      [-2, 0, 2].map((v) => expect.closeTo(v / Math.sqrt(8 / 3), 10)),
    );
    // 359° is next to 0°.
    const wind = (row: number) => [7, 8].map((j) => Number(data[9 * row + j]));
    expect(Math.hypot(wind(0)[0] - wind(2)[0], wind(0)[1] - wind(2)[1])).toBeLessThan(0.1);
  });

  it("are finite for a part that is lost to rounding", () => {
    const whole = product({
      soil: simplex(["a", "b", "c"], { total: 100, map: "isometricLogRatio" }),
    });
    const { of } = featuresOf(whole, [
      [20, 30, 50],
      [60, 30, 10],
      [10, 80, 10],
    ]);
    const { data } = of([[2.6e-28, 3.5e-28, 100]]);
    for (const v of data) expect(Number(v)).toBeLessThan(-5);
    for (const v of data) expect(Number(v)).toBeGreaterThanOrEqual(-100);
  });
});

describe("marks of cells", () => {
  it("are the number of decimals, negative for zeros at the end of an integer", () => {
    const found = [15.57, 1200, 0.05, 3, 0, -2.5, 1e-7, 2.5e21, 70].map(decimalsOf);
    expect(found).toEqual([2, -2, 2, 0, 0, 1, 7, -6, -1]);
  });

  it("count equal cells of both sets, except labels", () => {
    const domain = product({ x: real(), k: category(["a", "b"]) });
    const [a, b] = cellMarks(domain, [
      [
        [0.5, "a"],
        [1, "a"],
      ],
      [[0.5, "b"]],
    ]);
    expect([a.shape, b.shape]).toEqual([
      [2, 2],
      [1, 2],
    ]);
    expect(Array.from(a.data as Float64Array)).toEqual([1, Math.log(2), 0, 0]);
    expect(Array.from(b.data as Float64Array)).toEqual([1, Math.log(2)]);
  });
});
