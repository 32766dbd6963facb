/** Denoising score matching in x, and through a map. */
import { describe, expect, it } from "vitest";
import { additiveLogistic, type Bijector, sigmoidMap } from "../../src/bijector/index.ts";
import { gaussian, mixture, sampleFrom } from "../../src/distribution/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  constant,
  div,
  exp,
  expand,
  expandDims,
  gradEach,
  jacobian,
  mul,
  type NdArray,
  neg,
  sin,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { type DenoisingOptions, denoising } from "../../src/matching/index.ts";
import { fold, key, normal, uniform } from "../../src/random/index.ts";
import { pushedScore } from "../../src/score/index.ts";
import { ornsteinUhlenbeck, vp } from "../../src/sde/index.ts";
import { gaussianSdes } from "../sde/table.ts";
import { misses, moments } from "./support.ts";

const array = (shape: readonly number[], data: Float64Array): NdArray => ({
  shape,
  dtype: "float64",
  data,
});
const filledArray = (count: number, value: number): NdArray =>
  array([count], new Float64Array(count).fill(value));

/** A wrong score with a shape of its own. */
const wrong = (x: Tensor): Tensor => add(mul(x, -0.4), mul(sin(x), 0.3));

describe("the loss through a map is the loss in y", () => {
  const sde = ornsteinUhlenbeck();
  const time = 0.35;
  const mean = Math.exp(-time);
  const variance = 1 - Math.exp(-2 * time);

  /** Σ over midpoints of the unit cube's cells, those in the domain of the map. */
  function grid(n: number, cells: number): Float64Array {
    const out: number[] = [];
    const at = (i: number): number => (i + 0.5) / cells;
    if (n === 1) for (let i = 0; i < cells; i++) out.push(at(i));
    else
      for (let i = 0; i < cells; i++)
        for (let j = 0; j < cells - i; j++) {
          // The cells on the diagonal are cut in half: their triangles' centres stand for them.
          const shift = i + j === cells - 1 ? 1 / 6 / cells : 0;
          out.push(at(i) - shift, at(j) - shift);
        }
    return Float64Array.from(out);
  }

  it.each([
    ["one dimension", sigmoidMap(), [0.3], 20_000],
    ["two dimensions", additiveLogistic(), [0.2, -0.3], 700],
  ] as const)("in %s", async (_, phi: Bijector, x0, cells) => {
    const n = x0.length;
    const points = grid(n, cells);
    const count = points.length / n;
    const { data } = await evaluate(
      (y: Tensor) => {
        // In y alone: q(y | y₀) by the change of variables, its score by autodiff, and the pushed
        // wrong score.
        const logQ = (z: Tensor): Tensor => {
          const x = phi.inverse(z);
          const gap = sub(x, constant(mul0(x0, mean), "float64"));
          return sub(
            add(
              mul(squaredNorm(gap), -0.5 / variance),
              -0.5 * n * Math.log(2 * Math.PI * variance),
            ),
            phi.logDet(x),
          );
        };
        const off = sub(pushedScore(phi, wrong)(y), gradEach(logQ)(y));
        return mul(exp(logQ(y)), squaredNorm(off));
      },
      array([count, n], points),
    );
    let inY = 0;
    (data as Float64Array).forEach((v, i) => {
      const half = n === 2 && Math.abs(points[2 * i] + points[2 * i + 1] - 1) < 0.9 / cells;
      inY += (v * (half ? 0.5 : 1)) / cells ** n;
    });

    // In x: λ = 1 and ε on a fine grid with its distribution.
    const steps = n === 1 ? 4001 : 241;
    const width = 14 / steps;
    const noise: number[] = [];
    for (let i = 0; i < steps ** n; i++)
      for (let k = 0; k < n; k++)
        noise.push((Math.floor(i / steps ** k) % steps) * width - 7 + width / 2);
    const total = steps ** n;
    const found = await evaluate(
      (x: Tensor, t: Tensor, e: Tensor) => {
        const one = (s: Tensor): Tensor => add(mul(s, 0), 1);
        const loss = denoising(sde, { through: phi, weight: one })((z) => wrong(z), x, t, e);
        return mul(loss, exp(add(mul(squaredNorm(e), -0.5), -0.5 * n * Math.log(2 * Math.PI))));
      },
      array(
        [total, n],
        Float64Array.from({ length: total * n }, (_, i) => x0[i % n]),
      ),
      filledArray(total, time),
      array([total, n], Float64Array.from(noise)),
    );
    const inX = (found.data as Float64Array).reduce((a, b) => a + b, 0) * width ** n;
    expect(inY / inX).toBeCloseTo(1, n === 1 ? 6 : 3);
  });
});

const mul0 = (v: readonly number[], c: number): number[] => v.map((a) => a * c);

/** So many tell a score that is 2 % off. */
const COUNT = 20_000;
const start = mixture([
  { weight: 1, distribution: gaussian({ mean: [0.8, -0.4], covariance: 0.3 }) },
  { weight: 1, distribution: gaussian({ mean: [-0.9, 0.5], covariance: 0.2 }) },
]);
const x0 = sampleFrom(start, fold(key("denoising"), "x0"), COUNT, "float64");
const t = uniform(fold(key("denoising"), "t"), [COUNT], {
  dtype: "float64",
  low: 0.05,
  high: 0.95,
});
const noise = normal(fold(key("denoising"), "noise"), [COUNT, 2], { dtype: "float64" });

/** ∇ log p_t of the mixture under an SDE's transition. */
const marginal = (sde: ReturnType<typeof vp>) => (x: Tensor, s: Tensor) => {
  const { meanFactor, std } = sde.transition;
  return start.marginal(meanFactor(s), std(s)).score(x);
};

it.each(Object.entries(gaussianSdes))(
  "%s: minimal at the score of the marginal, with any λ and through any map",
  async (_, make) => {
    const sde = make();
    const score = marginal(sde);
    const losses = [
      denoising(sde),
      denoising(sde, { weight: (s) => exp(neg(s)) }),
      denoising(sde, { through: additiveLogistic(), bound: 20 }),
      denoising(sde, { through: sigmoidMap(), bound: 20 }),
    ];
    const h = 0.05;
    const found = await evaluate(
      (x: Tensor, s: Tensor, e: Tensor) => {
        const bump = (y: Tensor): Tensor => div(y, expandDims(add(squaredNorm(y), 1), -1));
        return losses.map((loss) => {
          const off = (c: number): Tensor =>
            loss((y, r) => add(score(y, r), mul(bump(y), c)), x, s, e);
          return mul(sub(off(h), off(-h)), 0.5 / h);
        });
      },
      x0,
      t,
      noise,
    );
    for (const { data } of found) {
      const slope = data as Float64Array;
      expect(misses(slope, 0)).toBeLessThan(4);
      expect(moments(slope).error).toBeGreaterThan(0);
    }
  },
);

it("weights no error by more than n times its bound, and equals the unbounded weight far below it", async () => {
  const sde = vp();
  const far = array([3, 2], Float64Array.of(9, -9, 0.1, 0.2, -14, 3));
  const times = filledArray(3, 0.02);
  const e = array([3, 2], Float64Array.of(0.3, -1, 0.5, 0.7, 1, 1));
  const sizes = async (bound?: number): Promise<Float64Array> => {
    const loss = denoising(sde, {
      through: additiveLogistic(),
      bound,
    });
    const { data } = await evaluate(
      (x: Tensor, s: Tensor, n: Tensor) =>
        loss((y) => expand(constant([0], "float64"), y.shape), x, s, n),
      far,
      times,
      e,
    );
    return data as Float64Array;
  };
  const [free, tight, loose] = [await sizes(), await sizes(5), await sizes(1e12)];
  const errors = [0.3 ** 2 + 1, 0.5 ** 2 + 0.7 ** 2, 2];
  errors.forEach((size, i) => {
    expect(tight[i]).toBeLessThan(2 * 5 * size);
  });
  expect(free[0]).toBeGreaterThan(1e5);
  expect(loose[1] / free[1]).toBeCloseTo(1, 9);
});

it.each([
  ["on each coordinate alone", sigmoidMap()],
  ["of all coordinates", additiveLogistic()],
])("divides by 1 + γ/bound, γ = ‖J_{φ⁻¹}‖²_F/n, for a map %s", async (_, phi) => {
  const [n, bound] = [3, 0.7];
  const numbers = (name: string, shape: readonly number[]) =>
    normal(fold(key(name), 1), shape, { dtype: "float64" });
  const { free, bounded, gamma } = await evaluate(
    (x: Tensor, s: Tensor, e: Tensor) => {
      const { meanFactor, std } = vp().transition;
      const noisy = add(mul(x, expandDims(meanFactor(s), -1)), mul(e, expandDims(std(s), -1)));
      const matrix = jacobian((y: Tensor) => phi.inverse(y), phi.forward(noisy));
      const loss = (options: DenoisingOptions): Tensor =>
        denoising(vp(), { through: phi, ...options })(wrong, x, s, e);
      return {
        free: loss({}),
        bounded: loss({ bound }),
        gamma: mul(sum(mul(matrix, matrix), [-2, -1]), 1 / n),
      };
    },
    numbers("x", [6, n]),
    uniform(key("t"), [6], { dtype: "float64", low: 0.1, high: 0.9 }),
    numbers("noise", [6, n]),
  );
  (bounded.data as Float64Array).forEach((v, i) => {
    expect((v * (1 + (gamma.data[i] as number) / bound)) / (free.data[i] as number)).toBeCloseTo(
      1,
      10,
    );
  });
});

it("needs a Gaussian transition, and a map for a bound", () => {
  const { transition: _, ...bare } = vp();
  expect(() => denoising(bare)).toThrow(/no Gaussian transition/);
  expect(() => denoising(vp(), { bound: 3 })).toThrow(/`through` is not set/);
});
