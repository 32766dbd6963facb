/** Reflected Brownian motion: its transition, its faces, and its reversal. */
import { describe, expect, it } from "vitest";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  constant,
  gradEach,
  mul,
  type NdArray,
  ndarray,
  reference,
  reshape,
  softmax,
  stack,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { fold as foldKey, key, normal, uniform } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { type MarginalScore, reflected, reverse } from "../../src/sde/index.ts";
import { energyDistance } from "../../src/two-sample/index.ts";

const box = { low: -1, high: 2 };
const { sde, fold, std, logTransition, transitionScore, extend } = reflected(box);
const numbers = (t: Tensor): number[] => Array.from(reference([t], new Map())[0] as Float64Array);
const f64 = (values: number[] | number[][]): Tensor => constant(values, "float64");
const time = (t: number): Tensor => constant(t as never, "float64");

/** The midpoints of a grid on the box. */
const GRID = 3000;
const midpoints = Array.from({ length: GRID }, (_, i) => -1 + (3 * (i + 0.5)) / GRID);
const densityFrom = (x0: number, t: number): number[] =>
  numbers(logTransition(f64(midpoints.map((x) => [x])), f64([[x0]]), time(t))).map(Math.exp);

describe("reflected Brownian motion", () => {
  it("folds Rⁿ on the box by reflections", () => {
    const folded = numbers(fold(f64([-1, 0.5, 2, 2.5, -1.25, 5, -4, 8.5])));
    [-1, 0.5, 2, 1.5, -0.75, -1, 2, 1.5].forEach((expected, i) => {
      expect(folded[i]).toBeCloseTo(expected, 14);
    });
  });

  it.each([
    [0.3, 0.2],
    [-0.99, 0.6],
    [1.7, 0.9],
    [2, 1],
  ])("has a density from x₀ = %f at t = %f that has the mass 1", (x0, t) => {
    const total = densityFrom(x0, t).reduce((a, b) => a + b, 0) * (3 / GRID);
    expect(total).toBeCloseTo(1, 6);
  });

  it("has the transition of folded Gaussian samples", () => {
    const [x0, t, count] = [1.6, 0.85, 40_000];
    const density = densityFrom(x0, t);
    const [sigma] = numbers(std(time(t)));
    const noise = normal(key(3), [count], { dtype: "float64" }).data;
    const folded = numbers(fold(f64(Array.from(noise, (z) => x0 + sigma * z))));
    for (const f of [(x: number) => x, (x: number) => x * x, (x: number) => Math.cos(4 * x)]) {
      const expected = density.reduce((s, p, i) => s + p * f(midpoints[i]), 0) * (3 / GRID);
      const seen = folded.reduce((s, x) => s + f(x), 0) / count;
      expect(Math.abs(seen - expected)).toBeLessThan(4 * (1.2 / Math.sqrt(count)));
    }
  });

  it("has a score that is the gradient of its log-density, and vanishes normally at the faces", () => {
    const x = f64([
      [-0.9, 1.2],
      [0.4, 1.99],
    ]);
    const x0 = f64([
      [-0.7, 0.1],
      [1.8, -0.3],
    ]);
    const t = constant([0.35, 0.8], "float64");
    const byHand = numbers(transitionScore(x, x0, t));
    const byAutodiff = numbers(gradEach((z: Tensor) => logTransition(z, x0, t))(x));
    byHand.forEach((s, i) => {
      expect(s).toBeCloseTo(byAutodiff[i], 9);
    });
    const faces = transitionScore(f64([[-1], [2]]), f64([[-0.8], [1.5]]), time(0.7));
    for (const s of numbers(faces)) expect(Math.abs(s)).toBeLessThan(1e-9);
  });

  it("is uniform at T", () => {
    for (const p of densityFrom(-1, 1)) expect(3 * p).toBeCloseTo(1, 4);
  });

  it("reverses to its initial distribution, also near the faces", async () => {
    const atoms = [
      [-0.97, 1.9],
      [0.2, -0.9],
      [1.95, 0.4],
    ];
    const count = 1500;
    // Σ p(x|aₖ) ∇log p(x|aₖ)/Σ p(x|aₖ): the score of three equal atoms.
    const score: MarginalScore = (x, t) => {
      const each = atoms.map((a) => constant(a, x.dtype));
      const weights = softmax(
        stack(
          each.map((a) => logTransition(x, add(mul(x, 0), a), t)),
          -1,
        ),
        -1,
      );
      const scores = stack(
        each.map((a) => transitionScore(x, add(mul(x, 0), a), t)),
        -1,
      );
      return sum(mul(scores, reshape(weights, [x.shape[0], 1, 3])), -1);
    };
    const engine = { device: "wasm", type: "float64" } as const;
    const tEnd = 0.6;
    const { samples } = await sample(reverse(sde, extend(score)), {
      shape: [2],
      count,
      key: key(5),
      steps: 100,
      tEnd,
      ...engine,
    });
    const folded = compile(fold, [[count, 2]], engine);
    const [sigma] = numbers(std(time(tEnd)));
    const noise = normal(key(6), [count, 2], { dtype: "float64" }).data;
    const which = uniform(foldKey(key(6), 1), [count]).data;
    const exact: NdArray = await folded(
      ndarray(
        Array.from({ length: count }, (_, i) => {
          const a = atoms[Math.floor(3 * which[i])];
          return [a[0] + sigma * noise[2 * i], a[1] + sigma * noise[2 * i + 1]];
        }),
        "float64",
      ),
    );
    const { excess } = energyDistance(await folded(samples), exact, { key: key(7) });
    expect(Math.abs(excess)).toBeLessThan(4);
    await folded.dispose();
  });

  it("rejects an empty box, and noise that does not grow", () => {
    expect(() => reflected({ low: 1, high: 1 })).toThrow(/low < high/);
    expect(() => reflected({ sigmaMax: 3 })).toThrow(/sigmaMax ≤ 2/);
  });
});
