/**
 * Time grids fitted to a denoiser's errors, on Gaussian data, where the best grid and the
 * distribution of every sampler are known.
 */
import { describe, expect, it } from "vitest";
import { gaussian } from "../../src/distribution/index.ts";
import { key } from "../../src/random/index.ts";
import { poolAdjacent } from "../../src/sampler/fitted.ts";
import {
  ancestral,
  fittedGrid,
  logSnr,
  logSnrGrid,
  quadraticGrid,
  type Solver,
  sample,
  uniformGrid,
} from "../../src/sampler/index.ts";
import { reverse, vp } from "../../src/sde/index.ts";
import { exactScore } from "./tools.ts";

const sde = vp();
const { transition } = sde;
const [from, to] = [1, 1e-3];
const snr = (times: readonly number[]): number[] => logSnr(transition)(times).map(Math.exp);

/** What is left of N(0, s²) in each coordinate, E‖x₀ − D‖² = Σ s²/(1 + γs²), at 64 times. */
function errorsOf(scales: readonly number[]) {
  const times = logSnrGrid(transition, to, from, 63);
  const values = snr(times).map((g) =>
    scales.reduce((sum, s) => sum + s ** 2 / (1 + g * s ** 2), 0),
  );
  return { times, values };
}

/**
 * KL of a sampler's distribution from the truth at `to`. A sampler of Gaussian data is linear in
 * where it starts and in what it draws, so its variance is the sum of the squares of what it makes
 * of one unit at a time: sample 0 starts at 1, sample k draws 1 in step k.
 */
async function distance(
  scales: readonly number[],
  solver: Solver,
  grid: readonly number[],
): Promise<number> {
  const d = scales.length;
  const count = grid.length;
  const data = gaussian({ mean: scales.map(() => 0), covariance: scales.map((s) => s ** 2) });
  const { samples } = await sample(reverse(sde, exactScore(sde, data)), {
    ...{ shape: [d], solver, grid, device: "reference", key: key(1) },
    start: { shape: [count, d], dtype: "float64", data: new Float64Array(count * d).fill(1, 0, d) },
    noise: ({ step, count: n }) => new Float64Array(n * d).fill(1, (step + 1) * d, (step + 2) * d),
  });
  const [g] = snr([to]);
  return scales.reduce((kl, s, j) => {
    const variance = Array.from({ length: count }, (_, i) => samples.data[i * d + j] ** 2).reduce(
      (a, b) => a + b,
    );
    const ratio = (variance * (1 + g)) / (g * s ** 2 + 1);
    return kl + 0.5 * (ratio - 1 - Math.log(ratio));
  }, 0);
}

describe("a fitted grid", () => {
  it.each([
    [0.05, 6],
    [0.05, 40],
    [0.3, 15],
    [1, 40],
  ])("is even in log(1 + γs²), the optimum, for data N(0, %d²) in %d steps", (s, steps) => {
    const times = fittedGrid(transition, errorsOf([s]), { from, to, steps });
    expect([times[0], times[steps]]).toEqual([from, to]);
    const u = snr(times).map((g) => 1 + g * s ** 2);
    const even = Math.log(u[steps] / u[0]) / steps;
    for (let k = 1; k <= steps; k++)
      expect(Math.abs(Math.log(u[k] / u[k - 1]) / even - 1)).toBeLessThan(0.03);
    // Σ e(γₖ)Δγ = Σ (uₖ₊₁/uₖ − 1), of ratios whose product is given: least, n(e^{even} − 1), where
    // they are equal.
    const cost = u.slice(1).reduce((sum, next, k) => sum + next / u[k] - 1, 0);
    expect(cost / (steps * Math.expm1(even))).toBeCloseTo(1, 3);
  });

  it("has a lower error than the usual grids, and gives a distribution nearer to the truth", async () => {
    const scales = [0.05, 0.3];
    const errors = errorsOf(scales);
    for (const steps of [8, 24]) {
      const grids = [
        fittedGrid(transition, errors, { from, to, steps }),
        uniformGrid(from, to, steps),
        quadraticGrid(from, to, steps),
        logSnrGrid(transition, from, to, steps),
      ];
      const left = (g: number): number =>
        scales.reduce((sum, s) => sum + s ** 2 / (1 + g * s ** 2), 0);
      const costs = grids.map((times) => {
        const g = snr(times);
        return g.slice(1).reduce((sum, next, k) => sum + 0.5 * left(g[k]) * (next - g[k]), 0);
      });
      const gained = 0.5 * scales.reduce((sum, s) => sum + Math.log1p(snr([to])[0] * s ** 2), 0);
      const found: number[] = [];
      for (const grid of grids) found.push(await distance(scales, ancestral(), grid));
      for (const other of [1, 2, 3]) {
        expect(costs[0]).toBeLessThan(costs[other]);
        expect(found[0]).toBeLessThan(0.75 * found[other]);
      }
      // The paths are further apart than their ends.
      grids.forEach((_, i) => {
        expect(found[i]).toBeLessThan(costs[i] - gained);
      });
    }
  });

  it("spends no steps where the error is constant, and still decreases strictly", () => {
    const times = logSnrGrid(transition, to, from, 63);
    const values = times.map((t) => (t < 0.2 ? 0 : t > 0.6 ? 1 : (t - 0.2) / 0.4));
    const grid = fittedGrid(transition, { times, values }, { from, to, steps: 20 });
    expect(grid.filter((t) => t > 0.7 || t < 0.15)).toEqual([from, to]);
    for (let k = 1; k <= 20; k++) expect(grid[k]).toBeLessThan(grid[k - 1]);
  });

  it("pools errors that noise puts in the wrong order", () => {
    expect(poolAdjacent([1, 3, 2, 2, 5, 4])).toEqual([1, 7 / 3, 7 / 3, 7 / 3, 4.5, 4.5]);
    expect(poolAdjacent([3, 2, 1])).toEqual([2, 2, 2]);
  });

  it("refuses invalid errors", () => {
    const fit = (times: number[], values: number[]) => () =>
      fittedGrid(transition, { times, values }, { from, to, steps: 4 });
    expect(fit([to, from], [1])).toThrow("`errors` has 2 times and 1 values");
    expect(fit([to, 0.5, 0.4, from], [0, 1, 2, 3])).toThrow("error 2 is 2 at t = 0.4");
    expect(fit([to, from], [0, -1])).toThrow("error 1 is -1 at t = 1");
    expect(fit([0.1, from], [0, 1])).toThrow("from 1 to 0.001, the errors are from 0.1 to 1");
    expect(fit([to, from], [1, 1])).toThrow("the errors do not change from t = 1 to 0.001");
  });
});
