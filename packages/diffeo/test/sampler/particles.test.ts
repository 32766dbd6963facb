/** Posteriors of diffusions: weights that are exact whatever guides, closed forms, and one mechanism for all that is known. */
import { describe, expect, it } from "vitest";
import { additiveLogistic, type Bijector, expMap } from "../../src/bijector/index.ts";
import { gaussian } from "../../src/distribution/index.ts";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  at,
  constant,
  div,
  expandDims,
  gradEach,
  greater,
  log,
  mul,
  type NdArray,
  slice,
  square,
  stack,
  sub,
  sum,
  type Tensor,
  where,
} from "../../src/graph/index.ts";
import { external } from "../../src/outside/index.ts";
import { key } from "../../src/random/index.ts";
import { particles, sample } from "../../src/sampler/index.ts";
import { systematic } from "../../src/sampler/weights.ts";
import {
  condition,
  guide,
  type MarginalScore,
  reverse,
  reversePush,
  scaleDrift,
  twist,
  vp,
} from "../../src/sde/index.ts";
import { clusters, exactScore } from "./tools.ts";

const sde = vp();
const data = clusters(2);
const score = exactScore(sde, data);
const few = { shape: [2], steps: 12, grid: "quadratic", type: "float64", threads: 1 } as const;

/** log N(value; mean, noise²), without its constant. */
const normalLog = (mean: Tensor, value: number, noise: number | Tensor): Tensor =>
  mul(square(div(sub(mean, value), noise)), -0.5);

/** What the first coordinate of y was seen to be, through a logarithm. */
const seen = (y: Tensor): Tensor => normalLog(log(at(y, 0, -1)), -0.6, 0.5);

const moments = ({ data: points }: NdArray, weights: ArrayLike<number>): number[] => {
  const n = points.length / weights.length;
  const of = (f: (y: Float64Array) => number): number => {
    let [total, sumOf] = [0, 0];
    for (let i = 0; i < weights.length; i++) {
      total += weights[i];
      sumOf += weights[i] * f((points as Float64Array).subarray(i * n, (i + 1) * n));
    }
    return sumOf / total;
  };
  return [
    of((y) => Math.log(y[0])),
    of((y) => Math.log(y[1])),
    of((y) => Math.log(y[0]) ** 2),
    of((y) => Math.log(y[0]) * Math.log(y[1])),
  ];
};

describe("weights", () => {
  /** Draws of the sampler's own law, and what the observation says of each: 12 steps are far from the law of the data. */
  const plain = async (phi: Bijector) => {
    const { samples } = await sample(reversePush(sde, phi, score), { ...few, count: 12_000, key: key(5) });
    const look = compile(seen, [[null, 2]], { type: "float64" });
    const weights = Array.from((await look(samples)).data as Float64Array, Math.exp);
    return { samples, weights, mean: weights.reduce((a, b) => a + b) / weights.length };
  };

  it.each([expMap(), additiveLogistic()])(
    "are those of the steps that were taken, whatever guides them ($name)",
    async (phi) => {
      const exact = await plain(phi);
      const process = reversePush(sde, phi, score);
      const wanted = moments(exact.samples, exact.weights);
      const guides =
        phi.name === "exp"
          ? [condition(process, seen), condition(process, seen, { strength: 0.5 })]
          : [
              condition(process, seen, { gradient: "simple", strength: 1.2 }),
              twist(process, (x) => sum(mul(x, 0.1), -1), { end: seen }),
            ];
      for (const [i, posterior] of guides.entries()) {
        // The second is drawn anew in every step, the first only where few particles are left that count.
        const threshold = [0.5, 1][i];
        const found = await particles(posterior, { ...few, particles: 5000, key: key(6), threshold });
        if (threshold === 1) expect(found.resampled.length).toBeGreaterThan(few.steps / 2);
        expect(Math.abs(found.logEvidence - Math.log(exact.mean))).toBeLessThan(0.06);
        moments(found.points, found.weights).forEach((m, i) => {
          expect(Math.abs(m - wanted[i])).toBeLessThan(0.06);
        });
        const even = moments(found.samples, new Array(5000).fill(1));
        even.forEach((m, i) => {
          expect(Math.abs(m - wanted[i])).toBeLessThan(0.07);
        });
      }
    },
  );

  it("that say nothing leave the steps of the sampler", async () => {
    const process = reversePush(sde, additiveLogistic(), score);
    const nothing = condition(process, (y) => sum(mul(y, 0), -1));
    const { points, ess, logEvidence, resampled } = await particles(nothing, {
      ...few,
      particles: 9,
      key: key(1),
      denoise: true,
    });
    const { samples } = await sample(process, { ...few, count: 9, key: key(1), denoise: true });
    samples.data.forEach((v, i) => {
      expect(Math.abs(v - Number(points.data[i]))).toBeLessThan(1e-13);
    });
    expect([ess, logEvidence, resampled]).toEqual([9, 0, []]);
  });
});

describe("a Gaussian prior with a linear observation", () => {
  // Prior N(μ, C), observed x₁ + x₂ with noise s: the posterior and the evidence in closed form.
  const [mu, C, s2, seenSum] = [[0.3, -0.2], [[0.8, 0.3], [0.3, 0.5]], 0.1, 1.4]; // biome-ignore format: matrices
  const prior = gaussian({ mean: mu, covariance: C });
  const own = exactScore(sde, prior);
  const gain = [C[0][0] + C[0][1], C[1][0] + C[1][1]];
  const total = gain[0] + gain[1] + s2;
  const error = seenSum - mu[0] - mu[1];
  const mean = mu.map((m, i) => m + (gain[i] * error) / total);
  const variance = [0, 1].map((i) => C[i][i] - gain[i] ** 2 / total);
  const evidence = -0.5 * Math.log(2 * Math.PI * total) - (0.5 * error ** 2) / total;
  const constant = -0.5 * Math.log(2 * Math.PI * s2);
  const observed = (y: Tensor): Tensor => add(normalLog(sum(y, -1), seenSum, Math.sqrt(s2)), constant);
  const count = 4000;

  it("is found by particles: mean, variance and evidence", async () => {
    const { samples, ess, logEvidence, ancestors } = await particles(condition(reverse(sde, own), observed), {
      shape: [2],
      steps: 50,
      threads: 1,
      particles: count,
      key: key(3),
    });
    expect(ess).toBeGreaterThan(count / 2);
    expect(ancestors).toBeGreaterThan(100);
    expect(Math.abs(logEvidence - evidence)).toBeLessThan(0.05);
    for (const i of [0, 1]) {
      const values = Array.from({ length: count }, (_, k) => samples.data[2 * k + i]);
      const m = values.reduce((a, b) => a + b) / count;
      const v = values.reduce((a, b) => a + (b - m) ** 2, 0) / count;
      expect(Math.abs(m - mean[i])).toBeLessThan(0.06 * Math.sqrt(variance[i]));
      expect(Math.abs(v / variance[i] - 1)).toBeLessThan(0.08);
    }
  });
});

describe("the twist of an observation", () => {
  // Data N(0, I): x₀ given x is N(m x/(m² + σ²), σ²/(m² + σ²)), so a·x₀ with noise s is seen from x with a variance in closed form.
  const [a, seenAs, s2] = [[1.5, -0.7], 0.8, 0.04];
  const { meanFactor: m, std } = sde.transition;
  const total = (t: Tensor): Tensor => add(square(m(t)), square(std(t)));
  const normal = reverse(sde, (x, t) => mul(div(x, expandDims(total(t), -1)), -1));
  const along = (x: Tensor): Tensor => sum(mul(x, a), -1);
  const { twist: own } = condition(normal, (y) => mul(square(sub(along(y), seenAs)), -0.5 / s2));
  const exact = (x: Tensor, t: Tensor): Tensor => {
    const widened = add(div(mul(square(std(t)), a[0] ** 2 + a[1] ** 2), total(t)), s2);
    const residual = sub(div(mul(along(x), m(t)), total(t)), seenAs);
    return sub(div(mul(square(residual), -0.5), widened), mul(log(div(widened, s2)), 0.5));
  };

  it("is exact for a number that is linear in Gaussian data, and so is its gradient", async () => {
    const both = compile(
      (x: Tensor, t: Tensor) => [
        sub(own.log(x, t), exact(x, t)),
        sub(own.delta(x, t), gradEach((z: Tensor) => exact(z, t))(x)),
      ],
      [[null, 2], [null]],
      { type: "float64", threads: 1 },
    );
    const x = [[0.4, -1], [1.2, 0.3], [-2, 2.5], [0, 0.1]]; // biome-ignore format: points
    for (const error of (await both(x, [0.02, 0.2, 0.5, 0.98])) as readonly NdArray[])
      for (const e of error.data) expect(Math.abs(Number(e))).toBeLessThan(1e-9);
  });
});

describe("one mechanism", () => {
  const process = reversePush(sde, expMap(), score);

  it("weighs an energy as a likelihood of where the process ends", async () => {
    const wideSeen = (y: Tensor): Tensor => normalLog(log(at(y, 0, -1)), -0.6, 4);
    const energy = (y: Tensor): Tensor => mul(wideSeen(y), -1);
    const [guided, conditioned] = await Promise.all(
      [guide(process, energy), condition(process, wideSeen)].map((p) =>
        particles(p, { ...few, particles: 2000, key: key(2) }),
      ),
    );
    expect(Math.abs(guided.logEvidence - conditioned.logEvidence)).toBeLessThan(0.06);
  });

  it("takes two observations one after the other as both at once", async () => {
    const other = (y: Tensor): Tensor => normalLog(log(at(y, 1, -1)), -0.4, 0.7);
    const both = condition(process, (y) => add(seen(y), other(y)));
    const [a, b] = await Promise.all(
      [both, condition(condition(process, seen), other)].map((p) =>
        particles(p, { ...few, particles: 500, key: key(4) }),
      ),
    );
    expect(Math.abs(a.logEvidence - b.logEvidence)).toBeLessThan(1e-3);
  });

  it("asks no derivative of a score from elsewhere, or takes differences", async () => {
    const host = compile(score, [[null, 2], [null]], { type: "float64", threads: 1 });
    const f = async (x: NdArray, t: NdArray): Promise<NdArray> => host(x, t);
    const of = (s: MarginalScore, gradient: "exact" | "simple") =>
      particles(condition(reversePush(sde, expMap(), s), seen, { gradient }), { ...few, particles: 50, key: key(4) });
    const same = async (a: MarginalScore, b: MarginalScore, gradient: "exact" | "simple", error: number) =>
      expect(Math.abs((await of(a, gradient)).logEvidence - (await of(b, gradient)).logEvidence)).toBeLessThan(error);
    await same(external(f), score, "simple", 1e-12);
    await same(external(f, { differences: 0.003, sde }), score, "exact", 1e-4);
    await expect(of(external(f), "exact")).rejects.toThrow(/derivative was asked for/);
  });
});

describe("particles", () => {
  const process = reversePush(sde, expMap(), score);
  const posterior = condition(process, seen);

  it("are functions of the key and their number: batches change nothing", async () => {
    const run = (batch: number) => particles(posterior, { ...few, particles: 30, batch, key: key(8) });
    const [a, b] = [await run(30), await run(7)];
    expect(a.resampled).toEqual(b.resampled);
    a.samples.data.forEach((v, i) => {
      expect(Math.abs(v - b.samples.data[i])).toBeLessThan(1e-12);
    });
  });

  it("are drawn anew in proportion to their weights, each as often as it is worth or one more", () => {
    const weights = Float64Array.of(0.5, 0, 0.05, 0.25, 0.2);
    for (const u of [1e-9, 0.3, 0.77, 1 - 1e-9]) {
      const counts = [0, 0, 0, 0, 0];
      for (const i of systematic(weights, u)) counts[i]++;
      counts.forEach((c, i) => {
        expect(Math.abs(c - 5 * weights[i])).toBeLessThan(1);
      });
    }
  });

  it("survive an x̂₀ that is impossible, and say when nothing is possible", async () => {
    const above = (y: Tensor): Tensor => where(greater(at(y, 0, -1), 1.2), 0, Number.NEGATIVE_INFINITY);
    const { samples, logEvidence } = await particles(condition(process, above), {
      ...few,
      particles: 4000,
      key: key(9),
    });
    for (let i = 0; i < samples.data.length; i += 2) expect(samples.data[i]).toBeGreaterThan(1.2);
    const { samples: plain } = await sample(process, { ...few, count: 5000, key: key(10) });
    const share = plain.data.filter((v, i) => i % 2 === 0 && v > 1.2).length / 5000;
    expect(Math.abs(Math.exp(logEvidence) / share - 1)).toBeLessThan(0.1);
    const never = (y: Tensor): Tensor => where(greater(at(y, 0, -1), -1), Number.NEGATIVE_INFINITY, 0);
    await expect(particles(condition(process, never), { ...few, particles: 5, key: key(1) })).rejects.toThrow(
      /impossible for every particle/,
    );
  });

  it("say what they cannot run", async () => {
    const run = (p: unknown, options = {}) => particles(p as never, { ...few, particles: 5, key: key(1), ...options });
    await expect(run(process)).rejects.toThrow(/not conditioned on anything/);
    await expect(run(scaleDrift(posterior, 1.1))).rejects.toThrow(
      /changed after it was conditioned. Change the process first/,
    );
    await expect(run(posterior, { particles: 0 })).rejects.toThrow(/0 particles/);
    await expect(run(posterior, { threshold: 2 })).rejects.toThrow(/threshold is 2/);
    await expect(run(condition(process, (y) => y))).rejects.toThrow(/likelihood of a batch \[5\] has shape \[5, 2\]/);
    const mixing = [
      (y: Tensor) => add(at(y, 0, -1), sum(y)),
      (y: Tensor) => sub(at(y, 0, -1), slice(at(y, 0, -1), [0, 1])),
      (y: Tensor) => sub(at(y, 0, -1), at(at(y, 0, -1), y.shape[0] - 1, 0)),
      // Both ends of the batch know of each other alone.
      (y: Tensor) =>
        mul(at(y, 0, -1), stack(Array.from({ length: y.shape[0] }, (_, i) => at(at(y, 1, -1), -1 - i, 0)))),
    ];
    for (const mixed of mixing) {
      await expect(run(condition(process, mixed))).rejects.toThrow(/likelihood mixes events.*sum\(x, -1\)/);
      await expect(run(guide(process, mixed))).rejects.toThrow(/energy mixes events.*sum\(x, -1\)/);
      await expect(sample(guide(process, mixed), { ...few, count: 5, key: key(1) })).rejects.toThrow(/energy mixes/);
    }
    // What an event is held to may be its own.
    const own = constant([[0.1], [0.2], [0.3], [0.4], [0.5]], "float64");
    await run(condition(process, (y) => mul(sum(square(sub(y, own)), -1), -0.5)));
    const broken = condition(process, (y) => log(sub(at(y, 0, -1), 100)));
    await expect(run(broken)).rejects.toThrow(/log-likelihood of particle 0 is NaN/);
    expect(() => condition(process, 3 as never)).toThrow(/no function/);
    expect(() => condition({ ...process, transition: undefined } as never, seen)).toThrow(/no Gaussian transition/);
    await run(condition(scaleDrift(process, 1.1), seen));
  });
});
