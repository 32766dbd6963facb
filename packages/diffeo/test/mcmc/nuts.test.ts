/**
 * The no-U-turn sampler: it preserves a distribution, learns scales, and does not depend on other
 * chains.
 */
import { describe, expect, it } from "vitest";
import {
  add,
  exp,
  matvec,
  mul,
  slice,
  square,
  squaredNorm,
  squeeze,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { type ChainsOptions, drawChains, summarise } from "../../src/mcmc/index.ts";
import { windows } from "../../src/mcmc/warmup.ts";
import { key, normal } from "../../src/random/index.ts";

const points = (chains: number, n: number, seed: number, scale = 1) => {
  const { data } = normal(key(seed), [chains, n], { dtype: "float64" });
  return {
    shape: [chains, n],
    dtype: "float64" as const,
    data: (data as Float64Array).map((v) => scale * v),
  };
};

/**
 * Largest distance of an empirical distribution from Φ, times √count: above 1.95 once in a thousand
 * times.
 */
function kolmogorov(values: Float64Array): number {
  const sorted = values.toSorted();
  const phi = (x: number): number => 0.5 * (1 + erf(x / Math.SQRT2));
  let worst = 0;
  sorted.forEach((v, i) => {
    worst = Math.max(
      worst,
      Math.abs(phi(v) - i / sorted.length),
      Math.abs(phi(v) - (i + 1) / sorted.length),
    );
  });
  return worst * Math.sqrt(sorted.length);
}

/** By its series, and by its continued fraction in the tail. */
function erf(x: number): number {
  const a = Math.abs(x);
  if (a > 3) {
    let fraction = 0;
    for (let k = 60; k >= 1; k--) fraction = k / 2 / (a + fraction);
    return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
  }
  let [term, total] = [x, x];
  for (let k = 1; k < 80; k++) {
    term *= (-x * x) / k;
    total += term / (2 * k + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

const gaussian = (x: Tensor): Tensor => mul(squaredNorm(x), -0.5);

describe("a transition", () => {
  it.each([3, 10])(
    "preserves a Gaussian, with trajectories of depth up to %s",
    async (maxDepth) => {
      // Exact draws in, exact draws out: no warm-up, one transition each.
      const chains = await drawChains(gaussian, points(4000, 2, 5), {
        key: key(8),
        draws: 1,
        warmup: 0,
        maxDepth,
        stepSize: 0.25,
        block: 500,
      });
      for (const i of [0, 1])
        expect(kolmogorov(Float64Array.from(chains, ({ x }) => x[i]))).toBeLessThan(1.95);
      const moved = chains.filter(({ leaves }) => leaves[0] > 4).length;
      expect(moved).toBeGreaterThan(3000);
    },
  );
});

describe("chains", () => {
  const n = 5;
  // x = L z for a fixed L: correlated, with scales from 0.05 to 20.
  const scales = [0.05, 0.3, 1, 4, 20];
  const mixing = scales.map((_, i) =>
    scales.map((_, j) => (i === j ? 1 : 0.6 * Math.sin(3 * i + j))),
  );
  const target = (x: Tensor): Tensor =>
    gaussian(
      matvec(
        mixing,
        mul(
          x,
          scales.map((s) => 1 / s),
        ),
      ),
    );
  // Before scales are known a trajectory to its U-turn takes 500 steps or more: short ones learn as
  // well.
  const options: ChainsOptions = { key: key(3), draws: 250, warmup: 200, maxDepth: 6 };

  it.each(["diagonal", "low-rank", "dense"] as const)(
    "have the moments of a badly scaled Gaussian (%s metric)",
    async (metric) => {
      const chains = await drawChains(target, points(8, n, 2), { ...options, metric });
      const inverse = invert(mixing);
      scales.forEach((scale, i) => {
        const sd = scale * Math.sqrt(inverse[i].reduce((s, v) => s + v * v, 0));
        const found = summarise(chains.map(({ x }) => x.filter((_, at) => at % n === i)));
        expect(Math.abs(found.mean)).toBeLessThan(4 * found.meanError);
        expect(Math.abs(found.sd - sd)).toBeLessThan(4 * found.sdError);
        expect(found.rhat).toBeLessThan(1.02);
      });
      for (const { diverged, acceptance } of chains) {
        expect(diverged.some((d) => d === 1)).toBe(false);
        expect(acceptance.reduce((a, b) => a + b, 0) / acceptance.length).toBeGreaterThan(0.7);
      }
    },
  );

  it("are the same in any grouping into blocks", async () => {
    const short = { ...options, draws: 30, warmup: 60, block: 2 };
    const start = points(5, n, 2);
    const target = (x: Tensor): Tensor => gaussian(matvec(mixing, x));
    const all = await drawChains(target, start, short);
    for (const [first, count] of [
      [0, 1],
      [2, 2],
      [4, 1],
    ]) {
      const own = {
        shape: [count, n],
        dtype: "float64" as const,
        data: start.data.slice(first * n, (first + count) * n),
      };
      const alone = await drawChains(target, own, { ...short, first });
      alone.forEach((chain, c) => {
        expect(chain.x).toEqual(all[first + c].x);
        expect(chain.leaves).toEqual(all[first + c].leaves);
      });
    }
    expect(all[0].x).not.toEqual(all[1].x);
  });

  it("report the divergences of a funnel", async () => {
    // v ~ N(0, 9), x_i ~ N(0, e^v): no step size fits both ends.
    const funnel = (z: Tensor): Tensor => {
      const v = squeeze(slice(z, null, [0, 1]), -1);
      const rest = squaredNorm(slice(z, null, [1, 6]));
      return sub(sub(mul(square(v), -1 / 18), mul(mul(rest, exp(mul(v, -1))), 0.5)), mul(v, 2.5));
    };
    const chains = await drawChains(funnel, points(4, 6, 7), {
      key: key(5),
      draws: 150,
      warmup: 150,
      maxDepth: 7,
    });
    expect(
      chains.reduce((total, { diverged }) => total + diverged.reduce((a, b) => a + b, 0), 0),
    ).toBeGreaterThan(0);
  });

  it("report starting points without a density", async () => {
    const half = (x: Tensor): Tensor => sum(add(mul(x, 0), Number.NEGATIVE_INFINITY), -1);
    await expect(drawChains(half, points(2, 1, 1), options)).rejects.toThrow(
      /chain 1 starts where the log-density is -Infinity/,
    );
  });
});

/** By Gauss–Jordan elimination. */
function invert(a: readonly (readonly number[])[]): number[][] {
  const n = a.length;
  const m = a.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let i = 0; i < n; i++) {
    const pivot = m[i][i];
    m[i] = m[i].map((v) => v / pivot);
    for (let r = 0; r < n; r++) {
      const factor = m[r][i];
      if (r !== i) m[r] = m[r].map((v, c) => v - factor * m[i][c]);
    }
  }
  return m.map((row) => row.slice(n));
}

describe("windows of the warm-up", () => {
  it("are those of Stan for 1,000 transitions", () => {
    expect(windows(1000)).toEqual({ from: 75, ends: [100, 150, 250, 450, 950] });
  });
  it("fit shorter warm-ups, and none", () => {
    expect(windows(100)).toEqual({ from: 15, ends: [90] });
    expect(windows(10)).toEqual({ from: 10, ends: [] });
  });
});
