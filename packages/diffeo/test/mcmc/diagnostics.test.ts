/** R̂, effective sample sizes and standard errors, compared with theory and a plain computation. */
import { describe, expect, it } from "vitest";
import {
  bulkEss,
  meanError,
  rhat,
  sdError,
  summarise,
  tailEss,
} from "../../src/mcmc/diagnostics.ts";
import { energyFraction } from "../../src/mcmc/warnings.ts";
import { fold, key, normal } from "../../src/random/index.ts";
import { normalCdf } from "../random/statistics.ts";

const normals = (chains: number, draws: number, seed = 1): Float64Array[] =>
  Array.from(
    { length: chains },
    (_, c) => normal(fold(key(seed), c), [draws], { dtype: "float64" }).data as Float64Array,
  );

/** x_{i+1} = a x_i + √(1 − a²) z: standard normal, with autocorrelation aᵗ. */
const following = (a: number, z: Float64Array): Float64Array => {
  let x = z[0];
  return z.map((v, i) => {
    if (i > 0) x = a * x + Math.sqrt(1 - a * a) * v;
    return x;
  });
};

const autoregressive = (a: number, chains: number, draws: number, seed = 1): Float64Array[] =>
  normals(chains, draws, seed).map((z) => following(a, z));

/** The effective sample size by its definition, all sums written out. */
function plainEss(chains: readonly Float64Array[]): number {
  const halves = chains.flatMap((c) => [c.slice(0, c.length / 2), c.slice(c.length / 2)]);
  const n = halves[0].length;
  const mean = (v: ArrayLike<number>): number =>
    Array.from(v).reduce((a, b) => a + b, 0) / v.length;
  const means = halves.map(mean);
  const lag = (c: Float64Array, m: number, t: number): number =>
    Array.from({ length: n - t }, (_, i) => (c[i] - m) * (c[i + t] - m)).reduce(
      (a, b) => a + b,
      0,
    ) / n;
  const within = mean(halves.map((c, k) => (lag(c, means[k], 0) * n) / (n - 1)));
  const all = mean(means);
  const between = means.reduce((s, m) => s + (m - all) ** 2, 0) / (halves.length - 1);
  const total = ((n - 1) / n) * within + between;
  const rho = (t: number): number =>
    1 - (within - mean(halves.map((c, k) => lag(c, means[k], t)))) / total;
  const pairs: number[] = [1 + rho(1)];
  for (let k = 1; pairs[k - 1] > 0 && 2 * k < n - 4; k++) pairs.push(rho(2 * k) + rho(2 * k + 1));
  const positive = pairs.slice(0, -1);
  const falling = positive.map((_, k) => Math.min(...positive.slice(0, k + 1)));
  const tail = Math.max(0, rho(2 * positive.length));
  const draws = halves.length * n;
  return (
    draws / Math.max(-1 + 2 * falling.reduce((a, b) => a + b, 0) + tail, 1 / Math.log10(draws))
  );
}

/**
 * Φ⁻¹((r − 3/8)/(S + 1/4)) of ranks r, counted one by one: those below, and half of those as large.
 */
function plainScores(chains: readonly Float64Array[]): Float64Array[] {
  const all = chains.flatMap((c) => [...c]);
  const rank = (v: number): number =>
    all.filter((w) => w < v).length + (all.filter((w) => w === v).length + 1) / 2;
  const inverse = (p: number): number => {
    let [low, high] = [-9, 9];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (normalCdf(middle) < p) low = middle;
      else high = middle;
    }
    return low;
  };
  return chains.map((c) => c.map((v) => inverse((rank(v) - 3 / 8) / (all.length + 1 / 4))));
}

/** With ties. */
const rounded = (chains: readonly Float64Array[]): Float64Array[] =>
  chains.map((c) => c.map((v) => Math.round(10 * v) / 10));

describe("effective sample sizes", () => {
  const innovations = normals(8, 20_000);

  it.each([-0.5, 0, 0.5, 0.9])(
    "are (1 − a)/(1 + a) of the draws of an autoregression with a = %s",
    (a) => {
      const found = bulkEss(innovations.map((z) => following(a, z)));
      const share = (1 - a) / (1 + a);
      expect(found / (8 * 20_000) / share).toBeGreaterThan(0.93);
      expect(found / (8 * 20_000) / share).toBeLessThan(1.07);
    },
  );

  it.each([1, 2, 3])("agree with their definition, for draws and their ranks (%i)", (seed) => {
    for (const a of [0.7, -0.3, -0.6]) {
      const chains = autoregressive(a, 3, 256, seed);
      const error = meanError(chains);
      const all = Float64Array.from(chains.flatMap((c) => [...c]));
      const mean = all.reduce((a, b) => a + b, 0) / all.length;
      const variance = all.reduce((s, v) => s + (v - mean) ** 2, 0) / (all.length - 1);
      expect(variance / error ** 2 / plainEss(chains)).toBeCloseTo(1, 10);
      expect(bulkEss(rounded(chains)) / plainEss(plainScores(rounded(chains)))).toBeCloseTo(1, 8);
    }
  });

  it("of the tails are those of the indicators of the 5 % and 95 % quantiles", () => {
    const chains = autoregressive(0, 4, 5000);
    expect(tailEss(chains) / 20_000).toBeGreaterThan(0.9);
    // A chain that sticks in the tail every now and then knows the middle better than the tails.
    const sticky = chains.map((c) => c.map((v, i) => (c[i - (i % 40)] > 1.9 ? 2 + 0.01 * v : v)));
    for (const side of [1, -1])
      expect(tailEss(sticky.map((c) => c.map((v) => side * v)))).toBeLessThan(
        0.3 * bulkEss(sticky),
      );
  });
});

describe("R̂", () => {
  it("is near 1 for chains of one distribution, and detects another mean, another spread and a drift", () => {
    const same = autoregressive(0.3, 4, 1000);
    expect(rhat(same)).toBeLessThan(1.01);
    expect(rhat(same.map((c, k) => c.map((v) => v + (k === 0 ? 1 : 0))))).toBeGreaterThan(1.05);
    expect(rhat(same.map((c, k) => c.map((v) => v * (k === 0 ? 3 : 1))))).toBeGreaterThan(1.05);
    expect(rhat(same.map((c) => c.map((v, i) => v + i / 500)))).toBeGreaterThan(1.05);
  });

  it("is the greater √(V⁺/W) of the ranks of draws and of their distances from the median", () => {
    const mean = (v: ArrayLike<number>): number =>
      Array.from(v).reduce((a, b) => a + b, 0) / v.length;
    const variance = (v: ArrayLike<number>): number =>
      Array.from(v).reduce((s, x) => s + (x - mean(v)) ** 2, 0) / (v.length - 1);
    const plain = (halves: readonly Float64Array[]): number => {
      const scores = plainScores(halves);
      const within = mean(scores.map(variance));
      const n = scores[0].length;
      return Math.sqrt((((n - 1) / n) * within + variance(scores.map(mean))) / within);
    };
    const chains = rounded(autoregressive(0.3, 3, 60));
    for (const [shift, scale] of [
      [1.5, 1],
      [0, 3],
    ]) {
      const halves = chains
        .map((c, k) => c.map((v) => (k === 0 ? scale * v + shift : v)))
        .flatMap((c) => [c.slice(0, 30), c.slice(30)]);
      const sorted = halves.flatMap((c) => [...c]).sort((a, b) => a - b);
      const median = (sorted[89] + sorted[90]) / 2;
      const both = [halves, halves.map((c) => c.map((v) => Math.abs(v - median)))].map(plain);
      // Another place is seen by the first, another spread by the second.
      expect(both[0] > both[1]).toBe(scale === 1);
      const whole = [0, 2, 4].map((k) => Float64Array.of(...halves[k], ...halves[k + 1]));
      expect(rhat(whole)).toBeCloseTo(Math.max(...both), 9);
    }
  });

  it("depends on ranks alone, so the distribution needs no moments", () => {
    const cauchy = autoregressive(0, 4, 1000).map((c) =>
      c.map((v) => Math.tan(1.5 * Math.atan(v))),
    );
    expect(
      rhat(cauchy.map((c) => c.map((v) => Math.sinh(Math.min(20, Math.max(-20, v)))))),
    ).toBeLessThan(1.01);
  });

  it("is NaN for constant draws", () => {
    expect(rhat([new Float64Array(10), new Float64Array(10)])).toBeNaN();
    expect(rhat([Float64Array.of(1, 2, 3, Number.NaN), Float64Array.of(1, 2, 3, 4)])).toBeNaN();
  });
});

it("a summary has the quantiles of all draws", () => {
  const { q5, median, q95 } = summarise(
    [0, 1].map((k) => Float64Array.from({ length: 101 }, (_, i) => (37 * i + k) % 101)),
  );
  expect([q5, median, q95]).toEqual([5, 50, 95]);
});

describe("the energy's fraction", () => {
  it("is 2(1 − a) for an autoregression with a: 2 for independent draws, near 0 for slow chains", () => {
    const [z] = normals(1, 40_000);
    for (const a of [0, 0.5, 0.95]) {
      const energy = following(a, z);
      expect(energyFraction({ energy }) / (2 * (1 - a))).toBeCloseTo(1, 1);
    }
  });
});

describe("standard errors", () => {
  it("are the spread of means and of standard deviations over repetitions", () => {
    const mean = (values: readonly number[]): number =>
      values.reduce((a, b) => a + b, 0) / values.length;
    const sd = (values: readonly number[]): number =>
      Math.sqrt(
        (mean(values.map((v) => v * v)) - mean(values) ** 2) *
          (values.length / (values.length - 1)),
      );
    const runs = Array.from({ length: 400 }, (_, r) => {
      const chains = autoregressive(0.6, 4, 250, 100 + r);
      const all = chains.flatMap((chain) => [...chain]);
      const own = {
        mean: mean(all),
        sd: sd(all),
        meanError: meanError(chains),
        sdError: sdError(chains),
      };
      if (r === 0)
        for (const [name, value] of Object.entries(own))
          expect(summarise(chains)).toHaveProperty(name, expect.closeTo(value, 12));
      return own;
    });
    const said = (of: "meanError" | "sdError"): number =>
      runs.reduce((s, r) => s + r[of], 0) / runs.length;
    expect(sd(runs.map((r) => r.mean)) / said("meanError")).toBeGreaterThan(0.88);
    expect(sd(runs.map((r) => r.mean)) / said("meanError")).toBeLessThan(1.12);
    expect(sd(runs.map((r) => r.sd)) / said("sdError")).toBeGreaterThan(0.88);
    expect(sd(runs.map((r) => r.sd)) / said("sdError")).toBeLessThan(1.12);
    expect(sdError(autoregressive(0, 4, 2500)) / (1 / Math.sqrt(2 * 10_000))).toBeCloseTo(1, 1);
  });
});
