/**
 * Likelihood ranks: of distributions that are right no alarm, of wrong ones an alarm, and ties are
 * none.
 */
import { key, normal, uniform } from "diffeo/random";
import { kolmogorovSmirnov } from "diffeo/two-sample";
import { describe, expect, it } from "vitest";
import { calibrationOf } from "../../src/measure/calibration.ts";
import type { TableEvaluation } from "../../src/measure/evaluation.ts";
import { rankFaults } from "../../src/measure/faults.ts";

const normals = (name: string, count: number): Float64Array =>
  normal(key(name), count, { dtype: "float64" }).data;
const uniforms = (name: string, count: number): Float64Array =>
  uniform(key(name), count, { dtype: "float64" }).data;

/** log-likelihood of numbers under N(0, 1), up to a constant. */
const scores = (z: Float64Array, scale = 1): Float64Array => z.map((v) => -0.5 * (scale * v) ** 2);

const faultsOf = (rows: Float64Array, samples: Float64Array): string[] =>
  rankFaults({ calibration: calibrationOf(rows, samples) } as TableEvaluation);

describe("likelihood ranks", () => {
  it("deviate by the Kolmogorov-Smirnov distance, which is the distance from the diagonal", () => {
    const [rows, samples] = [
      normals("rows", 150).map((z) => 1.4 * z - 0.3),
      normals("samples", 200),
    ];
    const { ranks, distance, worst } = calibrationOf(rows, samples);
    expect(distance).toBe(kolmogorovSmirnov(rows, samples));
    expect(Math.abs(worst.rows - worst.samples)).toBe(distance);
    expect(ranks).toEqual(
      Array.from(rows.toSorted(), (v) => samples.filter((s) => s < v).length / 200),
    );
    const gaps = ranks.map((r, i) => Math.max(Math.abs(r - i / 150), Math.abs(r - (i + 1) / 150)));
    expect(distance).toBeCloseTo(Math.max(...gaps), 12);
  });

  it("of a right distribution exceed the 5 % limit in about 5 % of cases, and are never clearly wrong", () => {
    const draws = 2000;
    let beyond = 0;
    for (let i = 0; i < draws; i++) {
      const [rows, samples] = [
        scores(normals(`rows ${i}`, 60)),
        scores(normals(`samples ${i}`, 300)),
      ];
      const { distance, chance } = calibrationOf(rows, samples);
      if (distance > chance) beyond++;
      expect(faultsOf(rows, samples)).toEqual([]);
    }
    // Its limit is conservative at finite sizes; four standard errors above 1/20.
    expect(beyond / draws).toBeLessThan(0.05 + 4 * Math.sqrt((0.05 * 0.95) / draws));
    expect(beyond / draws).toBeGreaterThan(0.02);
  });

  it("of a right distribution with few values are not wrong either, in spite of rounding", () => {
    // Two labels of one likelihood, which graphs of two sizes round to either side.
    const same = calibrationOf(
      new Float64Array(100).fill(-0.7),
      new Float64Array(300).fill(-0.7000003),
    );
    expect(same.distance).toBe(0);
    expect(same.ranks[0]).toBeCloseTo(0.005, 12);
    expect(same.ranks[99]).toBeCloseTo(0.995, 12);
    for (let i = 0; i < 200; i++) {
      const labels = (name: string, n: number, shift: number) =>
        uniforms(name, n).map((u) => Math.log(u < 0.7 ? 0.7 : u < 0.9 ? 0.2 : 0.1) + shift);
      expect(faultsOf(labels(`rows ${i}`, 100, 0), labels(`samples ${i}`, 300, 1e-6))).toEqual([]);
    }
  });

  it("of a too narrow or too wide distribution are clearly wrong, also for few rows if none is right", () => {
    const [rows, samples] = [normals("rows", 400), normals("samples", 400)];
    // Rows of N(0, 1.6²) under N(0, 1): less likely than they should be.
    expect(faultsOf(scores(rows, 1.6), scores(samples))[0]).toMatch(
      /^\d\d % of the rows are at most as likely as the least likely \d\d % of the samples$/,
    );
    const { worst } = calibrationOf(scores(rows, 1.6), scores(samples));
    expect(worst.rows).toBeGreaterThan(worst.samples);
    expect(faultsOf(scores(rows, 0.6), scores(samples))).toHaveLength(1);
    expect(faultsOf(scores(rows, 1.05), scores(samples))).toEqual([]);
    expect(faultsOf(new Float64Array(5).fill(-100), scores(samples))).toEqual([]);
    expect(faultsOf(new Float64Array(6).fill(-100), scores(samples))).toEqual([
      "100 % of the rows are at most as likely as the least likely 0.0 % of the samples",
    ]);
  });

  it("rank likelihood zero below all others, and are finite for any numbers", () => {
    const { ranks, distance, worst } = calibrationOf(
      Float64Array.of(-Infinity, -Infinity, -1),
      Float64Array.of(-2, -3),
    );
    expect(ranks).toEqual([0, 0, 1]);
    expect([distance, worst]).toEqual([2 / 3, { rows: 2 / 3, samples: 0 }]);
    expect(
      calibrationOf(Float64Array.of(Number.NaN, 0), Float64Array.of(-2, Number.NaN)).ranks,
    ).toHaveLength(2);
  });
});
