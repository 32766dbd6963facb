/**
 * The low-rank metric. For a Gaussian it is the covariance if there are as many draws as
 * coordinates, else the covariance on their span.
 */
import { describe, expect, it } from "vitest";
import { cholesky, lowerTimes } from "../../src/host/index.ts";
import { fisherMetric } from "../../src/mcmc/fisher.ts";
import { mostRank } from "../../src/mcmc/metric.ts";
import { shortWindows } from "../../src/mcmc/warmup.ts";
import { key, normal } from "../../src/random/index.ts";

/** Solves A x = b by elimination: the tests' own. */
function solved(a: readonly (readonly number[])[], b: readonly number[]): number[] {
  const rows = a.map((row, i) => [...row, b[i]]);
  const n = rows.length;
  for (let k = 0; k < n; k++)
    for (let i = 0; i < n; i++)
      if (i !== k) {
        const f = rows[i][k] / rows[k][k];
        rows[i] = rows[i].map((v, j) => v - f * rows[k][j]);
      }
  return rows.map((row, i) => row[n] / row[i]);
}

/** Draws of N(3, Σ) with slopes −Σ⁻¹(x − 3), [count, n]. */
function gaussianPoints(sigma: readonly (readonly number[])[], count: number) {
  const n = sigma.length;
  const l = cholesky(sigma.flat(), n) as Float64Array;
  const z = normal(key("points"), [count, n], { dtype: "float64" }).data;
  const rows = Array.from({ length: count }, (_, i) =>
    lowerTimes(l, z.subarray(i * n, (i + 1) * n)),
  );
  const points = Float64Array.from(rows.flatMap((row) => Array.from(row, (v) => v + 3)));
  const slopes = Float64Array.from(rows.flatMap((row) => solved(sigma, [...row]).map((v) => -v)));
  return { points, slopes };
}

/** M⁻¹ of the packed form: D + Σ (λ − 1) w wᵀ. */
function whole(packed: Float64Array, n: number): number[][] {
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => {
      let total = i === j ? packed[i] : 0;
      for (let k = 1; k <= mostRank(n); k++) {
        const row = packed.subarray(k * (n + 1), (k + 1) * (n + 1));
        total += row[n] * row[i] * row[j];
      }
      return total;
    }),
  );
}

/** sd 10^i and a common correlation. */
const correlated = (n: number, rho: number): number[][] =>
  Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => 10 ** ((i % 5) + (j % 5)) * (i === j ? 1 : rho)),
  );

describe("the metric of least Fisher divergence", () => {
  it.each([2, 5])("is the covariance of a Gaussian of %s coordinates, from few draws", (n) => {
    const sigma = correlated(n, 0.98);
    const found = whole(fisherMetric(gaussianPoints(sigma, n + 3), n) as Float64Array, n);
    // All eigenvalues of the correlation matrix, 1 + 0.98 (n − 1) and 0.02, are far from 1.
    found.forEach((row, i) => {
      row.forEach((v, j) => {
        expect(v / Math.sqrt(sigma[i][i] * sigma[j][j])).toBeCloseTo(i === j ? 1 : 0.98, 3);
      });
    });
  });

  it("is the variance for uncorrelated coordinates", () => {
    const packed = fisherMetric(gaussianPoints(correlated(6, 0), 40), 6) as Float64Array;
    expect(Array.from(packed.subarray(0, 6), (v, i) => v / 10 ** (2 * (i % 5)))).toEqual(
      Array.from({ length: 6 }, () => expect.closeTo(1, 10)),
    );
    expect(Math.max(...packed.subarray(7).map(Math.abs))).toBe(0);
  });

  it("finds the long direction of many coordinates in fewer draws", () => {
    // Σ = I + 99 uuᵀ of 120 coordinates.
    const n = 120;
    const u = Array.from({ length: n }, (_, i) => (i % 2 === 0 ? 1 : -1) / Math.sqrt(n));
    const sigma = u.map((a, i) => u.map((b, j) => 99 * a * b + (i === j ? 1 : 0)));
    const found = whole(fisherMetric(gaussianPoints(sigma, 100), n) as Float64Array, n);
    const along = u.reduce((t, a, i) => t + u.reduce((s, b, j) => s + a * b * found[i][j], 0), 0);
    expect(along / 100).toBeGreaterThan(0.9);
    expect(along / 100).toBeLessThan(1.1);
  });

  it("is unchanged if the draws do not determine it", () => {
    const still = { points: new Float64Array(20).fill(1), slopes: new Float64Array(20).fill(2) };
    expect(fisherMetric(still, 2)).toBeUndefined();
    expect(fisherMetric(gaussianPoints(correlated(2, 0), 2), 2)).toBeUndefined();
  });
});

it("has windows that double, and leaves the last draws to the step size", () => {
  expect(shortWindows(1000)).toEqual({ from: 5, ends: [15, 35, 75, 155, 315, 950] });
  expect(shortWindows(10)).toEqual({ from: 10, ends: [] });
  expect(shortWindows(100).ends.at(-1)).toBe(90);
});
