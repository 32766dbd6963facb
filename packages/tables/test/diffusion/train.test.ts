import type { NdArray } from "diffeo/graph";
import { normalShare } from "diffeo/host";
import { key, normal } from "diffeo/random";
import { type Checkpoint, memoryStore } from "diffeo/train";
import { describe, expect, it } from "vitest";
import { BATCH, batchOf, LEVELS, ROWS } from "../../src/diffusion/fit/loss.ts";
import { trainScore } from "../../src/diffusion/fit/train.ts";

const points = (rows: number, n: number, seed: number): NdArray => normal(key(seed), [rows, n]);
/** Half of the points are 1, half −1. */
const signs = (rows: number): NdArray => ({
  shape: [rows, 1],
  dtype: "float32",
  data: Float32Array.from({ length: rows }, (_, i) => (i % 2 === 0 ? 1 : -1)),
});
const small = { width: 16, blocks: 1, threads: 1 } as const;

/**
 * The least loss that a network can have on signs: v − v̂ = (x̂₀ − x₀)/σ, and E[x₀ | x] = tanh(m
 * x/σ²), so it is
 * E (1 − tanh² (m x/σ²))/σ² over λ and x = m x₀ + σ ε, here by sums over quantiles of both
 * distributions.
 */
function leastLoss(): number {
  // Φ⁻¹ at (i + ½)/400: where Φ, the running sum of the density, passes it.
  const normals: number[] = [];
  const step = 1e-4;
  for (let [z, area] = [-8, 0]; normals.length < 400; z += step) {
    area += (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * step;
    if (area >= (normals.length + 0.5) / 400) normals.push(z);
  }
  let total = 0;
  for (const a of normals)
    for (const e of normals) {
      const lambda = Math.max(-10, Math.min(10, 1.5 + 3 * a));
      const m2 = 1 / (1 + Math.exp(-lambda));
      const s2 = 1 / (1 + Math.exp(lambda));
      const x = Math.sqrt(m2) + Math.sqrt(s2) * e;
      total += (1 - Math.tanh((Math.sqrt(m2) * x) / s2) ** 2) / s2;
    }
  return total / normals.length ** 2;
}

describe("a batch", () => {
  it("is a function of its key, and has one noise level per quantile", () => {
    const data = points(100, 3, 1);
    const [rows, noise, levels] = batchOf(data, key(7));
    expect(batchOf(data, key(7))).toEqual([rows, noise, levels]);
    expect(batchOf(data, key(8))[0].data).not.toEqual(rows.data);
    expect(rows.shape).toEqual([LEVELS, ROWS, 3]);
    expect(noise.shape).toEqual([LEVELS, ROWS / 2, 3]);
    Array.from(levels.data as Float32Array).forEach((lambda, i) => {
      expect(Math.floor(normalShare((lambda - 1.5) / 3) * LEVELS)).toBe(i);
    });
    const known = new Set(
      Array.from({ length: 100 }, (_, i) => data.data.slice(3 * i, 3 * i + 3).join()),
    );
    for (let i = 0; i < BATCH; i++)
      expect(known).toContain(rows.data.slice(3 * i, 3 * i + 3).join());
  });
});

describe("training", () => {
  it("reaches the minimum loss if it is known", async () => {
    const { validation, best, steps } = await trainScore(signs(1000), signs(1000), {
      ...small,
      width: 32,
      steps: 600,
      rate: 5e-3,
    });
    const least = leastLoss();
    expect(validation).toBeGreaterThan(0.97 * least);
    expect(validation).toBeLessThan(1.05 * least);
    expect(best).toBeGreaterThan(steps / 2);
  });

  it("gives the same numbers for the same seed, interrupted or not", async () => {
    const [seen, held] = [points(200, 2, 1), points(50, 2, 2)];
    // So many steps that they are measured two by two: 21 is between two measurements.
    let measured = 0;
    const onWeights = (): void => void measured++;
    const options = { ...small, steps: 42, seed: 4, patience: 100, onWeights };
    const losses: number[] = [];
    const whole = await trainScore(seen, held, {
      ...options,
      onProgress: ({ loss }) => losses.push(loss),
    });
    expect(measured).toBe(21);
    const store = memoryStore();
    const stop = new AbortController();
    const first = await trainScore(seen, held, {
      ...options,
      store,
      signal: stop.signal,
      onProgress: ({ step }) => {
        if (step === 21) stop.abort();
      },
    });
    expect(first.step).toBe(21);
    const second = await trainScore(seen, held, { ...options, store });
    expect(second.step).toBe(42);
    expect({ ...second, seconds: 0 }).toEqual({ ...whole, seconds: 0 });
    // Nor is it measured where it was interrupted: what is kept would hang on that.
    expect(measured).toBe(2 * 21);

    const soon = new AbortController();
    const others: number[] = [];
    await trainScore(seen, held, {
      ...options,
      seed: 5,
      signal: soon.signal,
      onProgress: ({ loss }) => {
        others.push(loss);
        soon.abort();
      },
    });
    expect(others).toHaveLength(1);
    expect(others[0]).not.toBe(losses[0]);
  });

  it("ends if held-out rows do not improve for a while, and keeps the best weights", async () => {
    // Six points are soon learned by heart, which others do not gain from.
    const result = await trainScore(points(6, 4, 1), points(200, 4, 2), {
      ...small,
      width: 48,
      steps: 2000,
      patience: 3,
    });
    expect(result.step).toBeLessThan(2000);
    expect(result.best).toBe(result.step - 150);
  });

  it("keeps later weights that are not clearly worse than the best", async () => {
    // Of N(0, 1) there is nothing to learn, v̂ = 0 being right: what comes after the best differs
    // from it by chance.
    const measured: number[] = [];
    const { best, validation } = await trainScore(points(300, 1, 1), points(300, 1, 2), {
      ...{ ...small, steps: 40, seed: 3, rate: 1e-2, patience: 100 },
      // One a step, each with what was measured after the step before.
      onProgress: (progress) => measured.push(progress.validation),
    });
    expect(Math.min(...measured.slice(1))).toBe(validation);
    expect(measured.indexOf(validation)).toBeLessThan(20);
    expect(best).toBe(40);
  });

  it("takes as many steps as fit into its time", async () => {
    const began = performance.now();
    const { steps, step } = await trainScore(points(50, 2, 1), points(20, 2, 2), {
      ...small,
      steps: 1e6,
      patience: 100,
      minutes: 0.01,
    });
    expect(step).toBeLessThanOrEqual(steps);
    expect(steps).toBeLessThan(1e5);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it("can be stopped while it measures the time of a step", async () => {
    const signal = AbortSignal.timeout(300);
    const options = { ...small, steps: 1e6, minutes: 1e9, signal };
    await expect(trainScore(points(50, 2, 1), points(20, 2, 2), options)).rejects.toThrow(/abort/);
  });

  it("refuses to continue a different run", async () => {
    const store = memoryStore();
    const foreign: Checkpoint = { step: 3, arrays: {}, metadata: {} };
    await store.save(foreign);
    await expect(trainScore(signs(10), signs(10), { ...small, store })).rejects.toThrow(
      "theta has no entry",
    );
  });
});
