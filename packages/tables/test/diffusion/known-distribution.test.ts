/** Distributions whose likelihood, marginals and conditionals are known. */
import { type Cell, category, count, integer, product, real } from "diffeo/domain";
import {
  add,
  constant,
  div,
  exp,
  expandDims,
  grad,
  isNdArray,
  log,
  logSumExp,
  mapTree,
  mul,
  type NdArray,
  neg,
  sigmoid,
  slice,
  sqrt,
  square,
  sub,
  sum,
  type Tensor,
} from "diffeo/graph";
import { networkOf } from "diffeo/model";
import { fold, type Key, key, normal, uniform } from "diffeo/random";
import { logSnr } from "diffeo/sampler";
import { beforeAll, describe, expect, it } from "vitest";
import { atomsOf } from "../../src/diffusion/encode/atoms.ts";
import { fitTable } from "../../src/diffusion/fit/fit.ts";
import { withGraphs } from "../../src/diffusion/network/graphs.ts";
import { LAST_LEVEL, sideSize, tableSde } from "../../src/diffusion/network/model.ts";
import type { Weights } from "../../src/diffusion/network/network.ts";
import { logDensityOf } from "../../src/diffusion/query/likelihood.ts";
import type { FlowOptions } from "../../src/diffusion/query/likelihood-types.ts";
import { atomMass } from "../../src/diffusion/query/log-likelihood.ts";
import { openTable, type TableModel } from "../../src/diffusion/query/table-model.ts";

const mean = (values: readonly number[]): number =>
  values.reduce((s, v) => s + v, 0) / values.length;
const small = { width: 24, blocks: 1, rate: 4e-3, threads: 1 } as const;

describe("the flow of a label and a number", () => {
  it("has probabilities of labels as densities at their codes", async () => {
    const [chances, codes, means, spreads] = [
      [0.3, 0.7],
      [1.5, -0.65],
      [1, -0.5],
      [0.6, 0.9],
    ];
    const row = (values: readonly number[], x: Tensor): Tensor => constant([...values], x.dtype);
    const column = (x: Tensor, i: number): Tensor =>
      slice(x, ...x.shape.slice(1).map(() => null), [i, i + 1]);
    // v = −(σ/m)(s + x), s the gradient of the noised distribution's log-density.
    const velocity = (x: Tensor, lambda: Tensor): Tensor => {
      const m = expandDims(sqrt(sigmoid(lambda)), -1);
      const variance = expandDims(sigmoid(neg(lambda)), -1);
      const density = (p: Tensor): Tensor => {
        const wide = add(
          mul(
            square(m),
            row(
              spreads.map((s) => s * s),
              p,
            ),
          ),
          variance,
        );
        const label = div(square(sub(column(p, 0), mul(row(codes, p), m))), mul(variance, 2));
        const number = div(square(sub(column(p, 1), mul(row(means, p), m))), mul(wide, 2));
        return sum(
          logSumExp(
            sub(sub(row(chances.map(Math.log), p), mul(log(wide), 0.5)), add(label, number)),
            -1,
          ),
        );
      };
      return mul(add(grad(density)(x), x), neg(div(sqrt(variance), m)));
    };
    const variance = Math.exp(-LAST_LEVEL);
    const points = codes.flatMap((c, k) => [-1.2, 0, 0.7].map((g) => ({ c, k, g })));
    const x = Float64Array.from(points.flatMap(({ c, g }) => [c, g]));
    const found = await withGraphs({ threads: 1 }, (graphs) =>
      logDensityOf(graphs, { name: "distribution", n: 2, predict: velocity }, { x }),
    );
    points.forEach(({ k, g }, i) => {
      const wide = spreads[k] ** 2 + variance;
      const wanted =
        Math.log(chances[k]) -
        (g - means[k]) ** 2 / (2 * wide) -
        0.5 * Math.log(2 * Math.PI * wide);
      expect(Math.abs(found[i] + atomMass(1) - wanted)).toBeLessThan(5e-3);
    });
  });
});

describe("the steps of a flow", () => {
  it("are Adams–Bashforth steps after three Runge–Kutta steps, with one evaluation each and nine more", async () => {
    // dx/du = x + cos u with λ = 1 + 9 asinh(tan u), for which dλ/du = 9/cos u and cos u =
    // 1/cosh((λ − 1)/9).
    const slope = (x: number, u: number): number => x + Math.cos(u);
    const predict = (x: Tensor, lambda: Tensor): Tensor => {
      const w = div(sub(lambda, 1), 9);
      const cosine = div(2, add(exp(w), exp(neg(w))));
      return div(
        mul(add(x, cosine), mul(cosine, -2 / 9)),
        sqrt(mul(sigmoid(lambda), sigmoid(neg(lambda)))),
      );
    };
    const [end] = logSnr(tableSde.transition)([tableSde.horizon]);
    const [from, to] = [LAST_LEVEL, end].map((level) => Math.atan(Math.sinh((level - 1) / 9)));
    const steps = 5;
    const h = (to - from) / steps;
    const m = 1 / Math.sqrt(1 + Math.exp(-LAST_LEVEL));
    let x = m * 0.7;
    const slopes: number[] = [];
    for (let k = 0; k < steps; k++) {
      const u = from + k * h;
      slopes.unshift(slope(x, u));
      if (k < 3) {
        const [a] = slopes;
        const b = slope(x + (h * a) / 2, u + h / 2);
        const c = slope(x + (h * b) / 2, u + h / 2);
        x += (h * (a + 2 * b + 2 * c + slope(x + h * c, u + h))) / 6;
      } else x += (h * (55 * slopes[0] - 59 * slopes[1] + 37 * slopes[2] - 9 * slopes[3])) / 24;
    }
    // The divergence is 1 all the way.
    const wanted = to - from - (x * x + Math.log(2 * Math.PI)) / 2 + Math.log(m);
    const [found] = await withGraphs({ threads: 1 }, (graphs) =>
      logDensityOf(
        graphs,
        { name: "steps", n: 1, predict },
        { x: Float64Array.of(0.7) },
        {
          evaluations: steps + 9,
        },
      ),
    );
    expect(found).toBeCloseTo(wanted, 4);
  });
});

describe("the flow of a field that rotates at one level", () => {
  it("is followed within the tolerance", async () => {
    // dx/dλ = x δ(λ − 1), δ a Gaussian of width 0.12: from data to noise, where λ falls, x ends as
    // x/e.
    const width = 0.12;
    const predict = (x: Tensor, lambda: Tensor): Tensor => {
      const bump = exp(mul(square(div(sub(lambda, 1), width)), -0.5));
      const pace = mul(
        sqrt(mul(sigmoid(lambda), sigmoid(neg(lambda)))),
        -0.5 * width * Math.sqrt(2 * Math.PI),
      );
      return mul(x, div(bump, pace));
    };
    const m2 = 1 / (1 + Math.exp(-LAST_LEVEL));
    const x = Float64Array.of(-1, -0.3, 0.2, 0.8);
    const wanted = x.map(
      (v) => -(m2 * v * v * Math.exp(-2) + Math.log(2 * Math.PI) - Math.log(m2)) / 2 - 1,
    );
    const wrong = (options: FlowOptions): Promise<number> =>
      withGraphs({ threads: 1 }, async (graphs) => {
        const found = await logDensityOf(graphs, { name: "bump", n: 1, predict }, { x }, options);
        return mean(Array.from(found, (v, i) => Math.abs(v - wanted[i])));
      });
    expect(await wrong({})).toBeLessThan(1e-3);
    const coarse = await wrong({ evaluations: 100 });
    expect(coarse).toBeGreaterThan(5e-3);
    expect(await wrong({ tolerance: 0.05 })).toBe(coarse);
  });
});

const labels = ["a", "b"];
const distribution = {
  chances: [0.6, 0.4],
  means: [
    [-1, 0],
    [1, 1],
  ],
  spread: 0.7,
  correlation: [0.6, -0.6],
};

function rowsOf(size: number, from: Key): [number, number, string][] {
  const z = normal(fold(from, "z"), [size, 2], { dtype: "float64" }).data;
  const u = uniform(fold(from, "u"), size, { dtype: "float64" }).data;
  return Array.from({ length: size }, (_, i) => {
    const k = u[i] < distribution.chances[0] ? 0 : 1;
    const [a, r] = [z[2 * i], distribution.correlation[k]];
    const b = r * a + Math.sqrt(1 - r * r) * z[2 * i + 1];
    return [
      distribution.means[k][0] + distribution.spread * a,
      distribution.means[k][1] + distribution.spread * b,
      labels[k],
    ];
  });
}

function logDensity(x: number, y: number, label: string): number {
  const k = labels.indexOf(label);
  const [a, b, r] = [
    (x - distribution.means[k][0]) / distribution.spread,
    (y - distribution.means[k][1]) / distribution.spread,
    distribution.correlation[k],
  ];
  const form = (a * a - 2 * r * a * b + b * b) / (1 - r * r);
  return (
    Math.log(distribution.chances[k]) -
    form / 2 -
    Math.log(2 * Math.PI * distribution.spread ** 2 * Math.sqrt(1 - r * r))
  );
}

const logSum = (values: readonly number[]): number =>
  Math.log(values.reduce((s, v) => s + Math.exp(v), 0));

describe("a model of a label and two numbers", () => {
  const test = rowsOf(300, key("test"));
  let model: TableModel;
  /** Of the numbers of the test next to each label. */
  let scores: readonly Float64Array[];
  beforeAll(async () => {
    const columns = { x: real(), y: real(), k: category(labels) };
    model = await fitTable(rowsOf(4000, key("train")), {
      columns,
      ...small,
      width: 32,
      rate: 8e-3,
      steps: 400,
    });
    const all = await model.logLikelihood(
      labels.flatMap((label) => test.map(([x, y]) => [x, y, label])),
    );
    scores = labels.map((_, k) => all.subarray(k * test.length, (k + 1) * test.length));
  });

  it("gives rows the likelihood of their distribution", () => {
    const gaps = test.map((row, i) => scores[labels.indexOf(row[2])][i] - logDensity(...row));
    expect(Math.abs(mean(gaps))).toBeLessThan(0.06);
    expect(Math.sqrt(mean(gaps.map((g) => g * g)))).toBeLessThan(0.3);
  });

  it("gives labels their probabilities given the numbers", () => {
    const wrong = test.map(([x, y], i) => {
      const found = Math.exp(scores[0][i] - logSum([scores[0][i], scores[1][i]]));
      return Math.abs(
        found -
          Math.exp(logDensity(x, y, "a") - logSum(labels.map((label) => logDensity(x, y, label)))),
      );
    });
    expect(mean(wrong)).toBeLessThan(0.03);
  });

  it("scores a row with a missing value by its other cells", async () => {
    const found = await model.logLikelihood(test.map(([x, y]) => ({ x, y, k: null })));
    const gaps = test.map(
      ([x, y], i) => found[i] - logSum(labels.map((label) => logDensity(x, y, label))),
    );
    expect(Math.abs(mean(gaps))).toBeLessThan(0.12);
    // Without x, which y is correlated with.
    const some = test.slice(0, 100);
    const without = await model.logLikelihood(some.map(([, y, k]) => ({ x: null, y, k })));
    const others = some.map(([, y, label], i) => {
      const k = labels.indexOf(label);
      const z = (y - distribution.means[k][1]) / distribution.spread;
      return (
        without[i] -
        Math.log(distribution.chances[k]) +
        z ** 2 / 2 +
        Math.log(distribution.spread * Math.sqrt(2 * Math.PI))
      );
    });
    expect(Math.abs(mean(others))).toBeLessThan(0.06);
    expect(Math.sqrt(mean(others.map((g) => g * g)))).toBeLessThan(0.3);
    expect(await model.logLikelihood([[null, null, null]])).toEqual(Float64Array.of(0));
  });

  it("samples numbers given a label, and labels given numbers", async () => {
    const { rows } = await model.sample({ count: 2000, given: { k: "b" } });
    expect(rows.every((row) => row[2] === "b")).toBe(true);
    const [x, y] = [0, 1].map((j) => rows.map((row) => row[j] as number));
    expect(Math.abs(mean(x) - 1)).toBeLessThan(0.08);
    expect(Math.abs(mean(y) - 1)).toBeLessThan(0.08);
    const both = mean(x.map((v, i) => (v - mean(x)) * (y[i] - mean(y))));
    expect(Math.abs(both / distribution.spread ** 2 - distribution.correlation[1])).toBeLessThan(
      0.12,
    );
    const filled = await model.complete(
      test.map(([a, b]) => ({ x: a, y: b })),
      { draws: 20 },
    );
    const share = (of: readonly (readonly Cell[])[]): number =>
      of.filter((row) => row[2] === "a").length / of.length;
    const wrong = test.map(([a, b], i) => {
      const wanted = Math.exp(
        logDensity(a, b, "a") - logSum(labels.map((label) => logDensity(a, b, label))),
      );
      return share(filled.rows[i]) - wanted;
    });
    expect(Math.abs(mean(wrong))).toBeLessThan(0.03);
    expect(mean(wrong.map(Math.abs))).toBeLessThan(0.08);
  });

  it("completes rows with calibrated intervals, and keeps given cells", async () => {
    const { rows, columns } = await model.complete(
      test.map(([x, , k]) => [x, null, k]),
      { draws: 50, seed: 3 },
    );
    expect(columns).toEqual(["x", "y", "k"]);
    const places = test.map(([x, y, k], i) => {
      expect(rows[i]).toHaveLength(50);
      expect(rows[i].every((row) => row[0] === x && row[2] === k)).toBe(true);
      return rows[i].filter((row) => (row[1] as number) < y).length / 50;
    });
    expect(Math.abs(mean(places.map((p) => (p > 0.05 && p < 0.95 ? 1 : 0))) - 0.9)).toBeLessThan(
      0.07,
    );
    expect(Math.abs(mean(places) - 0.5)).toBeLessThan(0.06);
    // Draw by draw the same numbers, whatever else is completed with them.
    const [x, , k] = test[0];
    const alone = await model.complete([[x, null, k]], { draws: 50, seed: 3 });
    alone.rows[0].forEach((row, i) => {
      expect(row[1]).toBeCloseTo(rows[0][i][1] as number, 3);
    });
  });

  it("is conditioned on observations, by particles like by the network of given cells, also where the latter is not possible", async () => {
    // a·(x, y) = seen ± noise, in a mixture of Gaussians.
    const exact = (a: readonly [number, number], seen: number, noise: number) => {
      const parts = labels.map((_, k) => {
        const [m, s2, r] = [
          distribution.means[k],
          distribution.spread ** 2,
          distribution.correlation[k],
        ];
        const along = [s2 * (a[0] + r * a[1]), s2 * (r * a[0] + a[1])];
        const variance = a[0] * along[0] + a[1] * along[1] + noise ** 2;
        const gap = seen - a[0] * m[0] - a[1] * m[1];
        const weight =
          (distribution.chances[k] * Math.exp(-(gap ** 2) / (2 * variance))) /
          Math.sqrt(2 * Math.PI * variance);
        return { weight, at: m.map((v, j) => v + (along[j] * gap) / variance) };
      });
      const total = parts[0].weight + parts[1].weight;
      const mixed = [0, 1].map((j) =>
        parts.reduce((sum, { weight, at }) => sum + (weight / total) * at[j], 0),
      );
      return {
        means: mixed,
        first: parts[0].weight / total,
        evidence: Math.log(total * noise * Math.sqrt(2 * Math.PI)),
      };
    };
    const shareOf = (rows: readonly (readonly Cell[])[]): number =>
      rows.filter((row) => row[2] === "a").length / rows.length;
    const meanOf = (rows: readonly (readonly Cell[])[], j: number): number =>
      mean(rows.map((row) => row[j] as number));

    const given = await model.sample({ count: 2000, given: { x: 0.3 } });
    const near = model.condition(({ x }) => mul(square(sub(x, 0.3)), -0.5 / 0.1 ** 2));
    const weighed = await near({ particles: 800 });
    const summing = model.condition(
      ({ x, y }, { seen }) => mul(square(sub(add(x, y), seen)), -0.5 / 0.2 ** 2),
      {
        observed: { seen: [] },
      },
    );
    const sum = await summing({ particles: 800, observed: { seen: 1 } });
    const gaps = (
      rows: readonly (readonly Cell[])[],
      { means, first }: ReturnType<typeof exact>,
    ): number[] => [
      ...means.map((wanted, j) => Math.abs(meanOf(rows, j) - wanted)),
      Math.abs(shareOf(rows) - first),
    ];
    // Three standard errors of 400 effective rows; the network of given cells was trained for 400
    // steps.
    for (const [found, wanted] of [
      [weighed, exact([1, 0], 0.3, 0.1)],
      [sum, exact([1, 1], 1, 0.2)],
    ] as const) {
      expect(found.ess).toBeGreaterThan(300);
      expect(found.ancestors).toBeGreaterThan(300);
      for (const gap of gaps(found.rows, wanted)) expect(gap).toBeLessThan(0.1);
      expect(Math.abs(found.logEvidence - wanted.evidence)).toBeLessThan(0.1);
    }
    for (const gap of gaps(given.rows, exact([1, 0], 0.3, 1e-3))) expect(gap).toBeLessThan(0.1);
    for (const j of [0, 1])
      expect(Math.abs(meanOf(given.rows, j) - meanOf(weighed.rows, j))).toBeLessThan(0.1);
    expect(Math.abs(shareOf(given.rows) - shareOf(weighed.rows))).toBeLessThan(0.1);
  });

  it("reports cells that cannot be given", async () => {
    const draw = (given: Readonly<Record<string, Cell>>) => model.sample({ count: 1, given });
    await expect(draw({ z: 1 })).rejects.toThrow('there is no column "z"');
    await expect(draw({ k: "c" })).rejects.toThrow('given: "k": "c" is not one of "a", "b"');
    await expect(draw({ x: Number.POSITIVE_INFINITY })).rejects.toThrow(
      'given: "x": Infinity is not a finite number',
    );
  });
});

describe("a network of given cells without information", () => {
  it("samples the other cells by steps of order two", async () => {
    const domain = product({ a: real(), b: real() });
    const silent = (channels: number): Weights => {
      const network = { kind: "residual", channels, outputs: 2, width: 8, blocks: 1 } as const;
      const zero = (array: NdArray): NdArray => ({
        ...array,
        data: new Float32Array(array.data.length),
      });
      return {
        network,
        parameters: mapTree<NdArray, NdArray>(networkOf(network).init(key(1)), zero, isNdArray),
      };
    };
    const model = openTable(
      {
        domain,
        standard: { mean: [0, 0], matrix: [1, 0.3, 0, 1] },
        ...silent(2),
        ...{
          given: silent(2 + sideSize(domain)),
          training: { seed: 0, rows: 1, step: 1, validation: 1 },
        },
      },
      { threads: 1 },
    );
    const drawn = async (evaluations: number): Promise<number[]> => {
      const { rows } = await model.sample({ count: 50, given: { a: 0.5 }, evaluations });
      return rows.map((row) => row[1] as number);
    };
    const fine = await drawn(800);
    const wrong = async (steps: number): Promise<number> =>
      mean((await drawn(steps + 1)).map((v, i) => Math.abs(v - fine[i])));
    expect(Math.log2((await wrong(20)) / (await wrong(40)))).toBeGreaterThan(1.7);
  });
});

describe("cells that are missing at random given the row", () => {
  it("do not change the distribution, unlike rows without missing values alone", async () => {
    const z = normal(key("pair"), [2000, 2], { dtype: "float64" }).data;
    const u = uniform(key("gone"), 2000).data;
    // b is mostly missing where a is large.
    const rows = Array.from({ length: 2000 }, (_, i) => {
      const [a, b] = [z[2 * i], 0.8 * z[2 * i] + 0.6 * z[2 * i + 1]];
      return { a, b: a > 0 && u[i] < 0.7 ? null : b };
    });
    const there = rows.flatMap(({ b }) => (b === null ? [] : [b]));
    expect(mean(there)).toBeLessThan(-0.2);
    const model = await fitTable(rows, { columns: { a: real(), b: real() }, ...small, steps: 250 });
    const { rows: drawn } = await model.sample({ count: 2000 });
    const [a, b] = [0, 1].map((j) => drawn.map((row) => row[j] as number));
    expect(Math.abs(mean(b))).toBeLessThan(0.08);
    const variance = mean(b.map((v) => v * v));
    expect(Math.abs(variance - 1)).toBeLessThan(0.12);
    expect(Math.abs(mean(a.map((v, i) => v * b[i])) / Math.sqrt(variance) - 0.8)).toBeLessThan(
      0.06,
    );
  });
});

describe("integers", () => {
  it("are atoms if they are few, separate and not all equal", () => {
    const of = (values: readonly number[], domain = integer()) =>
      atomsOf(
        values.map((n) => [n]),
        product({ n: domain }),
      ).n;
    const upTo = (most: number): number[] => Array.from({ length: most + 1 }, (_, i) => i);
    expect(of(upTo(15))).toEqual([-23, 38]);
    expect(of(upTo(16))).toBeUndefined(); // from −24 to 40 are 65
    expect(of([3, 3, 3])).toBeUndefined();
    // log(20.5/19.5) is 0.03 of the deviation of log ½ and log 20½.
    expect(of([0, 0, 20, 20], count())).toBeUndefined();
    expect(of([0, 0, 3, 3], count())).toEqual([0, 14]);
  });

  it("of few values are atoms, whose likelihoods are their probabilities", async () => {
    const u = uniform(key("counts"), 2000, { dtype: "float64" }).data;
    const rows = Array.from(u, (v) => [v < 0.3 ? 0 : v < 0.6 ? 1 : v < 0.9 ? 2 : 5]);
    const model = await fitTable(rows, {
      columns: { n: count() },
      ...small,
      steps: 250,
      given: false,
    });
    expect(model.atoms).toEqual({ n: [0, 18] });
    const found = await model.logLikelihood(Array.from({ length: 20 }, (_, k) => [k]));
    const chances = Array.from(found, Math.exp);
    expect(Math.abs(chances.reduce((s, v) => s + v, 0) - 1)).toBeLessThan(0.02);
    const shares = (of: readonly (readonly Cell[])[]) =>
      [0, 1, 2, 5].map((k) => of.filter(([n]) => n === k).length / of.length);
    const drawn = shares((await model.sample({ count: 3000 })).rows);
    shares(rows).forEach((p, i) => {
      expect(Math.abs(chances[[0, 1, 2, 5][i]] - p)).toBeLessThan(0.02);
      expect(Math.abs(drawn[i] - p)).toBeLessThan(0.03);
    });
    expect(chances[19]).toBe(0);
  });

  it("of many values are spread over their intervals, and probabilities are integrals of a density", async () => {
    const z = normal(key("large"), 2000, { dtype: "float64" }).data;
    const rows = Array.from(z, (v) => [Math.round(200 * Math.exp(0.15 * v))]);
    const model = await fitTable(rows, {
      columns: { n: count() },
      ...small,
      steps: 250,
      given: false,
    });
    expect(model.atoms).toEqual({});
    const found = await model.logLikelihood(
      Array.from({ length: 260 }, (_, k) => [k + 110]),
      { spread: 2 },
    );
    expect(Math.abs(logSum(Array.from(found)))).toBeLessThan(0.02);
    const cell = (k: number): number =>
      0.15 * k * Math.sqrt(2 * Math.PI) * Math.exp(Math.log(k / 200) ** 2 / (2 * 0.15 ** 2));
    for (const k of [160, 180, 240])
      expect(Math.abs(found[k - 110] + Math.log(cell(k)))).toBeLessThan(0.12);
  });
});
