/**
 * Hamiltonian steps: compared with a closed form, their order, and reversibility; the chains
 * preserve their distribution.
 */
import { evaluate } from "diffeo/engine";
import {
  add,
  log,
  mul,
  type NdArray,
  ndarray,
  neg,
  square,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import {
  adaptedStepSize,
  chainsAt,
  type LogDensity,
  leapfrog,
  metropolis,
  negativeEnergy,
  openWalk,
  runWalk,
} from "diffeo/mcmc";
import { fold, key, normal, sampleKeys } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { ALPHA, normalCdf, uniformP } from "../random/statistics.ts";

const double = (shape: readonly number[], data: ArrayLike<number>): NdArray => ({
  shape,
  dtype: "float64",
  data: Float64Array.from(data),
});

/** Phases after leapfrog, from starts x and v [B, n]; and the change of −H. */
const stepped = (f: LogDensity, x: NdArray, v: NdArray, size: number, steps: number) =>
  evaluate(
    (at: Tensor, momentum: Tensor, epsilon: Tensor, one: Tensor) => {
      const evaluateAt = chainsAt([f]);
      const before = { chains: evaluateAt(at), momentum };
      const after = leapfrog(evaluateAt, before, [one], epsilon, steps);
      return {
        x: after.chains.x,
        v: after.momentum,
        gain: sub(negativeEnergy(after, [one]), negativeEnergy(before, [one])),
      };
    },
    x,
    v,
    size,
    1,
  );

const unit: LogDensity = (x) => mul(squaredNorm(x), -0.5);
/** A banana with quartic walls: no closed form solves its motion. */
const bent: LogDensity = (x) => {
  const [a, b] = [sum(mul(x, [1, 0]), -1), sum(mul(x, [0, 1]), -1)];
  return neg(add(mul(square(sub(b, square(a))), 0.5), mul(square(square(a)), 0.1)));
};
const starts = normal(key("starts"), [32, 2], { dtype: "float64" });
const momenta = normal(key("momenta"), [32, 2], { dtype: "float64" });

describe("leapfrog", () => {
  it("turns a unit Gaussian's phase by the matrix ((1 − ε²/2, ε), (−ε(1 − ε²/4), 1 − ε²/2)) per step", async () => {
    const [size, steps] = [0.7, 9];
    const { x, v } = await stepped(unit, starts, momenta, size, steps);
    starts.data.forEach((x0, i) => {
      let [p, q] = [x0, momenta.data[i]];
      for (let s = 0; s < steps; s++)
        [p, q] = [
          (1 - size ** 2 / 2) * p + size * q,
          -size * (1 - size ** 2 / 4) * p + (1 - size ** 2 / 2) * q,
        ];
      expect(x.data[i]).toBeCloseTo(p, 12);
      expect(v.data[i]).toBeCloseTo(q, 12);
    });
  });

  it("has an energy error of order 2 in the step, over the same time", async () => {
    const worst = async (steps: number): Promise<number> => {
      const { gain } = await stepped(bent, starts, momenta, 1 / steps, steps);
      return Math.max(...Array.from(gain.data as Float64Array, Math.abs));
    };
    const errors = [await worst(20), await worst(40), await worst(80)];
    for (const [coarse, fine] of [errors.slice(0, 2), errors.slice(1)])
      expect(Math.log2(coarse / fine)).toBeCloseTo(2, 1);
  });

  it("is reversed by negating the momentum", async () => {
    const there = await stepped(bent, starts, momenta, 0.1, 25);
    expect(Math.abs((there.x.data[0] as number) - starts.data[0])).toBeGreaterThan(0.1);
    const turned = double(
      momenta.shape,
      (there.v.data as Float64Array).map((v) => -v),
    );
    const back = await stepped(bent, there.x, turned, 0.1, 25);
    starts.data.forEach((x0, i) => {
      expect(back.x.data[i]).toBeCloseTo(x0, 11);
      expect(back.v.data[i]).toBeCloseTo(-momenta.data[i], 11);
    });
  });
});

/** N(μ, LLᵀ) in two dimensions. */
const [mean, root] = [[1, -2], { a: 1.5, b: 0.9, c: 0.4 }];
const slanted = (x: Tensor): Tensor => {
  // L⁻¹(x − μ): z₁ = d₁/a, z₂ = (d₂ − b z₁)/c
  const d = sub(x, mean);
  const z1 = mul(sum(mul(d, [1, 0]), -1), 1 / root.a);
  const z2 = mul(sub(sum(mul(d, [0, 1]), -1), mul(z1, root.b)), 1 / root.c);
  return mul(add(square(z1), square(z2)), -0.5);
};
const target = { size: 2, terms: [slanted], parameters: {} };
/**
 * Points as they would be in the target's own axes: independent standard normal ones under its
 * distribution.
 */
const standardised = (points: ArrayLike<number>): number[][] =>
  Array.from({ length: points.length / 2 }, (_, i) => {
    const z1 = (points[2 * i] - mean[0]) / root.a;
    return [z1, (points[2 * i + 1] - mean[1] - root.b * z1) / root.c];
  });
const drawn = (count: number, from = key("law")): Float64Array => {
  const z = normal(from, [count, 2], { dtype: "float64" }).data;
  return z.map((v, i) =>
    i % 2 === 0 ? mean[0] + root.a * v : mean[1] + root.b * z[i - 1] + root.c * v,
  );
};
const gaussianP = (points: ArrayLike<number>, j: number): number =>
  uniformP(standardised(points).map((z) => normalCdf(z[j])));

/** Kolmogorov and Smirnov's distance of two samples as a p-value; ties make it larger. */
function sameDistributionP(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [a.toSorted((p, q) => p - q), b.toSorted((p, q) => p - q)];
  let [i, j, distance] = [0, 0, 0];
  while (i < x.length && j < y.length) {
    const at = Math.min(x[i], y[j]);
    while (x[i] <= at) i++;
    while (y[j] <= at) j++;
    distance = Math.max(distance, Math.abs(i / x.length - j / y.length));
  }
  const lambda = distance * Math.sqrt((x.length * y.length) / (x.length + y.length));
  let p = 0;
  for (let k = 1; k <= 100; k++) p += (k % 2 ? 2 : -2) * Math.exp(-2 * k * k * lambda * lambda);
  return lambda < 0.3 ? 1 : p;
}

describe("chains", () => {
  it("converge from afar to the moments and marginals of a Gaussian", async () => {
    const count = 4000;
    const walk = openWalk(target, { leapfrog: 6, type: "float64" });
    const far = await walk.start(
      normal(key("far"), [count, 2], { dtype: "float64" }).data.map((v) => 0.1 * v + 4),
    );
    const { chains } = await runWalk(walk, far, {
      steps: 60,
      warmup: 20,
      stepSize: 0.2,
      key: key("run"),
      least: 0.05,
    });
    await walk.dispose();
    const z = standardised(chains.x.data as Float64Array);
    // Chains are independent, so each mean below has a standard error of √(variance/count).
    const average = (f: (z: readonly number[]) => number): number =>
      z.reduce((t, v) => t + f(v), 0) / count;
    for (const [found, expected, variance] of [
      [average(([a]) => a), 0, 1],
      [average(([, b]) => b), 0, 1],
      [average(([a]) => a * a), 1, 2],
      [average(([, b]) => b * b), 1, 2],
      [average(([a, b]) => a * b), 0, 1],
      [average(([a]) => a ** 4), 3, 96],
    ])
      expect(Math.abs(found - expected)).toBeLessThan(4 * Math.sqrt(variance / count));
    for (const j of [0, 1])
      expect(gaussianP(chains.x.data as Float64Array, j)).toBeGreaterThan(ALPHA);
  });

  it("are in detailed balance, and preserve the distribution at a coarse step", async () => {
    const [count, stepSize, steps] = [40_000, 0.62, 3];
    const before = drawn(count);
    const walk = openWalk(target, { leapfrog: steps, type: "float64", part: 10_000 });
    const moved = await walk.move(await walk.start(before), { stepSize, key: key("balance") });
    await walk.dispose();
    expect(moved.share).toBeGreaterThan(0.3);
    expect(moved.share).toBeLessThan(0.8);
    const kept = (moved.accepted.data as Float64Array).reduce((a, b) => a + b, 0);
    expect(moved.share).toBeCloseTo(kept / count, 12);
    const after = moved.chains.x.data as Float64Array;
    for (const j of [0, 1]) expect(gaussianP(after, j)).toBeGreaterThan(ALPHA);
    // (x, x′) and (x′, x) have one distribution: what one half of the chains gained, the other half
    // lost.
    const [then, now] = [standardised(before), standardised(after)];
    for (const h of [
      (z: number[]) => z[1] + 0.3 * z[0] ** 2,
      (z: number[]) => Math.exp(z[0]) * z[1],
    ]) {
      const gains = now.map((z, i) => h(z) - h(then[i]));
      expect(
        sameDistributionP(
          gains.slice(0, count / 2),
          gains.slice(count / 2).map((d) => -d),
        ),
      ).toBeGreaterThan(ALPHA);
    }
    // Leapfrog alone does not keep it: the numbers are large enough to see that.
    const { x } = await stepped(
      slanted,
      double([count, 2], before),
      normal(key("v"), [count, 2], { dtype: "float64" }),
      stepSize,
      steps,
    );
    expect(gaussianP(x.data as Float64Array, 1)).toBeLessThan(1e-9);
  });

  it("sample Σ w f: halfway between N(0, 1) and N(4, 1) is N(2, 1)", async () => {
    const count = 3000;
    const centred = (at: number) => (x: Tensor) => mul(squaredNorm(sub(x, at)), -0.5);
    const walk = openWalk(
      { size: 1, terms: [centred(0), centred(4)], parameters: {} },
      { leapfrog: 5, type: "float64" },
    );
    const start = await walk.start(normal(key("path"), [count, 1], { dtype: "float64" }).data);
    const { chains } = await runWalk(walk, start, {
      steps: 20,
      stepSize: 0.4,
      weights: [0.5, 0.5],
      key: key("path run"),
    });
    await walk.dispose();
    expect(
      uniformP(Array.from(chains.x.data as Float64Array, (v) => normalCdf(v - 2))),
    ).toBeGreaterThan(ALPHA);
  });

  it("are functions of their keys, for any grouping", async () => {
    const points = drawn(10, key("ten"));
    const after = async (from: number, to: number, part: number): Promise<Float64Array> => {
      const walk = openWalk(target, { leapfrog: 2, type: "float64", part });
      let chains = await walk.start(points.slice(2 * from, 2 * to));
      for (let step = 0; step < 3; step++)
        chains = (
          await walk.move(chains, {
            stepSize: 0.4,
            key: fold(sampleKeys(key("own"), to - from, from), step),
          })
        ).chains;
      await walk.dispose();
      return chains.x.data as Float64Array;
    };
    const whole = await after(0, 10, 10);
    expect(await after(0, 10, 3)).toEqual(whole);
    expect(await after(4, 9, 2)).toEqual(whole.slice(8, 18));
  });

  it("reject moves to points where the log-density is NaN", async () => {
    // log x − x, a Gamma distribution, known on x > 0 alone.
    const gamma = (x: Tensor): Tensor => sum(sub(log(x), x), -1);
    const walk = openWalk(
      { size: 1, terms: [gamma], parameters: {} },
      { leapfrog: 2, type: "float64" },
    );
    let chains = await walk.start(Float64Array.from({ length: 200 }, (_, i) => 0.01 * (i + 1)));
    let refused = 0;
    for (let i = 0; i < 30; i++) {
      const moved = await walk.move(chains, { stepSize: 1.2, key: fold(key("gamma"), i) });
      chains = moved.chains;
      refused += (moved.accepted.data as Float64Array).filter((a) => a === 0).length;
    }
    await walk.dispose();
    expect(refused).toBeGreaterThan(100);
    expect((chains.x.data as Float64Array).every((x) => x > 0 && Number.isFinite(x))).toBe(true);
  });

  it("read parameters as inputs of the graph", async () => {
    const centre = double([1], [3]);
    const terms = [
      (x: Tensor, p: { readonly centre: Tensor }): Tensor =>
        mul(squaredNorm(sub(x, p.centre)), -0.5),
    ];
    const walk = openWalk(
      { size: 1, terms, parameters: { centre } },
      { leapfrog: 1, type: "float64" },
    );
    const { values, slopes } = await walk.start(Float64Array.of(1, 5));
    await walk.dispose();
    expect(values[0].data).toEqual(Float64Array.of(-2, -2));
    expect(slopes[0].data).toEqual(Float64Array.of(2, -2));
  });

  it("reject invalid options", async () => {
    expect(() => openWalk(target, { leapfrog: 0 })).toThrow(/`leapfrog` is 0\. Give an integer/);
    expect(() => openWalk({ ...target, terms: [] }, { leapfrog: 1 })).toThrow(/has no terms/);
    const walk = openWalk(target, { leapfrog: 1, type: "float64" });
    const chains = await walk.start(drawn(3));
    await expect(walk.move(chains, { stepSize: 1, key: sampleKeys(key(1), 2) })).rejects.toThrow(
      /2 keys given for 3/,
    );
    await walk.dispose();
  });
});

describe("the Metropolis test", () => {
  it("accepts with probability min(1, e^{H − H′}), and rejects if that is NaN", async () => {
    // With a weight of 2 and v = 1 behind, −H goes from 2·0 − ½·1 to 2f′ − ½·4.
    const gains = [2 * -0.3 - 1.5, 2 * -0.3 - 1.5, 2 * 1 - 1.5, Number.NaN];
    const u = [Math.exp(gains[0]) - 1e-12, Math.exp(gains[1]) + 1e-12, 0.999999, 1e-9];
    const phase = (x: Tensor, f: Tensor, v: Tensor) => ({
      chains: { x, values: [f], slopes: [x] },
      momentum: v,
    });
    const column = (v: number): number[][] => new Array(4).fill([v]);
    const { chains, accepted } = await evaluate(
      (...[x, f, v, x2, f2, v2, w, tested]: Tensor[]) => {
        const found = metropolis(phase(x, f, v), phase(x2, f2, v2), [w], tested);
        return { chains: found.chains.x, accepted: found.accepted };
      },
      ...[
        column(0),
        [0, 0, 0, 0],
        column(1),
        column(7),
        [-0.3, -0.3, 1, Number.NaN],
        column(2),
        2,
        u,
      ].map((value) => ndarray(value, "float64")),
    );
    expect(Array.from(accepted.data, Number)).toEqual([1, 0, 1, 0]);
    expect([...chains.data]).toEqual([7, 0, 7, 0]);
  });
});

describe("step sizes", () => {
  it("grow if the acceptance is above its target, within their bounds", () => {
    expect(adaptedStepSize(0.5, 0.95, { targetAcceptance: 0.75, gain: 0.5 })).toBeCloseTo(
      0.5 * Math.exp(0.1),
      15,
    );
    expect(adaptedStepSize(0.5, 0, { least: 0.45 })).toBe(0.45);
    expect(adaptedStepSize(0.5, 1, { most: 0.51 })).toBe(0.51);
  });

  it("converge to the target acceptance, and are fixed after the warm-up", async () => {
    const walk = openWalk(target, { leapfrog: 3, type: "float64" });
    const start = await walk.start(drawn(2000));
    const settle = (steps: number) =>
      runWalk(walk, start, {
        steps,
        warmup: 60,
        stepSize: 0.2,
        targetAcceptance: 0.65,
        gain: 0.15,
        key: key("settle"),
      });
    const [end, later] = [await settle(60), await settle(64)];
    expect(later.stepSize).toBe(end.stepSize);
    const { share } = await walk.move(end.chains, { stepSize: end.stepSize, key: key("after") });
    await walk.dispose();
    expect(share).toBeCloseTo(0.65, 1);
  });
});

it("runs in float32, the default of graphs", async () => {
  const walk = openWalk(target, { leapfrog: 1 });
  const { x } = await walk.start(Float32Array.from(drawn(4)));
  await walk.dispose();
  expect(x.dtype).toBe("float32");
});
