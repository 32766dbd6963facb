/** The score that weights are chosen by, and fits that are chosen by it and fitted again. */
import { real } from "diffeo/domain";
import { mean } from "diffeo/host";
import { key, normal, uniform } from "diffeo/random";
import { describe, expect, test } from "vitest";
import {
  energyScore,
  energyScores,
  rangesOf,
  rowDistance,
} from "../../src/diffusion/fit/distance.ts";
import { fitTable, refitTable } from "../../src/diffusion/fit/index.ts";

describe("the energy score of rows", () => {
  test("ρ² is the mean difference in units of ranges, and 1 between labels", () => {
    const ranges = rangesOf([
      [0, "a", null],
      [4, "b", 1],
      [null, "a", 1],
    ]);
    expect(ranges).toEqual([4, 0, 0]);
    expect(rowDistance([1, "a", 1], [3, "b", 1], ranges)).toBeCloseTo(Math.sqrt(1.5 / 3), 12);
    expect(rowDistance([1, null, 1], [3, "b", null], ranges)).toBeCloseTo(Math.sqrt(0.5), 12);
  });

  test("of two samples agrees with its formula", () => {
    expect(energyScore([[0]], [[1], [4]], [1])).toBeCloseTo((1 + 2) / 2 - 0.5 * Math.sqrt(3), 12);
  });

  test("of groups is the energy score of their rows and samples", () => {
    const values = (from: number) => Array.from({ length: 16 }, (_, i) => [from + i]);
    const scores = energyScores(values(0), values(3), [1]);
    expect(scores).toHaveLength(8);
    // Group 2: rows 2 and 10 under samples 5 and 13.
    const towards = (Math.sqrt(3) + Math.sqrt(11) + Math.sqrt(5) + Math.sqrt(3)) / 4;
    expect(scores[2]).toBeCloseTo(towards - 0.5 * Math.sqrt(8), 12);
  });

  test("is smallest for samples of the rows' distribution", () => {
    const count = 400;
    const rows = (seed: number, scale: number, shift: number): number[][] => {
      const z = normal(key(seed), [count, 2], { dtype: "float64" }).data;
      return Array.from({ length: count }, (_, i) => [
        shift + scale * z[2 * i],
        scale * (0.9 * z[2 * i] + Math.sqrt(1 - 0.81) * z[2 * i + 1]),
      ]);
    };
    const held = rows(1, 1, 0);
    const ranges = rangesOf(held);
    const scoreOf = (samples: number[][]): number => energyScore(held, samples, ranges);
    const own = scoreOf(rows(2, 1, 0));
    expect(scoreOf(rows(2, 1, 0.5))).toBeGreaterThan(own);
    expect(scoreOf(rows(2, 1.5, 0))).toBeGreaterThan(own);
    expect(scoreOf(rows(2, 0.5, 0))).toBeGreaterThan(own);
    // The same marginal distributions without the correlation.
    const apart = rows(2, 1, 0).map(([a], i, all) => [a, all[(i + 7) % count][1]]);
    expect(scoreOf(apart)).toBeGreaterThan(own);
  });
});

test("a model chosen by distance is fitted again to all rows, for the same number of steps", async () => {
  const u = uniform(key(3), [60, 2], { dtype: "float64" }).data;
  const rows = Array.from({ length: 60 }, (_, i) => [u[2 * i], u[2 * i] + 0.1 * u[2 * i + 1]]);
  const options = {
    columns: { a: real(), b: real() },
    ...{ given: false, width: 16, blocks: 1, threads: 1 },
  };
  const first = await fitTable(rows, { ...options, steps: 40, choose: "distance" });
  const again = await refitTable(rows, first, options);
  expect(first.training.step).toBeLessThanOrEqual(40);
  expect(again.training).toEqual({ ...first.training });
  // The standard is that of all rows, and no longer of four fifths of them.
  const average = mean(rows.map(([a]) => a));
  expect(again.standard.mean[0]).toBeCloseTo(average, 10);
  expect(Math.abs(first.standard.mean[0] - average)).toBeGreaterThan(1e-6);
  await Promise.all([first.dispose(), again.dispose()]);
});
