/** Score matching of data with a boundary: slices that vanish there, and a map that removes it. */
import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  affine,
  chain,
  expMap,
  sigmoidMap,
  unitBall,
} from "../../src/bijector/index.ts";
import {
  add,
  constant,
  cos,
  div,
  exp,
  gradEach,
  log,
  mul,
  reference,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import {
  boundedSlices,
  checkObjective,
  drawArrays,
  gssmVr,
  lossOf,
  type Objective,
  scoreMatching,
  scoreMatchingThrough,
} from "../../src/matching/index.ts";
import { key, uniform } from "../../src/random/index.ts";
import { pullScore } from "../../src/score/index.ts";
import { field } from "./support.ts";

const numbers = (t: Tensor): Float64Array => reference([t], new Map())[0] as Float64Array;
const GRID = 20_000;

/** Midpoints of an interval as points of one coordinate, and the weights of a density there. */
function quadrature(low: number, high: number, logDensity: (x: number) => number) {
  const x = Array.from({ length: GRID }, (_, i) => low + ((high - low) * (i + 0.5)) / GRID);
  const p = x.map((at) => Math.exp(logDensity(at)));
  const total = p.reduce((a, b) => a + b, 0);
  return {
    x: constant(
      x.map((at) => [at]),
      "float64",
    ),
    p: p.map((at) => at / total),
  };
}

const bounded = (low: number, high: number, power: number): Objective =>
  gssmVr(boundedSlices({ low, high, power }));

/** Distributions on (0, 1) that do not vanish at the faces, or are not bounded there. */
const distributions: readonly {
  readonly name: string;
  readonly score: (x: Tensor) => Tensor;
  readonly logDensity: (x: number) => number;
}[] = [
  {
    name: "a Gaussian cut off on both sides",
    score: (x) => div(sub(0.9, x), 0.16),
    logDensity: (x) => -((x - 0.9) ** 2) / 0.32,
  },
  {
    name: "Beta(0.8, 3)",
    score: (x) => sub(div(-0.2, x), div(2, sub(1, x))),
    logDensity: (x) => -0.2 * Math.log(x) + 2 * Math.log(1 - x),
  },
];

describe.each(distributions)("of $name", ({ score, logDensity }) => {
  const { x, p } = quadrature(0, 1, logDensity);
  const wrong = (z: Tensor): Tensor => add(score(z), mul(cos(mul(z, 3)), 0.7));
  const meanOf = (values: Float64Array): number => values.reduce((s, v, i) => s + v * p[i], 0);
  const lossAt = (objective: Objective, s: (z: Tensor) => Tensor): number => {
    const draws = drawArrays(objective.draws(1), [GRID], key(1), "float64");
    const constants = Object.fromEntries(
      Object.entries(draws).map(([name, array]) => [name, constant(array, "float64")]),
    );
    return meanOf(numbers(lossOf(objective)(s, x, constants)));
  };

  // E ℓ(s) − E ℓ(s*) = ½E[(s − s*)ᵀC(s − s*)] for every s if the boundary leaves nothing.
  it.each([0.5, 1, 2])("power %f has no boundary terms", (power) => {
    const objective = bounded(0, 1, power);
    const gap = lossAt(objective, wrong) - lossAt(objective, score);
    const weight = (at: number): number => (at * (1 - at)) ** (2 * power);
    const points = Array.from({ length: GRID }, (_, i) => (i + 0.5) / GRID);
    const expected = points.reduce(
      (s, at, i) => s + 0.5 * p[i] * weight(at) * (0.7 * Math.cos(3 * at)) ** 2,
      0,
    );
    // Midpoints miss some of a density that is not bounded.
    expect(gap / expected).toBeCloseTo(1, 2);
  });

  it("plain score matching has boundary terms", () => {
    const gap = lossAt(scoreMatching(), wrong) - lossAt(scoreMatching(), score);
    const expected = p.reduce(
      (s, v, i) => s + 0.5 * v * (0.7 * Math.cos((3 * (i + 0.5)) / GRID)) ** 2,
      0,
    );
    expect(Math.abs(gap / expected - 1)).toBeGreaterThan(0.5);
  });
});

describe("bounded slices", () => {
  it.each([
    [0, 1, 1],
    [-1, 2, 1.5],
    [0, Infinity, 1],
    [-Infinity, 3, 2],
    [-Infinity, Infinity, 1],
  ])("from %f to %f with power %f are gradients of functions", (low, high, power) => {
    const family = boundedSlices({ low, high, power });
    const x = constant([[0.3, 0.6, 0.9]], "float64");
    const u = constant([[1, -1, -1]], "float64");
    const [below, above] = [Number.isFinite(low), Number.isFinite(high)];
    const side = below && above ? high - low : 1;
    const slice = family.slice(x, { u });
    // ∇v is known; its own derivatives are H and Δv.
    const gradAt = (z: Tensor): Tensor => {
      const up = below ? sub(z, low) : add(mul(z, 0), 1);
      const down = above ? sub(high, z) : add(mul(z, 0), 1);
      const r = div(mul(up, down), side);
      return mul(u, exp(mul(log(r), power)));
    };
    const inside = gradEach((z: Tensor) => sum(gradAt(z), -1))(x);
    numbers(slice.grad).forEach((v, i) => {
      expect(v).toBeCloseTo(numbers(gradAt(x))[i], 12);
    });
    numbers(slice.hvp as Tensor).forEach((v, i) => {
      expect(v).toBeCloseTo(numbers(mul(inside, slice.grad))[i], 12);
    });
    expect(numbers(slice.laplacian as Tensor)[0]).toBeCloseTo(numbers(sum(inside, -1))[0], 12);
    const { covariance, divergence } = family.moments?.(x, {}) ?? { covariance: {} };
    const squares = (z: Tensor): Tensor => mul(gradAt(z), gradAt(z));
    numbers(covariance.diagonal as Tensor).forEach((v, i) => {
      expect(v).toBeCloseTo(numbers(squares(x))[i], 12);
    });
    numbers(divergence as Tensor).forEach((v, i) => {
      expect(v).toBeCloseTo(numbers(gradEach((z: Tensor) => sum(squares(z), -1))(x))[i], 12);
    });
  });

  it("of power 1 are score matching through the sigmoid, and through exp on the half-line", () => {
    const pairs = [
      [bounded(0, 1, 1), sigmoidMap()],
      [bounded(0, Infinity, 1), expMap()],
    ] as const;
    const y = constant(
      [
        [0.2, 0.7],
        [0.9, 0.05],
      ],
      "float64",
    );
    for (const [objective, phi] of pairs) {
      const draws = drawArrays(objective.draws(2), [2], key(2), "float64");
      const own = objective.terms(y, { u: constant(draws.u, "float64") });
      const through = scoreMatchingThrough(phi).terms(y, {});
      const columns = through.metric.directions as Tensor;
      numbers(own.metric.diagonal as Tensor).forEach((v, i) => {
        expect(v).toBeCloseTo(numbers(sum(mul(columns, columns), -2))[i], 12);
      });
      numbers(own.drift as Tensor).forEach((v, i) => {
        expect(v).toBeCloseTo(numbers(through.drift as Tensor)[i], 12);
      });
    }
  });
});

describe("score matching through a map", () => {
  it.each([
    [
      "additive logistic",
      additiveLogistic(),
      [
        [0.2, 0.5],
        [0.6, 0.1],
      ],
    ],
    [
      "ball",
      unitBall(),
      [
        [0.3, -0.5],
        [0.1, 0.8],
      ],
    ],
    [
      "shifted cube",
      chain(affine({ scale: [2, 0.5], shift: [0.1, -1] }), sigmoidMap()),
      [
        [0.3, 0.5],
        [0.7, 0.9],
      ],
    ],
  ] as const)("is score matching of φ⁻¹(Y), %s", (_, phi, points) => {
    const y = constant(points as never, "float64");
    const x = phi.inverse(y);
    const inX = (s: (z: Tensor) => Tensor): Float64Array =>
      numbers(lossOf(scoreMatching())((z: Tensor) => pullScore(phi, z, s(phi.forward(z))), x, {}));
    const inY = (s: (z: Tensor) => Tensor): Float64Array =>
      numbers(lossOf(scoreMatchingThrough(phi))(s, y, {}));
    // The constant is that of s = 0.
    const none = (z: Tensor): Tensor => mul(z, 0);
    const [a, b, zeroX] = [inX(field), inY(field), inX(none)];
    a.forEach((v, i) => {
      expect(v - zeroX[i]).toBeCloseTo(b[i], 9);
    });
  });
});

it("refuses an empty box and a power that is too small", () => {
  expect(() => boundedSlices({ low: 1, high: 0 })).toThrow(/low < high/);
  expect(() => boundedSlices({ power: 0.2 })).toThrow(/at least 1\/2/);
});

describe("checkObjective", () => {
  const count = 4000;
  const box = { low: 0, high: 1, key: key(3) };

  it("distinguishes slices that vanish at the faces from those that do not", async () => {
    const points = uniform(key(1), [count, 2], { dtype: "float64" });
    const plain = await checkObjective(scoreMatching(), points, box);
    expect(plain.edge).toBeCloseTo(1, 12);
    expect(plain.warnings.join()).toMatch(/faces/);
    const own = await checkObjective(bounded(0, 1, 1), points, box);
    expect(own).toMatchObject({ edge: 0, warnings: [] });
  });

  it("finds the tail index of a loss", async () => {
    // |x| = U^{−1/2} has P(|x| > r) = r⁻², so ½x² has the index 1, and ½|x| would have 2.
    const u = uniform(key(2), [count, 1], { dtype: "float64" });
    const heavy = { ...u, data: u.data.map((v) => 1 / Math.sqrt(v)) };
    const score = (x: Tensor): Tensor => mul(x, -1);
    const found = await checkObjective(scoreMatching(), heavy, { score, key: key(3) });
    expect(found.tail).toBeGreaterThan(0.75);
    expect(found.tail).toBeLessThan(1.35);
    expect(found.warnings.join()).toMatch(/not finite/);
    const light = await checkObjective(scoreMatching(), u, { score, key: key(3) });
    expect(light.warnings).toEqual([]);
  });
});
