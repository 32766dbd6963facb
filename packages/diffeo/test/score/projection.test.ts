import { describe, expect, it } from "vitest";
import { gaussian, mixture, sampleFrom } from "../../src/distribution/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  at,
  dot,
  exp,
  mul,
  ndarray,
  squaredNorm,
  type Tensor,
  toFloat64,
} from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import {
  estimateProjectedScore,
  projectedScore,
  projectionIntegrand,
} from "../../src/score/index.ts";
import { distance, run } from "../bijector/support.ts";

/** ∫ f over [a, b] by Simpson's rule. */
function simpson(f: (t: number) => number, a: number, b: number, cells = 2000): number {
  const h = (b - a) / cells;
  let total = f(a) + f(b);
  for (let i = 1; i < cells; i++) total += (i % 2 === 0 ? 2 : 4) * f(a + i * h);
  return (total * h) / 3;
}
const slopeOfLog = (q: (y: number) => number, y: number, h = 1e-4): number =>
  (Math.log(q(y + h)) - Math.log(q(y - h))) / (2 * h);
const gauss = (x: number, mean: number, variance: number): number =>
  Math.exp((-0.5 * (x - mean) ** 2) / variance) / Math.sqrt(2 * Math.PI * variance);

describe("with given conditionals", () => {
  it("gives the score of a linear projection of a Gaussian at every point of a level", async () => {
    // Y = a·X, X ~ N(μ, S): X_{−i} | y is Gaussian with mean m(y) linear in y, so ∂ᵧ log p(x_{−i} |
    // y) is
    // (x_{−i} − m(y))·Σ_c⁻¹ ∂m. Two dimensions: X_{−i} is one number.
    const [a, mean, s] = [
      [1.5, -0.7],
      [0.4, 1.1],
      [
        [1.2, 0.4],
        [0.4, 0.9],
      ],
    ];
    const variance = a[0] ** 2 * s[0][0] + 2 * a[0] * a[1] * s[0][1] + a[1] ** 2 * s[1][1];
    const centre = a[0] * mean[0] + a[1] * mean[1];
    const conditional = (x: readonly number[]): number[] =>
      [0, 1].map((i) => {
        const j = 1 - i;
        const covariance = s[j][0] * a[0] + s[j][1] * a[1];
        const rate = covariance / variance;
        const y = a[0] * x[0] + a[1] * x[1];
        const left = s[j][j] - covariance * rate;
        return ((x[j] - mean[j] - rate * (y - centre)) / left) * rate;
      });
    const distribution = gaussian({ mean, covariance: s });
    const points = [
      [0.3, 0.2],
      [-1, 2],
      [2, -1.5],
    ];
    const got = await run(
      (x, c) => projectedScore((z) => dot(z, a), x, distribution.score(x), c),
      points,
      points.map(conditional),
    );
    const exact = points.map((x) => -(a[0] * x[0] + a[1] * x[1] - centre) / variance);
    expect(distance(got, exact)).toBeLessThan(1e-12);
  });

  it("gives the score of e^{x₁} + x₂ against quadrature", async () => {
    // Monotone in each coordinate: one branch. X has independent normal coordinates.
    const q = (y: number): number =>
      simpson((x1) => gauss(x1, 0, 1) * gauss(y - Math.exp(x1), 0, 1), -9, 4);
    const joint = [
      // p(x₂ | y) = p(x₂) p(log(y − x₂))/((y − x₂) q(y)), p(x₁ | y) = p(x₁)p(y − e^{x₁})/q(y)
      (x: readonly number[], y: number): number => {
        const x1 = Math.log(y - x[1]);
        return (gauss(x[1], 0, 1) * gauss(x1, 0, 1)) / (y - x[1]) / q(y);
      },
      (x: readonly number[], y: number): number =>
        (gauss(x[0], 0, 1) * gauss(y - Math.exp(x[0]), 0, 1)) / q(y),
    ];
    const points = [
      [0.3, -0.4],
      [-0.5, 1.2],
      [1, 0.1],
    ];
    const level = (x: readonly number[]): number => Math.exp(x[0]) + x[1];
    const conditionals = points.map((x) => joint.map((p) => slopeOfLog((y) => p(x, y), level(x))));
    const distribution = gaussian({ mean: [0, 0] });
    const v = (z: Tensor): Tensor => add(exp(at(z, 0, -1)), at(z, 1, -1));
    const got = await run(
      (x, c) => projectedScore(v, x, distribution.score(x), c),
      points,
      conditionals,
    );
    expect(
      distance(
        got,
        points.map((x) => slopeOfLog(q, level(x))),
      ),
    ).toBeLessThan(1e-5);
  });

  it("holds on each branch only: for x² of a shifted Gaussian the two roots differ, and their mean is right", async () => {
    const mean = 0.8;
    const distribution = gaussian({ mean: [mean] });
    const y = 1.7;
    const roots = [Math.sqrt(y), -Math.sqrt(y)];
    const branch = await run(
      (x) => projectedScore((z) => squaredNorm(z), x, distribution.score(x), mul(x, 0)),
      roots.map((r) => [r]),
    );
    expect(Math.abs(branch[0] - branch[1])).toBeGreaterThan(0.5);
    const weights = roots.map((r) => gauss(r, mean, 1));
    const exact = slopeOfLog(
      (z) => (gauss(Math.sqrt(z), mean, 1) + gauss(-Math.sqrt(z), mean, 1)) / (2 * Math.sqrt(z)),
      y,
    );
    const average = (values: readonly number[]): number =>
      (weights[0] * values[0] + weights[1] * values[1]) / (weights[0] + weights[1]);
    const integrand = await run(
      (x) => projectionIntegrand((z) => squaredNorm(z), x, distribution.score(x)),
      roots.map((r) => [r]),
    );
    expect(average(integrand)).toBeCloseTo(exact, 7);
    expect(Math.abs(branch[0] - exact) / Math.abs(exact)).toBeGreaterThan(0.05);
  });
});

describe("as a conditional mean", () => {
  const distribution = mixture([
    {
      weight: 0.4,
      distribution: gaussian({
        mean: [1.2, 0.3],
        covariance: [
          [0.7, 0.2],
          [0.2, 0.4],
        ],
      }),
    },
    { weight: 0.6, distribution: gaussian({ mean: [-0.9, -0.6], covariance: 0.5 }) },
  ]);
  const density = (x: number, y: number): number => {
    const determinant = 0.7 * 0.4 - 0.04;
    const [dx, dy] = [x - 1.2, y - 0.3];
    const form = (0.4 * dx * dx - 0.4 * dx * dy + 0.7 * dy * dy) / determinant;
    return (
      (0.4 * Math.exp(-0.5 * form)) / (2 * Math.PI * Math.sqrt(determinant)) +
      0.6 * gauss(x, -0.9, 0.5) * gauss(y, -0.6, 0.5)
    );
  };
  /** v = ½‖x‖² + b·x: its levels are circles, on which the mean is a one-dimensional quadrature. */
  const b = [0.5, -0.3];
  const v = (x: Tensor): Tensor => add(mul(squaredNorm(x), 0.5), dot(x, b));
  const circle = (y: number, a: number): [number, number] => {
    const r = Math.sqrt(2 * y + b[0] ** 2 + b[1] ** 2);
    return [r * Math.cos(a) - b[0], r * Math.sin(a) - b[1]];
  };
  // Co-area: q(y) = ∫ p/‖∇v‖ over the circle of radius ‖∇v‖ = r, that is ∫ p(circle) da.
  const q = (y: number): number => simpson((a) => density(...circle(y, a)), 0, 2 * Math.PI, 400);
  const values = [0.4, 0.8, 1.5, 2.5];

  it("is exact on the levels of a quadratic", async () => {
    for (const y of values) {
      const angles = Array.from({ length: 400 }, (_, i) => (2 * Math.PI * i) / 400);
      const points = angles.map((a) => circle(y, a));
      const integrand = await run((x) => projectionIntegrand(v, x, distribution.score(x)), points);
      const weights = points.map(([s, t]) => density(s, t));
      const mean =
        integrand.reduce((s, h, i) => s + h * weights[i], 0) / weights.reduce((s, w) => s + w, 0);
      expect(Math.abs(mean - slopeOfLog(q, y))).toBeLessThan(1e-6);
    }
  });

  it("is estimated from samples within the Monte-Carlo error it states", async () => {
    const samples = sampleFrom(distribution, key("projection"), 60000, "float64");
    const estimate = await evaluate(
      (x: Tensor, y: Tensor) => {
        const { score, standardError } = estimateProjectedScore(
          v,
          x,
          distribution.score(x),
          y,
          0.05,
        );
        return [score, standardError];
      },
      samples,
      values,
    );
    const [score, error] = estimate.map(({ data }) => [...toFloat64(data)]);
    values.forEach((y, i) => {
      expect(Math.abs(score[i] - slopeOfLog(q, y))).toBeLessThan(4 * error[i] + 0.01);
      expect(error[i]).toBeLessThan(0.06);
    });
  });

  it("has a default bandwidth, and an error that shrinks as 1/√N at a fixed one", async () => {
    const at1 = async (count: number, bandwidth?: number): Promise<number[]> => {
      const result = await evaluate(
        (x: Tensor, y: Tensor) => {
          const { score, standardError } = estimateProjectedScore(
            v,
            x,
            distribution.score(x),
            y,
            bandwidth,
          );
          return [score, standardError];
        },
        sampleFrom(distribution, key("bandwidth"), count, "float64"),
        [0.8],
      );
      return result.map(({ data }) => Number(data[0]));
    };
    const [score, error] = await at1(20000);
    expect(Math.abs(score - slopeOfLog(q, 0.8))).toBeLessThan(4 * error + 0.05);
    const [[, few], [, many]] = [await at1(2500, 0.1), await at1(40000, 0.1)];
    expect(few / many).toBeGreaterThan(3);
    expect(few / many).toBeLessThan(5.3);
  });

  it("is exact for any samples if the integrand is linear in v, with the weights of a plain sum", async () => {
    // v = x₁ of N(0, 1): the integrand is −x₁ = −v.
    const [points, at1] = [[[-2], [-1.1], [-0.2], [0.3], [0.4], [1.7], [2.2]], [-0.5, 1.3]]; // biome-ignore format: points
    const of = (bandwidth?: number) =>
      evaluate(
        (x: Tensor, y: Tensor) => {
          const { score, standardError } = estimateProjectedScore(
            (z) => at(z, 0, -1),
            x,
            mul(x, -1),
            y,
            bandwidth,
          );
          return [score, standardError];
        },
        ndarray(points, "float64"),
        ndarray(at1, "float64"),
      );
    const values = points.map(([x]) => x);
    const mean = values.reduce((a, b) => a + b) / 7;
    const h = 1.06 * Math.sqrt(values.reduce((s, x) => s + (x - mean) ** 2, 0) / 7) * 7 ** -0.2;
    for (const [score, error] of [await of(), await of(h)])
      at1.forEach((y, i) => {
        expect(score.data[i]).toBeCloseTo(-y, 12);
        const w = values.map((x) => Math.exp(-((x - y) ** 2) / (2 * h * h)));
        const [s0, s1, s2] = [0, 1, 2].map((k) =>
          w.reduce((s, v, j) => s + v * (values[j] - y) ** k, 0),
        );
        const parts = values.map(
          (x, j) => ((w[j] * (s2 - (x - y) * s1)) / (s2 * s0 - s1 ** 2)) * (y - x),
        );
        expect(error.data[i]).toBeCloseTo(Math.hypot(...parts), 12);
      });
  });

  it("rejects samples and values of other shapes", async () => {
    await expect(run((x) => estimateProjectedScore(v, x, x, x).score, [[1, 2]])).rejects.toThrow(
      /samples of shape \[N, n\]/,
    );
  });
});

it("agrees between the two forms for a linear projection, where both are exact", async () => {
  const distribution = gaussian({ mean: [0, 0], covariance: [2, 0.5] });
  // v = x₁: q is N(0, 2); x₂ is independent, so p(x_{−1} | y) does not depend on y. ∂₂v = 0 drops
  // the other term.
  const v = (x: Tensor): Tensor => at(x, 0, -1);
  const points = [
    [0.7, 1],
    [-1.2, 0.3],
  ];
  const given = await run((x) => projectedScore(v, x, distribution.score(x), mul(x, 0)), points);
  const mean = await run((x) => projectionIntegrand(v, x, distribution.score(x)), points);
  expect(distance(given, [-0.35, 0.6])).toBeLessThan(1e-15);
  expect(distance(mean, given)).toBeLessThan(1e-15);
});
