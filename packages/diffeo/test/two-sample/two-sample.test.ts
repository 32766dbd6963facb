import { describe, expect, it } from "vitest";
import { type FeatureRows, linearScores, logisticRegression } from "../../src/host/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { areaUnderCurve, crossFittedAuc, kolmogorovSmirnov } from "../../src/two-sample/index.ts";

describe("the Kolmogorov–Smirnov statistic", () => {
  it("is the largest difference of two empirical distribution functions", () => {
    expect(kolmogorovSmirnov([1, 2, 3, 4], [1, 2, 3, 4])).toBe(0);
    expect(kolmogorovSmirnov([1, 2], [3, 4])).toBe(1);
    expect(kolmogorovSmirnov([1, 2, 3, 4], [3, 4, 5, 6])).toBe(0.5);
    expect(kolmogorovSmirnov([0, 0, 1], [0, 1, 1])).toBeCloseTo(1 / 3, 12);
  });
});

describe("the two-sample test", () => {
  it("counts ordered pairs, and ties by half", () => {
    expect(areaUnderCurve([1, 2], [3, 4])).toBe(1);
    expect(areaUnderCurve([3, 4], [1, 2])).toBe(0);
    expect(areaUnderCurve([1, 2], [1, 2])).toBe(0.5);
    expect(areaUnderCurve([0, 2], [1, 1, 3])).toBeCloseTo(4 / 6, 12);
  });

  it("tests the classifier on held-out rows, each once", () => {
    const tried: number[][] = [[], []];
    const auc = crossFittedAuc([7, 5], key(0), (rows) => (others) => {
      others.forEach((own, set) => {
        for (const row of own) expect(rows[set]).not.toContain(row);
        tried[set].push(...own);
      });
      return [others[0], others[1].map((row) => row + 100)];
    });
    expect(auc).toBe(1);
    expect(tried.map((rows) => rows.sort((a, b) => a - b))).toEqual([
      [0, 1, 2, 3, 4, 5, 6],
      [0, 1, 2, 3, 4],
    ]);
    expect(() => crossFittedAuc([3, 5], key(0), () => () => [[], []])).toThrow(
      "3 and 5 samples are too few",
    );
  });
});

describe("logistic regression", () => {
  const rowsAround = (centre: number, seed: number): FeatureRows => {
    const z = normal(key(seed), 400, { dtype: "float64" }).data;
    const values = Float64Array.from(
      { length: 3 * 400 },
      (_, i) => [1, z[Math.floor(i / 3)] + centre, 0.5 * z[399 - Math.floor(i / 3)]].at(i % 3)!,
    );
    return {
      size: 3,
      active: 3,
      indices: Int32Array.from({ length: 1200 }, (_, i) => i % 3),
      values,
    };
  };
  const [first, second] = [rowsAround(0, 1), rowsAround(1, 2)];
  const objective = (theta: Float64Array, prior: number): number => {
    const terms = [...linearScores(first, theta).map((z) => -z), ...linearScores(second, theta)];
    return (
      (prior / 2) * theta.reduce((s, t) => s + t * t, 0) +
      terms.reduce((s, z) => s + Math.log1p(Math.exp(-z)), 0)
    );
  };

  it("has a zero gradient at its solution", () => {
    const prior = 2;
    const theta = logisticRegression(first, second, prior);
    for (const i of theta.keys()) {
      const slope = (h: number): number =>
        objective(
          theta.map((t, j) => (j === i ? t + h : t)),
          prior,
        );
      expect(Math.abs(slope(1e-4) - slope(-1e-4)) / 2e-4).toBeLessThan(0.05);
    }
    // log N(x; 1)/N(x; 0) = x − ½.
    expect(theta[1]).toBeCloseTo(1, 0);
    expect(theta[0] / theta[1]).toBeCloseTo(-0.5, 0);
  });

  it("accepts lists of non-zero features", () => {
    const sparse = (active: readonly number[]): FeatureRows => ({
      size: 2,
      active: 1,
      indices: Int32Array.from(active),
    });
    const dense = (active: readonly number[]): FeatureRows => ({
      size: 2,
      active: 2,
      indices: Int32Array.from(active.flatMap(() => [0, 1])),
      values: Float64Array.from(active.flatMap((a) => (a === 0 ? [1, 0] : [0, 1]))),
    });
    const [a, b] = [
      [0, 0, 1, 0],
      [1, 1, 0, 1, 1],
    ];
    const [few, all] = [
      logisticRegression(sparse(a), sparse(b)),
      logisticRegression(dense(a), dense(b)),
    ];
    for (const i of few.keys()) expect(few[i]).toBeCloseTo(all[i], 12);
  });
});
