/** Brownian motion on spheres in two charts, which change by the lemma and include both poles. */
import { describe, expect, it } from "vitest";
import { bijector } from "../../src/bijector/index.ts";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  constant,
  div,
  expandDims,
  gradEach,
  log,
  mul,
  type NdArray,
  ndarray,
  reference,
  reshape,
  slice,
  softmax,
  squaredNorm,
  stack,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, sampleKeys } from "../../src/random/index.ts";
import { changingCharts, sample } from "../../src/sampler/index.ts";
import { forward, type MarginalScore, reverse, sphereBrownian } from "../../src/sde/index.ts";
import { pushReverseDrift } from "../../src/sde/reverse-time-ito.ts";

const numbers = (t: Tensor): number[] => Array.from(reference([t], new Map())[0] as Float64Array);
const f64 = (values: number[] | number[][]): Tensor => constant(values as never, "float64");
const engine = { device: "wasm", type: "float64" } as const;
const meanOf = (values: readonly number[]): number =>
  values.reduce((a, b) => a + b, 0) / values.length;
const errorOf = (values: readonly number[]): number =>
  Math.sqrt(meanOf(values.map((v) => v * v)) - meanOf(values) ** 2) / Math.sqrt(values.length);

/** x/‖x‖²: |det J| = ‖x‖^{−2n}. */
const inversion = bijector({
  name: "inversion",
  forward: (x) => div(x, expandDims(squaredNorm(x), -1)),
  inverse: (x) => div(x, expandDims(squaredNorm(x), -1)),
  logDet: (x) => mul(log(squaredNorm(x)), -(x.shape.at(-1) as number)),
});

/** A smooth field along the sphere that is not a gradient. */
const tangentField: MarginalScore = (y) => {
  const n = y.shape.at(-1) as number;
  const a = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (__, j) => Math.sin(3 * i + 5 * j + 1)),
  );
  const v = sum(mul(expandDims(y, -1), constant(a, y.dtype)), -2);
  return add(v, mul(y, mul(expandDims(sum(mul(v, y), -1), -1), -1)));
};

describe.each([2, 3, 4])("the charts of the %i-sphere", (n) => {
  const { sde, toSphere, toChart, change, inCharts } = sphereBrownian({ dimension: n, rate: 0.7 });
  const x = Array.from({ length: n }, (_, i) => 0.5 + 0.5 * i);
  const z = f64([[...x, 1]]);
  const changed = change(z);

  it("name the same point of the sphere", () => {
    expect(numbers(changed).at(-1)).toBe(-1);
    const [before, after] = [numbers(toSphere(z)), numbers(toSphere(changed))];
    before.forEach((v, i) => {
      expect(after[i]).toBeCloseTo(v, 14);
    });
    expect(numbers(squaredNorm(toSphere(z)))[0]).toBeCloseTo(1, 14);
    numbers(toChart(toSphere(z))).forEach((v, i) => {
      expect(v).toBeCloseTo(numbers(changed)[i], 12);
    });
  });

  it("have reverse drifts that are each other's image by the lemma", () => {
    const t = f64([0.3]);
    const score = inCharts(tangentField);
    const process = reverse(sde, score);
    const positions = (v: Tensor): Tensor => slice(v, null, [0, n]);
    const g = {
      kind: "scalar",
      value: reshape(slice(sde.diffusion(z, t).value, null, [0, 1]), [1]),
    } as const;
    const pushed = pushReverseDrift(inversion, positions(z), positions(process.drift(z, t)), g, t);
    const own = numbers(positions(process.drift(changed, t)));
    numbers(pushed).forEach((v, i) => {
      expect(v).toBeCloseTo(own[i], 10);
    });
  });
});

describe("Brownian motion on the 2-sphere", () => {
  const { sde, toSphere, toChart, change, inCharts, logTransition, transitionScore } =
    sphereBrownian({ dimension: 2 });
  const solver = changingCharts(change);
  const onSphere = async (samples: NdArray): Promise<number[][]> => {
    const map = compile(toSphere, [samples.shape], engine);
    const { data } = await map(samples);
    await map.dispose();
    return Array.from({ length: samples.shape[0] }, (_, i) =>
      Array.from((data as Float64Array).subarray(3 * i, 3 * i + 3)),
    );
  };

  it("has a heat kernel of mass 1 whose mean decays as e^{−t}", () => {
    const [count, t] = [4000, 0.3];
    const u = Array.from({ length: count }, (_, i) => -1 + (2 * (i + 0.5)) / count);
    const y = f64(u.map((v) => [Math.sqrt(1 - v * v), 0, v]));
    const p = numbers(logTransition(y, f64([[0, 0, 1]]), f64([t]))).map(Math.exp);
    const mass = (2 * Math.PI * 2) / count;
    expect(p.reduce((a, b) => a + b, 0) * mass).toBeCloseTo(1, 6);
    expect(p.reduce((s, v, i) => s + v * u[i], 0) * mass).toBeCloseTo(Math.exp(-t), 6);
  });

  it("has a score that is the gradient along the sphere", () => {
    const [y, y0, t] = [f64([[0.48, 0.6, 0.64]]), f64([[0, 0.8, 0.6]]), f64([0.4])];
    const whole = gradEach((p: Tensor) =>
      logTransition(div(p, expandDims(mul(squaredNorm(p), 1), -1)), y0, t),
    );
    // Along the sphere both agree: project the gradient in space.
    const g = numbers(whole(y));
    const at = numbers(y);
    const radial = g.reduce((s, v, i) => s + v * at[i], 0);
    // d(p/‖p‖²) = dp − 2p(p·dp) at unit length: a mirror of the radial part alone.
    numbers(transitionScore(y, y0, t)).forEach((v, i) => {
      expect(v).toBeCloseTo(g[i] - radial * at[i], 9);
    });
  });

  it("starts at a pole and keeps its mean, e^{−t} times the pole", async () => {
    for (const pole of [1, -1]) {
      const [count, t] = [2000, 0.5];
      const start = ndarray(
        Array.from({ length: count }, () => numbers(toChart(f64([[0, 0, pole]])))),
        "float64",
      );
      const { samples } = await sample(
        { ...forward(sde), horizon: t },
        { ...engine, solver, start, shape: [3], count, steps: 100, key: key(2) },
      );
      const up = (await onSphere(samples)).map((y) => pole * y[2]);
      expect(Math.abs(meanOf(up) - Math.exp(-t))).toBeLessThan(4 * errorOf(up) + 0.005);
    }
  });

  it("reverses to atoms at both poles and between", async () => {
    const atoms = [
      [0, 0, 1],
      [0, 0, -1],
      [0.6, 0.8, 0],
    ];
    const score: MarginalScore = (y, t) => {
      const like = (a: number[]): Tensor => add(mul(y, 0), constant(a, y.dtype));
      const weights = softmax(
        stack(
          atoms.map((a) => logTransition(y, like(a), t)),
          -1,
        ),
        -1,
      );
      const scores = stack(
        atoms.map((a) => transitionScore(y, like(a), t)),
        -1,
      );
      return sum(mul(scores, reshape(weights, [...y.shape.slice(0, -1), 1, 3])), -1);
    };
    const tEnd = 0.1;
    const { samples } = await sample(reverse(sde, inCharts(score)), {
      ...engine,
      ...{ solver, shape: [3], count: 1200, steps: 150, tEnd, key: key(3) },
    });
    const y = await onSphere(samples);
    // Harmonics of degree l decay by e^{−l(l + 1)t/2} from their means over the atoms.
    const [first, second] = [Math.exp(-tEnd), Math.exp(-3 * tEnd)];
    const expectations: [(v: number[]) => number, number][] = [
      [(v) => v[0], (first * 0.6) / 3],
      [(v) => v[1], (first * 0.8) / 3],
      [(v) => v[2], 0],
      [(v) => (3 * v[2] ** 2 - 1) / 2, (second * (1 + 1 - 0.5)) / 3],
      [(v) => v[0] * v[1], (second * 0.48) / 3],
    ];
    for (const [f, expected] of expectations) {
      const values = y.map(f);
      expect(Math.abs(meanOf(values) - expected)).toBeLessThan(4 * errorOf(values) + 0.01);
    }
  });

  it("has a uniform prior in both charts", () => {
    const start = sde.prior?.sample(sampleKeys(key(4), 4000), [3], "float64") as NdArray;
    const y = numbers(toSphere(constant(start, "float64")));
    const up = y.filter((_, i) => i % 3 === 2);
    expect(Math.abs(meanOf(up))).toBeLessThan(4 * errorOf(up));
    expect(meanOf(up.map((v) => v * v))).toBeCloseTo(1 / 3, 1);
    const sizes = Array.from(start.data as Float64Array).filter((_, i) => i % 3 === 2);
    expect(new Set(sizes)).toEqual(new Set([1, -1]));
  });
});

it("rejects spheres of less than two dimensions", () => {
  expect(() => sphereBrownian({ dimension: 1 })).toThrow(/at least 2/);
});
