/**
 * Critically damped Langevin diffusion: its transition, its stationary distribution, and its
 * reversal.
 */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  constant,
  gradEach,
  jvp,
  mul,
  onesLike,
  reference,
  reshape,
  slice,
  softmax,
  stack,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, normal, uniform } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { dampedLangevin, forward, type MarginalScore, reverse } from "../../src/sde/index.ts";
import { energyDistance } from "../../src/two-sample/index.ts";

const mass = 0.36;
const rate = 3;
const { sde, mean, covariance, transitionScore, logTransition } = dampedLangevin({ mass, rate });
const numbers = (t: Tensor): number[] => Array.from(reference([t], new Map())[0] as Float64Array);
const f64 = (values: number | number[] | number[][]): Tensor =>
  constant(values as never, "float64");

describe("critically damped Langevin diffusion", () => {
  it.each([0.01, 0.3, 1])("has a mean that follows its drift, t = %f", (t) => {
    const time = f64([t]);
    const x0 = f64([[1.3, -0.4]]);
    const [at, slope] = jvp((s: Tensor) => mean(x0, s), time, onesLike(time));
    const drift = numbers(sde.drift(at, time));
    numbers(slope).forEach((v, i) => {
      expect(v).toBeCloseTo(drift[i], 10);
    });
  });

  it.each([0.01, 0.3, 1])("has a covariance that follows dΣ = AΣ + ΣAᵀ + Q, t = %f", (t) => {
    const time = f64(t);
    const friction = 2 * Math.sqrt(mass);
    const all = (s: Tensor): Tensor => {
      const { xx, xv, vv } = covariance(s, 0.3);
      return stack([xx, xv, vv], 0);
    };
    const [at, slope] = jvp(all, time, onesLike(time)).map(numbers);
    const [xx, xv, vv] = at;
    // A = β [0, 1/M; −1, −Γ/M], Q = 2Γβ in velocities.
    const [b, g] = [rate / mass, (rate * friction) / mass];
    const expected = [
      2 * b * xv,
      b * vv - rate * xx - g * xv,
      -2 * rate * xv - 2 * g * vv + 2 * friction * rate,
    ];
    slope.forEach((v, i) => {
      expect(v).toBeCloseTo(expected[i], 9);
    });
  });

  it("starts at its data, with independent velocities", () => {
    const { xx, xv, vv } = covariance(f64(0), 0.3);
    expect(numbers(xx)[0]).toBeCloseTo(0.3, 12);
    expect(numbers(xv)[0]).toBeCloseTo(0, 12);
    expect(numbers(vv)[0]).toBeCloseTo(0.04 * mass, 12);
  });

  it("has a score that is the gradient of its log-density", () => {
    const z = f64([
      [0.2, -1, 0.7, 0.3],
      [1.4, 0.1, -0.6, 0.8],
    ]);
    const x0 = f64([
      [0.5, -0.8],
      [1, 0.4],
    ]);
    const t = f64([0.2, 0.7]);
    const byHand = numbers(transitionScore(z, x0, t));
    const byAutodiff = numbers(gradEach((w: Tensor) => logTransition(w, x0, t))(z));
    byHand.forEach((s, i) => {
      expect(s).toBeCloseTo(byAutodiff[i], 9);
    });
  });

  it("reaches its prior", () => {
    const late = dampedLangevin({ mass, rate: 20 });
    const z = f64([[0.3, -0.2, 0.4, 0.1]]);
    const [far] = numbers(late.logTransition(z, f64([[2, -1]]), f64([1])));
    const [prior] = numbers(late.sde.prior?.logDensity(z) as Tensor);
    expect(far).toBeCloseTo(prior, 8);
  });

  const atoms = [
    [-1.2, 0.6],
    [0.9, 0.9],
    [0.2, -1.3],
  ];
  const variance = 0.05;
  const engine = { device: "wasm", type: "float64" } as const;
  const count = 1500;
  const positions = (z: Tensor): Tensor => slice(z, [0, count], [0, 2]);

  it("reverses to its initial distribution", async () => {
    // Data: three Gaussians of variance 0.05, whose marginals are Gaussian too.
    const score: MarginalScore = (z, t) => {
      const zero = mul(slice(z, [0, z.shape[0]], [0, 2]), 0);
      const centres = atoms.map((a) => add(zero, constant(a, z.dtype)));
      const logits = centres.map((c) => logTransition(z, c, t, variance));
      const scores = centres.map((c) => transitionScore(z, c, t, variance));
      const weights = reshape(softmax(stack(logits, -1), -1), [z.shape[0], 1, 3]);
      return sum(mul(stack(scores, -1), weights), -1);
    };
    const { samples } = await sample(reverse(sde, score), {
      shape: [4],
      count,
      key: key(5),
      steps: 200,
      ...engine,
    });
    const cut = compile(positions, [[count, 4]], engine);
    const noise = normal(key(6), [count, 2], { dtype: "float64" });
    const which = uniform(key(7), [count]).data;
    const exact = noise.data.map(
      (z, i) => atoms[Math.floor(3 * which[i >> 1])][i % 2] + Math.sqrt(variance) * z,
    );
    const own = { ...noise, data: exact };
    const { excess } = energyDistance(await cut(samples), own, { key: key(8) });
    expect(Math.abs(excess)).toBeLessThan(4);
    await cut.dispose();
  });

  it("moves forward to the moments of its transition", async () => {
    const data = new Float64Array(count * 4);
    const noise = normal(key(9), [count, 2], { dtype: "float64" }).data;
    for (let i = 0; i < count; i++) {
      data.set([0.8, -0.5], 4 * i);
      data.set(
        [0, 1].map((k) => Math.sqrt(0.04 * mass) * noise[2 * i + k]),
        4 * i + 2,
      );
    }
    const start = { shape: [count, 4], dtype: "float64", data } as const;
    const options = { start, key: key(10), steps: 200, tEnd: 0.3, ...engine };
    const { samples } = await sample(forward(sde), options);
    const expected = numbers(mean(f64([[0.8, -0.5]]), f64([0.3])));
    const { xx, vv } = covariance(f64(0.3));
    for (const k of [0, 1, 2, 3]) {
      const values = Array.from({ length: count }, (_, i) => samples.data[4 * i + k]);
      const average = values.reduce((a, b) => a + b, 0) / count;
      const [spread] = numbers(k < 2 ? xx : vv);
      expect(Math.abs(average - expected[k])).toBeLessThan(4 * Math.sqrt(spread / count) + 0.01);
      const seen = values.reduce((s, v) => s + (v - average) ** 2, 0) / count;
      expect(Math.abs(seen / spread - 1)).toBeLessThan(0.2);
    }
  });

  it("rejects numbers that are not positive, and events that are not pairs", () => {
    expect(() => dampedLangevin({ mass: 0 })).toThrow(/mass is 0/);
    expect(() => sde.drift(f64([[1, 2, 3]]), f64([0]))).toThrow(/an event has 3 numbers/);
  });
});
