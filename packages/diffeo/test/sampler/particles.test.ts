/**
 * Posteriors of diffusions by particles: weights that are exact for any guidance, closed forms, and
 * the conditions that a call accepts.
 */
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
import { fold, key, sampleKeys } from "../../src/random/index.ts";
import { particles, type Samples, sample } from "../../src/sampler/index.ts";
import { Cloud, systematic } from "../../src/sampler/weights.ts";
import {
  condition,
  guide,
  type MarginalScore,
  reverse,
  reversePush,
  scaleDrift,
  subVp,
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
  /**
   * Draws of the sampler's own distribution, and what the observation says of each: 12 steps are
   * far from the distribution of the data.
   */
  const plain = async (phi: Bijector) => {
    const { samples } = await sample(reversePush(sde, phi, score), {
      ...few,
      count: 12_000,
      key: key(5),
    });
    const look = compile(seen, [[null, 2]], { type: "float64" });
    const weights = Array.from((await look(samples)).data as Float64Array, Math.exp);
    return { samples, weights, mean: weights.reduce((a, b) => a + b) / weights.length };
  };

  it.each([expMap(), additiveLogistic()])(
    "are those of the steps taken, for any guidance ($name)",
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
        // The second is drawn anew in every step, the first only where few particles are left that
        // count.
        const threshold = [0.5, 1][i];
        const found = await particles(posterior, {
          ...few,
          particles: 5000,
          key: key(6),
          threshold,
        });
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

  it("of one step are the ratio of its two densities, to rounding", async () => {
    const process = reverse(sde, score);
    const delta = (x: Tensor): Tensor => mul(sub(x, 0.7), -1.3);
    const end = (y: Tensor): Tensor => mul(sum(y, -1), 0.2);
    const twisted = twist(process, (x) => sum(mul(x, 3), -1), { delta, end });
    const [from, to, n] = [1, 0.6, 6];
    const call = {
      shape: [2],
      grid: [from, to],
      type: "float64",
      threads: 1,
      threshold: 0,
    } as const;
    const found = await particles(twisted, { ...call, particles: n, key: key(7) });
    const start = sde.prior?.sample(
      sampleKeys(fold(key(7), "start"), n),
      [2],
      "float64",
    ) as NdArray;
    const at = compile(
      (x: Tensor) => [process.drift(x, constant(from, "float64")), delta(x)],
      [[null, 2]],
      {
        type: "float64",
      },
    );
    const [drift, lead] = await at(start);
    const [h, g2] = [from - to, 20]; // β(1) of the linear schedule
    for (let i = 0; i < n; i++) {
      let log = 0;
      for (const k of [2 * i, 2 * i + 1]) {
        const [x, next, d] = [start, found.points, lead].map(({ data }) => Number(data[k]));
        const plain = x - Number(drift.data[k]) * h;
        // log N(x′; x + f̄ dt, g²h) − log N(x′; x + f̄ dt + g²δ h, g²h), and what is said of the
        // end
        log += ((next - plain - g2 * d * h) ** 2 - (next - plain) ** 2) / (2 * g2 * h) + 0.2 * next;
      }
      expect(Math.log(found.weights[i] * n) + found.logEvidence).toBeCloseTo(log, 9);
    }
  });

  it("of a constant likelihood leave the sampler's steps unchanged", async () => {
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
  const observed = (y: Tensor): Tensor =>
    add(normalLog(sum(y, -1), seenSum, Math.sqrt(s2)), constant);
  const count = 4000;

  it("has the exact mean, variance and evidence", async () => {
    const { samples, ess, logEvidence, ancestors } = await particles(
      condition(reverse(sde, own), observed),
      {
        shape: [2],
        steps: 50,
        threads: 1,
        particles: count,
        key: key(3),
      },
    );
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
  // Data N(0, I): x₀ given x is N(m x/(m² + σ²), σ²/(m² + σ²)), so a·x₀ with noise s is seen from x
  // with a variance in closed form.
  const [a, seenAs, s2] = [[1.5, -0.7], 0.8, 0.04];
  const wide = subVp(); // m² + σ² is not 1, as it is for VP
  const { meanFactor: m, std } = wide.transition;
  const total = (t: Tensor): Tensor => add(square(m(t)), square(std(t)));
  const normal = reverse(wide, (x, t) => mul(div(x, expandDims(total(t), -1)), -1));
  const along = (x: Tensor): Tensor => sum(mul(x, a), -1);
  const seenAlong = (y: Tensor): Tensor => mul(square(sub(along(y), seenAs)), -0.5 / s2);
  const exact = (x: Tensor, t: Tensor): Tensor => {
    const widened = add(div(mul(square(std(t)), a[0] ** 2 + a[1] ** 2), total(t)), s2);
    const residual = sub(div(mul(along(x), m(t)), total(t)), seenAs);
    return sub(div(mul(square(residual), -0.5), widened), mul(log(div(widened, s2)), 0.5));
  };

  const x = [[0.4, -1], [1.2, 0.3], [-2, 2.5], [0, 0.1]]; // biome-ignore format: points
  /** Two fields, at times of all kinds. */
  const same = async (
    pairs: (x: Tensor, t: Tensor) => readonly (readonly [Tensor, Tensor])[],
  ): Promise<void> => {
    const errors = compile(
      (points: Tensor, t: Tensor) => pairs(points, t).map(([one, two]) => sub(one, two)),
      [[null, 2], [null]],
      { type: "float64", threads: 1 },
    );
    for (const error of (await errors(x, [0.02, 0.2, 0.5, 0.98])) as readonly NdArray[])
      for (const e of error.data) expect(Math.abs(Number(e))).toBeLessThan(1e-9);
  };
  const uphill = (x: Tensor, t: Tensor): Tensor => gradEach((z: Tensor) => exact(z, t))(x);

  it("is exact for a number that is linear in Gaussian data, and so is its gradient, with the score's derivative or without", () =>
    same((x, t) => {
      const { twist: own } = condition(normal, seenAlong);
      const { twist: simple } = condition(normal, seenAlong, { gradient: "simple", strength: 1.7 });
      return [
        [own.log(x, t), exact(x, t)],
        [own.delta(x, t), uphill(x, t)],
        [simple.log(x, t), exact(x, t)],
        [simple.delta(x, t), mul(uphill(x, t), 1.7)],
      ];
    }));

  it("without the variance of x₀ is the likelihood at its mean", () =>
    same((x, t) => {
      const { twist: sure } = condition(normal, seenAlong, { spread: false });
      const ofMean = (z: Tensor): Tensor =>
        seenAlong(div(mul(z, expandDims(m(t), -1)), expandDims(total(t), -1)));
      return [
        [sure.log(x, t), ofMean(x)],
        [sure.delta(x, t), gradEach(ofMean)(x)],
      ];
    }));

  it("of an energy is −strength · E at the current point; and of two the sum", () =>
    same((x, t) => {
      const energy = (y: Tensor, s: Tensor): Tensor => mul(log(at(y, 0, -1)), add(s, 1));
      const guided = guide(reversePush(sde, expMap(), score), energy, 2);
      const { twist: both } = guide(guided, energy);
      const inX = (z: Tensor): Tensor => mul(at(z, 0, -1), add(t, 1));
      return [
        [guided.twist.log(x, t), mul(inX(x), -2)],
        [guided.twist.delta(x, t), mul(gradEach(inX)(x), -2)],
        [both.log(x, t), mul(inX(x), -3)],
        [both.delta(x, t), mul(gradEach(inX)(x), -3)],
      ];
    }));
});

describe("conditions", () => {
  const process = reversePush(sde, expMap(), score);

  it("weight an energy as a likelihood of the end point", async () => {
    const wideSeen = (y: Tensor): Tensor => normalLog(log(at(y, 0, -1)), -0.6, 4);
    const energy = (y: Tensor): Tensor => mul(wideSeen(y), -1);
    const [guided, conditioned] = await Promise.all(
      [guide(process, energy), condition(process, wideSeen)].map((p) =>
        particles(p, { ...few, particles: 5000, key: key(2) }),
      ),
    );
    // Both are −0.040. An energy held fixed in t guides badly: its weights have a deviation of 0.3,
    // and this is three standard errors.
    expect(Math.abs(guided.logEvidence - conditioned.logEvidence)).toBeLessThan(0.013);
  });

  it("of two observations give the same as one of both", async () => {
    const other = (y: Tensor): Tensor => normalLog(log(at(y, 1, -1)), -0.4, 0.7);
    const both = condition(process, (y) => add(seen(y), other(y)));
    const [a, b] = await Promise.all(
      [both, condition(condition(process, seen), other)].map((p) =>
        particles(p, { ...few, particles: 500, key: key(4) }),
      ),
    );
    expect(Math.abs(a.logEvidence - b.logEvidence)).toBeLessThan(1e-3);
  });

  it("of an external score need no derivative, or use differences", async () => {
    const host = compile(score, [[null, 2], [null]], { type: "float64", threads: 1 });
    const f = async (x: NdArray, t: NdArray): Promise<NdArray> => host(x, t);
    const of = (s: MarginalScore, gradient: "exact" | "simple") =>
      particles(condition(reversePush(sde, expMap(), s), seen, { gradient }), {
        ...few,
        particles: 50,
        key: key(4),
      });
    const same = async (
      a: MarginalScore,
      b: MarginalScore,
      gradient: "exact" | "simple",
      error: number,
    ) =>
      expect(
        Math.abs((await of(a, gradient)).logEvidence - (await of(b, gradient)).logEvidence),
      ).toBeLessThan(error);
    await same(external(f), score, "simple", 1e-12);
    await same(external(f, { differences: 0.003, sde }), score, "exact", 1e-4);
    await expect(of(external(f), "exact")).rejects.toThrow(/derivative is needed/);
  });
});

describe("particles", () => {
  const process = reversePush(sde, expMap(), score);
  const posterior = condition(process, seen);

  it("depend on the key and their index only, not on the batch size", async () => {
    const run = (batch: number) =>
      particles(posterior, { ...few, particles: 30, batch, key: key(8) });
    const [a, b] = [await run(30), await run(7)];
    expect(a.resampled).toEqual(b.resampled);
    a.samples.data.forEach((v, i) => {
      expect(Math.abs(v - b.samples.data[i])).toBeLessThan(1e-12);
    });
  });

  it("are resampled by weight below the effective sample size, and then weigh the same", () => {
    const weights = [0.5, 0, 0.05, 0.25, 0.2];
    const logs = (values: readonly number[], by = 1): NdArray => ({
      shape: [values.length],
      dtype: "float64",
      data: Float64Array.from(values, (v) => Math.log(by * v)),
    });
    // (Σw)²/Σw² = 1/0.355, which is 0.563 of five.
    expect(new Cloud(5, 0.56, key(1)).drawAnew(0)).toBeUndefined();
    const [patient, cloud] = [new Cloud(5, 0.56, key(1)), new Cloud(5, 0.57, key(1))];
    for (const each of [patient, cloud]) each.gain(logs(weights, 3), 1, "here");
    expect(patient.drawAnew(0)).toBeUndefined();
    expect(patient.essBySteps[0]).toBeCloseTo(1 / 0.355, 12);
    const parents = cloud.drawAnew(0) as Uint32Array;
    const points: Samples = {
      shape: [5, 1],
      dtype: "float64",
      data: Float64Array.from([10, 11, 12, 13, 14]),
    };
    const often = (of: ArrayLike<number>, i: number): number =>
      Array.from(of).filter((v) => v === i).length;
    weights.forEach((w, i) => {
      expect(Math.abs(often(parents, i) - 5 * w)).toBeLessThan(1);
    });
    cloud.gain(logs([1, 1, 2, 1, 1]), 1, "there");
    const end = cloud.end(points);
    expect(end.resampled).toEqual([0]);
    expect(end.ancestors).toBe(new Set(parents).size);
    end.weights.forEach((w, i) => {
      expect(w).toBeCloseTo(i === 2 ? 2 / 6 : 1 / 6, 14);
      expect(Math.abs(often(end.samples.data as Float64Array, 10 + i) - 5 * w)).toBeLessThan(1);
    });
    // The mean of 3w, times the mean of what came after.
    expect(end.logEvidence).toBeCloseTo(Math.log((3 / 5) * (6 / 5)), 14);
  });

  it("are resampled in proportion to their weights, rounded up or down", () => {
    const weights = Float64Array.of(0.5, 0, 0.05, 0.25, 0.2);
    for (const u of [1e-9, 0.3, 0.77, 1 - 1e-9]) {
      const counts = [0, 0, 0, 0, 0];
      for (const i of systematic(weights, u)) counts[i]++;
      counts.forEach((c, i) => {
        expect(Math.abs(c - 5 * weights[i])).toBeLessThan(1);
      });
    }
  });

  it("survive an impossible x̂₀, and report when all are impossible", async () => {
    const above = (y: Tensor): Tensor =>
      where(greater(at(y, 0, -1), 1.2), 0, Number.NEGATIVE_INFINITY);
    const { samples, logEvidence } = await particles(condition(process, above), {
      ...few,
      particles: 4000,
      key: key(9),
    });
    for (let i = 0; i < samples.data.length; i += 2) expect(samples.data[i]).toBeGreaterThan(1.2);
    const { samples: plain } = await sample(process, { ...few, count: 5000, key: key(10) });
    const share = plain.data.filter((v, i) => i % 2 === 0 && v > 1.2).length / 5000;
    expect(Math.abs(Math.exp(logEvidence) / share - 1)).toBeLessThan(0.1);
    const never = (y: Tensor): Tensor =>
      where(greater(at(y, 0, -1), -1), Number.NEGATIVE_INFINITY, 0);
    await expect(
      particles(condition(process, never), { ...few, particles: 5, key: key(1) }),
    ).rejects.toThrow(/impossible for every particle/);
  });

  it("refuse what they cannot run", async () => {
    const run = (p: unknown, options = {}) =>
      particles(p as never, { ...few, particles: 5, key: key(1), ...options });
    await expect(run(process)).rejects.toThrow(/has no observation or guidance/);
    await expect(run(scaleDrift(posterior, 1.1))).rejects.toThrow(
      /changed after it was conditioned. Change the process first/,
    );
    await expect(run(posterior, { particles: 0 })).rejects.toThrow(/`particles` is 0/);
    await expect(run(posterior, { threshold: 2 })).rejects.toThrow(/`threshold` is 2/);
    await expect(run(condition(process, (y) => y))).rejects.toThrow(
      /likelihood of a batch \[5\] has shape \[5, 2\]/,
    );
    const mixing = [
      (y: Tensor) => add(at(y, 0, -1), sum(y)),
      (y: Tensor) => sub(at(y, 0, -1), slice(at(y, 0, -1), [0, 1])),
      (y: Tensor) => sub(at(y, 0, -1), at(at(y, 0, -1), y.shape[0] - 1, 0)),
      // Both ends of the batch know of each other alone.
      (y: Tensor) =>
        mul(
          at(y, 0, -1),
          stack(Array.from({ length: y.shape[0] }, (_, i) => at(at(y, 1, -1), -1 - i, 0))),
        ),
    ];
    for (const mixed of mixing) {
      await expect(run(condition(process, mixed))).rejects.toThrow(
        /likelihood mixes events.*sum\(x, -1\)/,
      );
      await expect(run(guide(process, mixed))).rejects.toThrow(/energy mixes events.*sum\(x, -1\)/);
      await expect(
        sample(guide(process, mixed), { ...few, count: 5, key: key(1) }),
      ).rejects.toThrow(/energy mixes/);
    }
    // What an event is held to may be its own.
    const own = constant([[0.1], [0.2], [0.3], [0.4], [0.5]], "float64");
    await run(condition(process, (y) => mul(sum(square(sub(y, own)), -1), -0.5)));
    const broken = condition(process, (y) => log(sub(at(y, 0, -1), 100)));
    await expect(run(broken)).rejects.toThrow(/log-likelihood of particle 0 is NaN/);
    expect(() => condition(process, 3 as never)).toThrow(/not a function/);
    expect(() => condition({ ...process, transition: undefined } as never, seen)).toThrow(
      /no Gaussian transition/,
    );
    await run(condition(scaleDrift(process, 1.1), seen));
  });
});
