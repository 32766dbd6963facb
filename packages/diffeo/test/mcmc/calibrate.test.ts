import { describe, expect, it } from "vitest";
import { halfNormal, normal } from "../../src/distribution/index.ts";
import { mul, sub } from "../../src/graph/index.ts";
import { chiSquared20 } from "../../src/mcmc/calibrate.ts";
import { calibrate, model } from "../../src/mcmc/index.ts";
import { key } from "../../src/random/index.ts";

describe("calibrate", () => {
  const settings = { key: key(1), datasets: 64, thin: 1, warmup: 100, device: "wasm" } as const;

  it("finds uniform ranks for a correct model, centred or not", async () => {
    const right = model(({ parameter, observe }, { x }) => {
      const mu = parameter("mu", normal(0, 1));
      const tau = parameter("tau", halfNormal(1));
      const theta = parameter("theta", normal(mu, tau), { shape: 2, centred: false });
      observe("y", normal(sub(theta, mul(x, mu)), 0.5));
    });
    const { ranks, datasets } = await calibrate(right, { ...settings, data: { x: [0.5, -1] } });
    expect(datasets).toBe(64);
    expect(Object.keys(ranks)).toEqual(["mu", "tau", "theta[1]", "theta[2]"]);
    for (const { counts, p } of Object.values(ranks)) {
      expect(counts.reduce((a, b) => a + b)).toBe(64);
      expect(p).toBeGreaterThan(1e-3);
    }
  });

  it("simulates observations that have a value in the model", async () => {
    const own = model(({ parameter, observe }, { y }) => {
      const mu = parameter("mu", normal(0, 1));
      observe("likelihood", normal(mu, 0.5), mul(y, 1));
    });
    const { ranks } = await calibrate(own, { ...settings, data: { y: [3, 3, 3] } });
    expect(ranks.mu.p).toBeGreaterThan(1e-3);
  });

  it("detects a likelihood that is too narrow", async () => {
    // Data are simulated with an sd of 1 and seen with one of 0.2: posteriors are too narrow.
    const wrong = model(({ parameter, observe }, data) => {
      const mu = parameter("mu", normal(0, 1));
      observe("y", normal(mu, "y" in data ? 0.2 : 1));
    });
    const { ranks } = await calibrate(wrong, settings);
    expect(ranks.mu.p).toBeLessThan(1e-6);
  });

  it("has the tail of χ² with 20 degrees of freedom", () => {
    // SciPy: chi2(20).sf([10, 31.410432844230918, 60])
    [0.9681719426937951, 0.04999999999999999, 7.121750862815593e-6].forEach((p, i) => {
      const found = chiSquared20([10, 31.410432844230918, 60][i]);
      expect(Math.abs(found / p - 1)).toBeLessThan(1e-13);
    });
  });
});
