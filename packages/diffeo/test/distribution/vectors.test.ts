/**
 * Distributions of vectors, matrices and categories, and those made of others: densities compared
 * with SciPy (make_vectors.py), and samples with densities.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expMap } from "../../src/bijector/index.ts";
import {
  autoregression,
  categorical,
  censored,
  type Distribution,
  dirichlet,
  dirichletMultinomial,
  exponential,
  gaussianProcess,
  gaussianProcessPrediction,
  hiddenMarkov,
  hurdle,
  independent,
  inverseWishart,
  type Kernel,
  linear,
  lkj,
  logNormal,
  matern,
  mixture,
  multinomial,
  multivariateNormal,
  multivariateStudentT,
  normal,
  orderedLogistic,
  periodic,
  poisson,
  randomWalk,
  rationalQuadratic,
  sampleFrom,
  squaredExponential,
  stateProbabilities,
  studentT,
  transformed,
  truncated,
  vonMises,
  weibull,
  wishart,
  zeroInflated,
} from "../../src/distribution/index.ts";
import type { Domain } from "../../src/domain/index.ts";
import {
  add,
  constant,
  grad,
  input,
  type Nested,
  reference,
  reshape,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { cholesky } from "../../src/host/index.ts";
import { key } from "../../src/random/index.ts";

const scipy = JSON.parse(
  readFileSync(new URL("vectors.json", import.meta.url), "utf8"),
) as Readonly<Record<string, readonly number[]>>;

const valuesOf = (t: Tensor): number[] => Array.from(reference([t], new Map())[0]);
const logAt = (d: Distribution, x: Nested): number[] =>
  valuesOf(d.logDensity(constant(x, "float64")));

const S = [
  [2, 0.6, -0.3],
  [0.6, 1, 0.2],
  [-0.3, 0.2, 0.5],
];
const W = [
  [3, 0.5, 0.1],
  [0.5, 2, -0.4],
  [0.1, -0.4, 1.5],
];
const R = [
  [1, 0.4, -0.3],
  [0.4, 1, 0.2],
  [-0.3, 0.2, 1],
];
/** S = L Lᵀ */
const factor = cholesky(S.flat(), 3) as Float64Array;
const L = [0, 3, 6].map((i) => Array.from(factor.subarray(i, i + 3)));
/** A precision. */
const P = [
  [0.7, -0.5, 0.6],
  [-0.5, 1.4, -0.9],
  [0.6, -0.9, 2.7],
];
const M = [0.5, -1, 2];
const shares = [0.2, 0.5, 0.3];
const logits = [-1, 0.5, 1.2];
const A = [0.7, 2.5, 1.3];
const cuts = [-1, 0.5, 2];
const points = [
  [0.2, -0.7, 2.5],
  [3, 1, 1],
  [-4, -2, 0],
];
const counts = [
  [2, 5, 3],
  [0, 10, 0],
  [4, 0, 6],
];
const walk = [0.3, 0.5, -0.2, 1];
const ar = [1, 0.4, -0.3, 0.2];
const x5 = [0, 0.4, 1.1, 2, 2.2];
const y5 = [0.1, 0.5, -0.2, 0.9, 1];
const chain = {
  length: 5,
  initial: [0.3, 0.7],
  transition: [
    [0.9, 0.1],
    [0.4, 0.6],
  ],
  emission: normal([0, 1], 0.5),
};
const process = (kernel: Kernel) => gaussianProcess({ x: x5, kernel, noise: 0.3, jitter: 0 });
const wide = { amplitude: 1.5, scale: 0.8 };

const exact: readonly (readonly [name: string, Distribution, Nested])[] = [
  ["multivariateNormal", multivariateNormal({ mean: M, covariance: S }), points],
  ["multivariateNormal", multivariateNormal({ mean: M, cholesky: L }), points],
  ["multivariateStudentT", multivariateStudentT({ degrees: 3.5, mean: M, shape: S }), points],
  ["multivariateStudentT", multivariateStudentT({ degrees: 3.5, mean: M, cholesky: L }), points],
  ["dirichlet", dirichlet(A), [shares, [1e-6, 0.4, 0.599999], [0.9, 0.05, 0.05]]],
  ["lkj", lkj(3, [1, 2.5, 0.6]), R],
  ["wishart", wishart([4, 7.5], S), W],
  ["inverseWishart", inverseWishart([4, 7.5], S), W],
  ["categorical", categorical(shares), [0, 1, 2]],
  ["categorical, by logits", categorical({ logits }), [0, 1, 2]],
  ["multinomial", multinomial(10, shares), counts],
  ["multinomial", multinomial(10, { logits: shares.map(Math.log) }), counts],
  ["dirichletMultinomial", dirichletMultinomial(10, A), counts],
  ["orderedLogistic", orderedLogistic(0.7, cuts), [0, 1, 2, 3]],
  ["zeroInflated", zeroInflated(0.3, poisson(2.5)), [0, 1, 6]],
  ["hurdle", hurdle(0.3, poisson(2.5)), [0, 1, 6]],
  ["truncated", truncated(normal(1, 2), { above: -1, below: 3 }), [0, 2.9]],
  ["truncated, above", truncated(normal(), { above: 8 }), [8.5, 10]],
  ["censored", censored(normal(1, 2), { above: -1, below: 3 }), [-1, 0.5, 3]],
  ["mixture", mixture([0.3, 0.7], [normal(), studentT(3, 2, 0.5)]), [-1, 0.5, 4]],
  ["randomWalk", randomWalk({ length: 4, sd: 0.7, start: 0.2, drift: 0.1 }), walk],
  [
    "autoregression",
    autoregression({
      length: 4,
      coefficients: [0.6, -0.3],
      sd: 0.8,
      intercept: 0.1,
      before: [0.5, 1.5],
    }),
    ar,
  ],
  ["hiddenMarkov", hiddenMarkov(chain), y5],
  ["gp squaredExponential", process(squaredExponential(wide)), y5],
  ["gp matern 1/2", process(matern({ ...wide, smoothness: 0.5 })), y5],
  ["gp matern 3/2", process(matern(wide)), y5],
  ["gp matern 5/2", process(matern({ ...wide, smoothness: 2.5 })), y5],
  ["gp rationalQuadratic", process(rationalQuadratic({ ...wide, mixture: 1.5 })), y5],
  ["gp periodic", process(periodic({ ...wide, period: 1.7 })), y5],
  ["gp linear", process(linear({ amplitude: 1.5, centre: 0.5 })), y5],
];

describe("a density", () => {
  it.each(exact)("of %s is SciPy's", (name, d, x) => {
    const found = logAt(d, x);
    const wanted = scipy[name];
    expect(found.length).toBe(wanted.length);
    found.forEach((v, i) => {
      if (!(Math.abs(v - wanted[i]) <= 2e-11 * Math.max(1, Math.abs(wanted[i]))))
        expect.fail(`entry ${i}: ${v}, not ${wanted[i]}`);
    });
  });

  it("by a precision is that by its inverse", () => {
    const [p, s] = [
      multivariateNormal({ mean: M, precision: P }),
      multivariateNormal({ mean: M, covariance: inverseOf(P) }),
    ];
    logAt(p, points).forEach((v, i) => {
      expect(v).toBeCloseTo(logAt(s, points)[i], 10);
    });
    const variance = valuesOf((p.variance as () => Tensor)());
    inverseOf(P).forEach((row, i) => {
      expect(variance[i]).toBeCloseTo(row[i], 12);
    });
  });
});

/** By cofactors. */
function inverseOf(a: readonly (readonly number[])[]): number[][] {
  const minor = (i: number, j: number): number => {
    const [r, c] = [i, j].map((k) => [0, 1, 2].filter((v) => v !== k));
    return a[r[0]][c[0]] * a[r[1]][c[1]] - a[r[0]][c[1]] * a[r[1]][c[0]];
  };
  const det = [0, 1, 2].reduce((s, j) => s + (-1) ** j * a[0][j] * minor(0, j), 0);
  return [0, 1, 2].map((i) => [0, 1, 2].map((j) => ((-1) ** (i + j) * minor(j, i)) / det));
}

const COUNT = 3000;

/**
 * Samples x in free coordinates with g = ∇ log p there have E[g] = 0 and E[x_i g_i] = −1: Stein's
 * identity, which a wrong scale, shift or shape of either side breaks.
 */
const continuous: Readonly<Record<string, Distribution>> = {
  "multivariateNormal, by covariance": multivariateNormal({ mean: M, covariance: S }),
  "multivariateNormal, by factor": multivariateNormal({ mean: M, cholesky: L }),
  "multivariateNormal, by precision": multivariateNormal({ mean: M, precision: P }),
  multivariateStudentT: multivariateStudentT({ degrees: 4.5, mean: M, shape: S }),
  dirichlet: dirichlet([1.7, 2.5, 4]),
  lkj: lkj(3, 1.5),
  wishart: wishart(6.5, S),
  inverseWishart: inverseWishart(7.5, S),
  randomWalk: randomWalk({ length: 4, sd: 0.7, start: 0.2, drift: 0.1 }),
  autoregression: autoregression({
    length: 4,
    coefficients: [0.6, -0.3],
    sd: 0.8,
    intercept: 0.1,
    before: [0.5, 1.5],
  }),
  hiddenMarkov: hiddenMarkov(chain),
  "mixture, of a list": mixture([0.3, 0.7], [normal(), studentT(6, 2, 0.5)]),
  "mixture, of one": mixture([1, 3], normal([-1, 2], [0.5, 1])),
  "mixture, of vectors": mixture(
    [0.5, 0.5],
    multivariateNormal({ mean: [M, [0, 0, 0]], covariance: S }),
  ),
  truncated: truncated(normal(1, 2), { above: -1, below: 3 }),
  transformed: transformed(normal(0.4, 0.6), expMap()),
  independent: independent(normal([1, 2], [0.5, 3])),
  "gaussianProcess, at other points": gaussianProcessPrediction({
    x: x5,
    y: y5,
    at: [0.2, 3],
    kernel: squaredExponential(wide),
    noise: 0.3,
  }),
};

describe.each(Object.entries(continuous))("samples of %s", (name, d) => {
  it("have its density, in free coordinates", () => {
    const domain = d.support as Domain;
    const rows = sampleFrom(d, key(name), COUNT, "float64").data as Float64Array;
    const free = Float64Array.from(
      Array.from({ length: COUNT }, (_, i) =>
        domain.encode(Array.from(rows.subarray(i * d.dimension, (i + 1) * d.dimension)), []),
      ).flat(),
    );
    const y = constant({ shape: [COUNT, domain.size], dtype: "float64", data: free } as never);
    const x = domain.map.inverse(y);
    const logDensity = (z: Tensor): Tensor => {
      const found = domain.map.forward(z);
      const values = domain.values?.(found) ?? found;
      return add(d.logDensity(reshape(values, [COUNT, ...d.event])), domain.map.logDet(z));
    };
    const z = input("z", x.shape, "float64");
    const [at] = reference([x], new Map());
    const [g] = reference([grad((t: Tensor) => sum(logDensity(t)))(z)], new Map([[z, at]]));
    const n = x.shape[1];
    for (let k = 0; k < n; k++)
      for (const [of, wanted] of [
        [(i: number) => g[i], 0],
        [(i: number) => at[i] * g[i], -1],
      ] as const) {
        let [m, s] = [0, 0];
        for (let i = k; i < g.length; i += n) m += of(i) / COUNT;
        for (let i = k; i < g.length; i += n) s += (of(i) - m) ** 2 / COUNT;
        const t = (m - wanted) / Math.sqrt(s / COUNT);
        if (!(Math.abs(t) < 4.5)) expect.fail(`coordinate ${k}: ${m}, not ${wanted} (${t} errors)`);
      }
  });

  it.runIf(d.mean && name !== "multivariateStudentT")("have its mean", () => {
    const rows = sampleFrom(d, key(`${name} again`), COUNT, "float64").data as Float64Array;
    valuesOf((d.mean as () => Tensor)()).forEach((wanted, k) => {
      let [m, s] = [0, 0];
      for (let i = k; i < rows.length; i += d.dimension) m += rows[i] / COUNT;
      for (let i = k; i < rows.length; i += d.dimension) s += (rows[i] - m) ** 2 / COUNT;
      expect(Math.abs(m - wanted)).toBeLessThan(4.5 * Math.sqrt(s / COUNT) + 1e-12);
    });
  });
});

const discrete: Readonly<Record<string, readonly [Distribution, values: number[][] | number[]]>> = {
  categorical: [categorical(shares), [0, 1, 2]],
  "categorical, by logits": [categorical({ logits }), [0, 1, 2]],
  orderedLogistic: [orderedLogistic(0.7, cuts), [0, 1, 2, 3]],
  zeroInflated: [zeroInflated(0.3, poisson(2.5)), [0, 1, 2, 3, 4, 5]],
  hurdle: [hurdle(0.3, poisson(2.5)), [0, 1, 2, 3, 4, 5]],
  multinomial: [multinomial(2, shares), pairs()],
  "multinomial, by logits": [multinomial(2, { logits }), pairs()],
  dirichletMultinomial: [dirichletMultinomial(2, A), pairs()],
  "mixture of counts": [mixture([0.5, 0.5], poisson([1, 4])), [0, 1, 2, 3, 4, 5]],
};

function pairs(): number[][] {
  return [0, 1, 2].flatMap((a) =>
    [0, 1, 2].filter((b) => a + b <= 2).map((b) => [a, b, 2 - a - b]),
  );
}

describe.each(Object.entries(discrete))("samples of %s", (name, [d, values]) => {
  it("have its probabilities, which sum to 1", () => {
    const p = logAt(d, values as Nested).map(Math.exp);
    const all = p.reduce((a, b) => a + b);
    if (name.startsWith("zero") || name === "hurdle" || name.startsWith("mixture"))
      expect(all).toBeLessThan(1);
    else expect(all).toBeCloseTo(1, 12);
    const rows = sampleFrom(d, key(name), COUNT, "float64").data as Float64Array;
    const text = Array.from({ length: COUNT }, (_, i) =>
      rows.subarray(i * d.dimension, (i + 1) * d.dimension).join(),
    );
    (values as (number | number[])[]).forEach((v, k) => {
      const found = text.filter((t) => t === String(v)).length / COUNT;
      expect(Math.abs(found - p[k])).toBeLessThan(4.5 * Math.sqrt((p[k] * (1 - p[k])) / COUNT));
    });
  });
});

describe("made of others", () => {
  it("transformed by exp is log-normal", () => {
    const d = transformed(normal(0.4, 0.6), expMap());
    logAt(d, [0.1, 1, 5]).forEach((v, i) => {
      expect(v).toBeCloseTo(logAt(logNormal(0.4, 0.6), [0.1, 1, 5])[i], 12);
    });
  });

  it("censored samples are on the bounds with the probability of the mass beyond", () => {
    const d = censored(weibull(1.5, 10), { below: 12 });
    const rows = sampleFrom(d, key(1), COUNT, "float64").data as Float64Array;
    const share = rows.filter((v) => v === 12).length / COUNT;
    const p = Math.exp(-(1.2 ** 1.5));
    expect(Math.abs(share - p)).toBeLessThan(4.5 * Math.sqrt((p * (1 - p)) / COUNT));
    expect(logAt(d, [12])[0]).toBeCloseTo(-(1.2 ** 1.5), 12);
  });

  it("independent sums over the axes of one value", () => {
    const base = exponential([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const one = independent(base, 1);
    expect([one.batch, one.event]).toEqual([[2], [3]]);
    const x = [
      [0.1, 0.2, 0.3],
      [1, 2, 3],
    ];
    const each = logAt(base, x);
    expect(logAt(one, x)).toEqual([each[0] + each[1] + each[2], each[3] + each[4] + each[5]]);
  });

  it("state probabilities are those of all paths", () => {
    const p = valuesOf(stateProbabilities(chain, y5));
    const density = (y: number, k: number): number => Math.exp(-2 * (y - k) ** 2);
    const wanted = new Array(10).fill(0);
    let all = 0;
    for (let path = 0; path < 32; path++) {
      const z = [0, 1, 2, 3, 4].map((t) => (path >> t) & 1);
      let w = chain.initial[z[0]] * density(y5[0], z[0]);
      for (let t = 1; t < 5; t++) w *= chain.transition[z[t - 1]][z[t]] * density(y5[t], z[t]);
      all += w;
      for (let t = 0; t < 5; t++) wanted[2 * t + z[t]] += w;
    }
    p.forEach((v, i) => {
      expect(v).toBeCloseTo(wanted[i] / all, 12);
    });
  });

  it("a process without noise at its own points equals the observations", () => {
    const kernel = squaredExponential(wide);
    const d = gaussianProcessPrediction({ x: x5, y: y5, at: x5, kernel, jitter: 1e-10 });
    valuesOf((d.mean as () => Tensor)()).forEach((v, i) => {
      expect(v).toBeCloseTo(y5[i], 6);
    });
  });

  const wrong: readonly (readonly [() => unknown, string])[] = [
    [
      () => multivariateNormal({ mean: M }),
      "0 of `covariance`, `cholesky` and `precision` are given",
    ],
    [() => multivariateNormal({ mean: [0, 1], covariance: S }), "do not broadcast"],
    [
      () => truncated(vonMises(0, 1), { above: 0 }),
      "the distribution function of vonMises is not available",
    ],
    [() => truncated(normal(), {}), "no bounds are given"],
    [() => mixture([0.5, 0.5], [normal(), normal(), normal()]), "weights of shape [2] for 3"],
    [() => mixture([0.5, 0.5], [normal(), poisson(1)]), "no common density"],
    [() => hiddenMarkov({ ...chain, emission: normal(0, 1) }), "one value per state"],
    [() => zeroInflated(0.3, normal()), "normal is not a distribution of counts"],
    [() => transformed(exponential(1), expMap()), "of kind positive"],
    [
      () => autoregression({ length: 3, coefficients: [1, 2], sd: 1, before: [1] }),
      "`coefficients` has 2 numbers, `before` has 1",
    ],
  ];
  it.each(wrong)("wrong parameters are named: %#", (make, message) => {
    expect(make).toThrow(message);
  });
});
