/** Pathfinder: exact on Gaussians, with correct weights on a curved posterior and on two modes. */
import { describe, expect, it } from "vitest";
import { mixture, normal } from "../../src/distribution/index.ts";
import { real } from "../../src/domain/index.ts";
import { addAll, at, mul, square, sub } from "../../src/graph/index.ts";
import { approximate, model, type PosteriorModel, samplePosterior } from "../../src/mcmc/index.ts";
import { key } from "../../src/random/index.ts";

const meanOf = (x: ArrayLike<number>): number =>
  Array.from(x).reduce((a, b) => a + b, 0) / x.length;

describe("pathfinder", () => {
  it("finds Gaussians of any scale and correlation", async () => {
    // Precision ((1, 0.9), (0.9, 1))/0.19 of sds 1 and 100, about (3, -200).
    const gaussian: PosteriorModel = {
      parameters: { x: real(2) },
      logDensity: ({ x }) => {
        const [a, b] = [sub(at(x, 0, -1), 3), mul(sub(at(x, 1, -1), -200), 0.01)];
        const cross = mul(mul(a, b), -1.8);
        return mul(addAll([square(a), square(b), cross]), -0.5 / 0.19);
      },
    };
    const found = await approximate(gaussian, { key: key(1), fit: "pathfinder" });
    expect(found.mean[0]).toBeCloseTo(3, 6);
    expect(found.mean[1]).toBeCloseTo(-200, 4);
    [1, 90, 90, 1e4].forEach((v, i) => {
      expect(found.covariance[i] / v).toBeCloseTo(1, 6);
    });
    // Ratios that are equal to rounding; the prior of k̂ is near ½.
    expect(found.khat).toBeLessThan(0.2);
    // log ∫ = log 2π √det Σ, det Σ = 0.19 · 10⁴.
    expect(found.evidence).toBeCloseTo(Math.log(2 * Math.PI * Math.sqrt(1900)), 6);
  });

  it("weights its draws on a banana", async () => {
    // x ~ N(0, 1), y | x ~ N(x²/4, 0.5): E y = 1/4.
    const banana = model(({ parameter }) => {
      const x = parameter("x", normal(0, 1));
      parameter("y", normal(mul(square(x), 0.25), 0.5));
    });
    const found = await approximate(banana, { key: key(2), fit: "pathfinder", draws: 4000 });
    expect(found.khat).toBeLessThan(0.9);
    expect(meanOf(found.draws.y.data)).toBeGreaterThan(0.19);
    expect(meanOf(found.draws.y.data)).toBeLessThan(0.31);
    expect(meanOf(Array.from(found.draws.x.data, (v) => v * v))).toBeGreaterThan(0.75);
  });

  it("weights two modes by their shares, and starts chains in both", async () => {
    const two = model(({ parameter }) => {
      parameter("x", mixture([0.5, 0.5], normal([-1.5, 1.5], 0.2)));
    });
    const found = await approximate(two, { key: key(3), fit: "pathfinder", paths: 8 });
    const right = meanOf(Array.from(found.draws.x.data, (v) => Number(v > 0)));
    expect(right).toBeGreaterThan(0.1);
    expect(right).toBeLessThan(0.9);
    const { draws } = await samplePosterior(two, {
      key: key(4),
      start: found,
      chains: 8,
      draws: 5,
      warmup: 0,
      stepSize: 0.05,
      device: "wasm",
    });
    expect(draws.x.data.some((v) => v > 0) && draws.x.data.some((v) => v < 0)).toBe(true);
  });

  it("reports if nothing can be found", async () => {
    const none = model(({ parameter, factor }) => {
      const x = parameter("x", real());
      factor("f", mul(x, Number.NaN));
    });
    await expect(approximate(none, { key: key(1), fit: "pathfinder" })).rejects.toThrow();
    const one = model(({ parameter }) => void parameter("x", normal(0, 1)));
    await expect(approximate(one, { key: key(1), fit: "pathfinder", paths: 0 })).rejects.toThrow(
      "`paths` is 0. Give an integer from 1.",
    );
  });
});
