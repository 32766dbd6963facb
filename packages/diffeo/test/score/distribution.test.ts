import { describe, expect, it } from "vitest";
import { logStudentPeak } from "../../src/distribution/gamma.ts";
import {
  banana,
  type Diffusible,
  type Distribution,
  gaussian,
  mixture,
  sampleFrom,
  studentT,
} from "../../src/distribution/index.ts";
import { jacobi } from "../../src/distribution/principal.ts";
import { exp, gradEach, input, mul, sum, type Tensor, toFloat64 } from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import { distance, run } from "../bijector/support.ts";

const covariance = [
  [1.3, 0.5],
  [0.5, 0.7],
];
const bump = gaussian({ mean: [0.5, -1], covariance });
const two: Diffusible = mixture([
  { weight: 1, distribution: bump },
  { weight: 3, distribution: gaussian({ mean: [-1, 1.5], covariance: [0.4, 0.9] }) },
]);
/** With the accuracy of the quadrature below, which heavy tails and narrow ridges lower. */
const distributions: readonly (readonly [Distribution, number])[] = [
  [bump, 1e-12],
  [two, 1e-12],
  [studentT({ degrees: 4.5, mean: [0.3, 0.2], shape: covariance }), 1e-7],
  [studentT({ degrees: 1.5, mean: [0, 0] }), 1e-3],
  [banana({ length: 1.2, bend: 0.4 }), 1e-5],
];
const points = [
  [0.2, 0.4],
  [-1.3, 2],
  [3, -0.5],
  [-4, -6],
];

/**
 * ∫ p over the plane, both axes wrapped to (−1, 1) by x = u/(1 − u²), whose points lie thick at the
 * centre.
 */
async function mass(
  logDensity: (x: Tensor) => Tensor,
  weight: (a: number, b: number) => number = () => 1,
): Promise<number> {
  const cells = 240;
  const nodes = Array.from({ length: cells }, (_, i) => -1 + (2 * (i + 0.5)) / cells);
  const grid: number[][] = [];
  const volumes: number[] = [];
  const stretch = (u: number): number => (1 + u * u) / (1 - u * u) ** 2;
  const wrap = (u: number): number => u / (1 - u * u);
  for (const a of nodes)
    for (const b of nodes) {
      grid.push([wrap(a), wrap(b)]);
      volumes.push(stretch(a) * stretch(b) * (2 / cells) ** 2 * weight(wrap(a), wrap(b)));
    }
  return (await run((x, w) => sum(mul(exp(logDensity(x)), w)), grid, volumes))[0];
}

describe("analytic distributions", () => {
  distributions.forEach(([distribution, accuracy], i) => {
    const name = `${distribution.name} ${i}`;
    it(`${name} has the gradient of its log-density as score`, async () => {
      const score = await run((x) => distribution.score(x), points);
      expect(distance(score, await run(gradEach(distribution.logDensity), points))).toBeLessThan(
        1e-12,
      );
    });

    it(`${name} integrates to 1`, async () => {
      expect(Math.abs((await mass(distribution.logDensity)) - 1)).toBeLessThan(accuracy);
    });

    it(`${name} is sampled as its density says`, async () => {
      const count = 40000;
      const { data } = sampleFrom(distribution, key(`sample ${i}`), count, "float64");
      const rows = toFloat64(data);
      // Three half-planes, each against quadrature; 4.5 standard deviations of a proportion.
      for (const [a, b, c] of [
        [1, 0, 0.3],
        [0.6, -0.8, -0.4],
        [0.5, 1, 1],
      ]) {
        const below = (s: number, t: number): number => (a * s + b * t < c ? 1 : 0);
        const expected = await mass(distribution.logDensity, below);
        let hits = 0;
        for (let r = 0; r < count; r++) hits += below(rows[2 * r], rows[2 * r + 1]);
        const deviation = Math.sqrt((expected * (1 - expected)) / count);
        expect(Math.abs(hits / count - expected)).toBeLessThan(4.5 * deviation + 2e-3);
      }
    });

    it(`${name} draws sample i the same in any batch`, () => {
      const many = sampleFrom(distribution, key(5), 50, "float64").data;
      const few = sampleFrom(distribution, key(5), 7, "float64").data;
      expect([...few]).toEqual([...many.slice(0, 14)]);
    });
  });

  it("have their exact moments", () => {
    const { data } = sampleFrom(bump, key("moments"), 100000, "float64");
    const moment = (f: (s: number, t: number) => number): number => {
      let total = 0;
      for (let r = 0; r < 100000; r++) total += f(Number(data[2 * r]), Number(data[2 * r + 1]));
      return total / 100000;
    };
    expect(Math.abs(moment((s) => s) - 0.5)).toBeLessThan(0.017);
    expect(Math.abs(moment((s, t) => (s - 0.5) * (t + 1)) - 0.5)).toBeLessThan(0.016);
    expect(Math.abs(moment((_, t) => (t + 1) ** 2) - 0.7)).toBeLessThan(0.015);
  });

  it("round to float32 only at the end", () => {
    const wide = sampleFrom(two, key(1), 10, "float64");
    const narrow = sampleFrom(two, key(1), 10);
    expect(narrow.dtype).toBe("float32");
    expect([...toFloat64(narrow.data)]).toEqual([...toFloat64(wide.data)].map(Math.fround));
  });
});

describe("marginals under a Gaussian transition", () => {
  it("are those of the Gaussian, N(mμ, m²S + σ²I)", async () => {
    const [m, sigma] = [0.6, 0.9];
    const direct = gaussian({
      mean: [0.3, -0.6],
      covariance: covariance.map((row, i) =>
        row.map((v, j) => m * m * v + (i === j ? sigma * sigma : 0)),
      ),
    });
    const { logDensity, score } = bump.marginal(m, sigma);
    expect(
      distance(await run(logDensity, points), await run(direct.logDensity, points)),
    ).toBeLessThan(1e-12);
    expect(distance(await run(score, points), await run(direct.score, points))).toBeLessThan(1e-12);
  });

  it("satisfy the convolution p_t(x) = ∫ p(x₀) N(x; m x₀, σ²I) dx₀", async () => {
    const [m, sigma] = [0.7, 0.8];
    const at = [0.4, -0.2];
    const kernel = (a: number, b: number): number =>
      Math.exp(-((at[0] - m * a) ** 2 + (at[1] - m * b) ** 2) / (2 * sigma * sigma)) /
      (2 * Math.PI * sigma * sigma);
    const exact = Math.log(await mass(two.logDensity, kernel));
    const [got] = await run(two.marginal(m, sigma).logDensity, at);
    expect(Math.abs(got - exact)).toBeLessThan(1e-6);
  });

  it("take m and σ as tensors, one time for each of the batch", async () => {
    const [m, sigma] = [
      [0.9, 0.5, 0.3, 0.1],
      [0.2, 0.6, 0.8, 1],
    ];
    const together = await run((x, a, s) => two.marginal(a, s).score(x), points, m, sigma);
    const alone = await Promise.all(
      points.map((p, i) => run(two.marginal(m[i], sigma[i]).score, p)),
    );
    expect(distance(together, alone.flat())).toBeLessThan(1e-13);
    const gradient = await run(
      (x, a, s) => gradEach(two.marginal(a, s).logDensity)(x),
      points,
      m,
      sigma,
    );
    expect(distance(together, gradient)).toBeLessThan(1e-12);
  });

  it("start with the distribution, and end independent of it", async () => {
    expect(
      distance(await run(two.marginal(1, 0).score, points), await run(two.score, points)),
    ).toBeLessThan(1e-13);
    expect(
      distance(
        await run(two.marginal(0, 1).score, points),
        points.flat().map((v) => -v),
      ),
    ).toBeLessThan(1e-13);
  });
});

describe("numbers beneath", () => {
  it("Student's t has its exact height for integer degrees: p(0)² = A/B · πᵉ, with integers A and B", () => {
    /** Γ(k/2) = top/bottom · √πᵉ */
    const gamma = (k: number): { top: bigint; bottom: bigint; e: number } => {
      let [top, bottom, a] = [1n, 1n, k];
      for (; a > 2; a -= 2) [top, bottom] = [top * BigInt(a - 2), bottom * 2n];
      return { top, bottom, e: a === 1 ? 1 : 0 };
    };
    for (let degrees = 1; degrees <= 60; degrees++)
      for (let n = 1; n <= 12; n++) {
        const [over, under] = [gamma(degrees + n), gamma(degrees)];
        const top = (over.top * under.bottom) ** 2n;
        const bottom = (over.bottom * under.top) ** 2n * BigInt(degrees) ** BigInt(n);
        const ratio = Number((top << 200n) / bottom) / 2 ** 200;
        const exact = (Math.log(ratio) + (over.e - under.e - n) * Math.log(Math.PI)) / 2;
        // A few units in the last place: of the number, and of the terms above.
        expect(Math.abs(logStudentPeak(degrees, n) - exact)).toBeLessThan(
          3.5e-16 * Math.max(2, n + Math.abs(exact)),
        );
      }
  });

  it("and for other degrees agrees with 50 digits", () => {
    for (const [degrees, n, exact] of [
      [0.001, 1, -4.147717556298335],
      [0.3, 3, -1.8441801266725821],
      [4.5, 7, -5.02898116745997],
      [47.25, 1, -0.9242291437202247],
      [1000, 41, -37.281955816517595],
      [1e8, 5, -4.594692628523364],
      [1e15, 3, -2.7568155996140176],
      [2.5, 1000, 1582.472385803221],
    ])
      expect(Math.abs(logStudentPeak(degrees, n) / exact - 1)).toBeLessThan(5e-16);
  });

  it("Jacobi's rotations diagonalise", () => {
    const s = [
      [4, 1, -2],
      [1, 2, 0.5],
      [-2, 0.5, 3],
    ];
    const { values, vectors } = jacobi(s);
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const back = values.reduce((t, v, k) => t + v * vectors[i][k] * vectors[j][k], 0);
        expect(back).toBeCloseTo(s[i][j], 13);
        expect(vectors.reduce((t, row) => t + row[i] * row[j], 0)).toBeCloseTo(i === j ? 1 : 0, 13);
      }
  });
});

describe("bad parameters are refused", () => {
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      "a covariance that is not positive definite",
      () =>
        gaussian({
          mean: [0, 0],
          covariance: [
            [1, 2],
            [2, 1],
          ],
        }),
      /eigenvalue -1.*: not positive definite/,
    ],
    [
      "one that is not symmetric",
      () =>
        gaussian({
          mean: [0, 0],
          covariance: [
            [1, 0.2],
            [0, 1],
          ],
        }),
      /is not symmetric/,
    ],
    [
      "one of another size",
      () => gaussian({ mean: [0, 0], covariance: [1, 2, 3] }),
      /3 rows for a mean of 2/,
    ],
    ["a variance of 0", () => gaussian({ mean: [0], covariance: 0 }), /is not positive/],
    ["a mixture of nothing", () => mixture([]), /no components/],
    [
      "a mixture of dimensions",
      () => mixture([{ distribution: bump }, { distribution: gaussian({ mean: [0] }) }]),
      /2 and 1 dimensions/,
    ],
    ["a weight of 0", () => mixture([{ weight: 0, distribution: bump }]), /not all positive/],
    ["no degrees of freedom", () => studentT({ degrees: 0, mean: [0] }), /`degrees` is 0/],
    ["a banana without length", () => banana({ length: 0 }), /length 0/],
  ];
  for (const [what, attempt, message] of cases) it(what, () => expect(attempt).toThrow(message));
});

it("scores keep the type of their input", () => {
  for (const type of ["float32", "float64"] as const)
    for (const [distribution] of distributions)
      expect(distribution.score(input("x", [3, 2], type)).dtype).toBe(type);
});
