/**
 * The adaptation in the warm-up, compared with plain sums: step sizes, covariances, and momenta of
 * a metric.
 */
import { describe, expect, it } from "vitest";
import type { ChainOptions } from "../../src/mcmc/chain-settings.ts";
import { settingsOf } from "../../src/mcmc/chain-settings.ts";
import type { ChainMethodName } from "../../src/mcmc/index.ts";
import { EuclideanMetric } from "../../src/mcmc/metric.ts";
import { DualAverage } from "../../src/mcmc/step-size.ts";
import { RunningCovariance } from "../../src/mcmc/warmup.ts";

describe("dual averaging", () => {
  it("is log ε = μ − √m/γ · Σ(δ − α)/(m + t₀), averaged with weights m^{−κ}", () => {
    const [target, size] = [0.8, 0.3];
    const average = new DualAverage(target);
    average.restart(size);
    expect(average.size).toBeCloseTo(size, 15);
    expect(average.settled).toBeCloseTo(size, 15);
    let [errors, mean] = [0, 0];
    [0.9, 0.1, 1, 0.75, 0.6].forEach((acceptance, i) => {
      const m = i + 1;
      average.add(acceptance);
      errors += target - acceptance;
      const log = Math.log(10 * size) - (Math.sqrt(m) / 0.05) * (errors / (m + 10));
      mean = m ** -0.75 * log + (1 - m ** -0.75) * mean;
      expect(Math.log(average.size)).toBeCloseTo(log, 12);
      expect(Math.log(average.settled)).toBeCloseTo(mean, 12);
    });
  });
});

it("step sizes are adapted to the optimal acceptance of the method, unless another is set", () => {
  const wanted = { nuts: 0.8, hmc: 0.8, mala: 0.574, ula: 0.95 };
  for (const [method, acceptance] of Object.entries(wanted)) {
    const of = (options: ChainOptions): number =>
      settingsOf({ method: method as ChainMethodName, ...options }).targetAcceptance;
    expect(of({})).toBe(acceptance);
    expect(of({ targetAcceptance: 0.9 })).toBe(0.9);
  }
});

describe("a covariance", () => {
  const points = [[1, 2], [4, -1], [-2, 0.5], [0, 3], [2.5, 1]]; // biome-ignore format: points
  const n = points.length;
  const mean = [0, 1].map((i) => points.reduce((s, x) => s + x[i], 0) / n);
  const plain = (i: number, j: number): number =>
    points.reduce((s, x) => s + (x[i] - mean[i]) * (x[j] - mean[j]), 0) / (n - 1);

  it.each([false, true])("is that of the points, shrunk towards 10⁻³ I (dense: %s)", (dense) => {
    const found = new RunningCovariance(2, dense);
    for (const x of points) found.add(Float64Array.from(x));
    const share = n / (n + 5);
    const drawn = (i: number, j: number): number =>
      share * plain(i, j) + (i === j ? (1 - share) * 1e-3 : 0);
    const wanted = dense
      ? [drawn(0, 0), drawn(0, 1), drawn(1, 0), drawn(1, 1)]
      : [drawn(0, 0), drawn(1, 1)];
    found.estimate().forEach((v, i) => {
      expect(v).toBeCloseTo(wanted[i], 13);
    });
  });
});

describe("momenta", () => {
  it.each([
    [
      "diagonal",
      [4, 0.25],
      [
        [4, 0],
        [0, 0.25],
      ],
    ],
    [
      "dense",
      [2, 0.6, 0.6, 0.5],
      [
        [2, 0.6],
        [0.6, 0.5],
      ],
    ],
    [
      // D = (4, 0.25), u = (0.6, 0.8), λ = 3: D^½u = (1.2, 0.4) and M⁻¹ = D + 2 D^½u uᵀD^½.
      "low-rank",
      [4, 0.25, 0, 1.2, 0.4, 2, 0, 0, 0],
      [
        [4 + 2 * 1.44, 2 * 0.48],
        [2 * 0.48, 0.25 + 2 * 0.16],
      ],
    ],
  ] as const)("of a %s metric are N(0, M), and their velocities M⁻¹p", (kind, inverse, full) => {
    // biome-ignore format: matrices
    const metric = new EuclideanMetric(Float64Array.from(inverse), 2, kind);
    const [a, b] = [[1, 0], [0, 1]].map((z) => metric.momentum(Float64Array.from(z))); // biome-ignore format: units
    for (const { momentum, velocity } of [a, b])
      for (const i of [0, 1])
        expect(full[i][0] * momentum[0] + full[i][1] * momentum[1]).toBeCloseTo(velocity[i], 14);
    // Cov p = Σ p pᵀ over unit z, and M⁻¹M = 1.
    const covariance = [0, 1].map((i) =>
      [0, 1].map((j) => a.momentum[i] * a.momentum[j] + b.momentum[i] * b.momentum[j]),
    );
    for (const i of [0, 1])
      for (const j of [0, 1])
        expect(full[i][0] * covariance[0][j] + full[i][1] * covariance[1][j]).toBeCloseTo(
          i === j ? 1 : 0,
          14,
        );
  });
});
