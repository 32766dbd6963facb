/** SDEs whose transition is known: it follows their drift and diffusion, and so does its score. */
import { describe, expect, it } from "vitest";
import { rowSquares } from "../../src/bijector/coefficient.ts";
import { affineMatrix } from "../../src/bijector/index.ts";
import { constant, gradEach, reference, type Tensor } from "../../src/graph/index.ts";
import {
  applyCovariance,
  dampedLangevin,
  type ExactSde,
  exactSdes,
  jacobi,
  push,
  reflected,
  vp,
} from "../../src/sde/index.ts";

const numbers = (t: Tensor): Float64Array => reference([t], new Map())[0] as Float64Array;

/** One point of two coordinates each: inside the domain of the process, and where it began. */
const cases: readonly {
  readonly name: string;
  readonly exact: ExactSde;
  readonly x: readonly [number, number];
  readonly x0: readonly number[];
  readonly t: number;
}[] = [
  { name: "reflected", exact: exactSdes.reflected(), x: [0.93, 0.3], x0: [0.8, 0.6], t: 0.75 },
  {
    name: "reflected, another box",
    exact: reflected({ low: -2, high: 1, sigmaMax: 1 }),
    x: [-1.8, 0.2],
    x0: [-1.9, 0.9],
    t: 0.9,
  },
  { name: "dampedLangevin", exact: exactSdes.dampedLangevin(), x: [0.4, -0.3], x0: [0.7], t: 0.4 },
  {
    name: "dampedLangevin, another mass",
    exact: dampedLangevin({ mass: 1.3, rate: 2, initial: 0.3 }),
    x: [-0.5, 0.2],
    x0: [0.1],
    t: 0.8,
  },
  { name: "jacobi", exact: exactSdes.jacobi(), x: [0.12, 0.6], x0: [0.3, 0.9], t: 0.3 },
  {
    name: "jacobi, other shapes",
    exact: jacobi({ a: [0.7, 3], b: [1.6, 0.5], rate: [1, 0.4] }),
    x: [0.2, 0.95],
    x0: [0.5, 0.7],
    t: 0.5,
  },
];

it("has a case for every row", () => {
  expect(Object.keys(exactSdes).filter((row) => !cases.some(({ name }) => name === row))).toEqual(
    [],
  );
});

describe.each(cases)("the transition of $name", ({ exact, x, x0, t }) => {
  const { sde, logTransition, transitionScore } = exact;
  const density = (z: readonly number[], time = t): number =>
    Math.exp(
      numbers(
        logTransition(
          constant([z], "float64"),
          constant([x0], "float64"),
          constant([time], "float64"),
        ),
      )[0],
    );
  const drift = (z: readonly number[]): Float64Array =>
    numbers(sde.drift(constant([z], "float64"), constant([t], "float64")));
  const squares = (z: readonly number[]): Float64Array => {
    const points = constant([z], "float64");
    return numbers(rowSquares(sde.diffusion(points, constant([t], "float64")), [2]));
  };

  // ∂ₜp = −Σ∂ᵢ(fᵢp) + ½Σ∂ᵢ²(g²ᵢp), by five-point differences.
  it("solves the Fokker–Planck equation", () => {
    const h = 2e-3;
    const shifted = (i: number, by: number) => x.map((v, k) => (k === i ? v + by : v));
    const along = (i: number, f: (z: readonly number[]) => number): number[] =>
      [-2, -1, 0, 1, 2].map((k) => f(shifted(i, k * h)));
    const slope = ([a, b, , d, e]: number[]): number => (a - 8 * b + 8 * d - e) / (12 * h);
    const bend = ([a, b, c, d, e]: number[]): number =>
      (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h * h);
    const change = [0, 1].reduce((sum, i) => {
      const carried = slope(along(i, (z) => drift(z)[i] * density(z)));
      const g2 = (z: readonly number[]): number => {
        const all = squares(z);
        return all.length === 1 ? all[0] : all[i];
      };
      return sum - carried + bend(along(i, (z) => g2(z) * density(z))) / 2;
    }, 0);
    const inTime = slope([-2, -1, 0, 1, 2].map((k) => density(x, t + k * h)));
    expect(density(x)).toBeGreaterThan(1e-3);
    expect(inTime / density(x)).toBeCloseTo(change / density(x), 4);
  });

  it("has the gradient of its logarithm for a score", () => {
    const [z, z0, time] = [
      constant([x], "float64"),
      constant([x0], "float64"),
      constant([t], "float64"),
    ];
    const byHand = numbers(transitionScore(z, z0, time));
    const byAutodiff = numbers(gradEach((p: Tensor) => logTransition(p, z0, time))(z));
    byHand.forEach((s, i) => {
      expect(s).toBeCloseTo(byAutodiff[i], 8);
    });
  });
});

// So its transition is N(m y₀, σ² LLᵀ): that of dY = −½βY dt + √β L dW.
it("has noise of covariance LLᵀ for VP through y = Lx", () => {
  const [y, t] = [constant([[0.3, -1.2]], "float64"), constant([0.4], "float64")];
  const correlated = push(
    vp(),
    affineMatrix([
      [1, 0],
      [0.8, 0.6],
    ]),
  );
  numbers(correlated.drift(y, t)).forEach((v, i) => {
    expect(v).toBeCloseTo(numbers(vp().drift(y, t))[i], 12);
  });
  const beta = 0.1 + 19.9 * 0.4;
  const along = (e: number[]): Float64Array =>
    numbers(applyCovariance(correlated.diffusion(y, t), constant([e], "float64"), [2]));
  // LLᵀ = [1, .8; .8, 1]
  for (const [e, column] of [
    [
      [1, 0],
      [1, 0.8],
    ],
    [
      [0, 1],
      [0.8, 1],
    ],
  ])
    along(e).forEach((v, i) => {
      expect(v).toBeCloseTo(beta * column[i], 12);
    });
});
