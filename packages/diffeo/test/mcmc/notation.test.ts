import { describe, expect, it } from "vitest";
import {
  beta,
  halfNormal,
  normal,
  pareto,
  poisson,
  uniform,
} from "../../src/distribution/index.ts";
import { between, ordered, positive, real, simplex } from "../../src/domain/index.ts";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  constant,
  log,
  matvec,
  mul,
  reference,
  sub,
  type Tensor,
  take,
} from "../../src/graph/index.ts";
import { mapValues } from "../../src/host/index.ts";
import { dataArrays } from "../../src/mcmc/data.ts";
import {
  type Data,
  model,
  openPosteriorSampler,
  type Program,
  samplePosterior,
} from "../../src/mcmc/index.ts";
import { boundModel } from "../../src/mcmc/model.ts";
import { key } from "../../src/random/index.ts";

const float64 = (data: Data) => mapValues(dataArrays(data), (a) => constant(a, "float64"));

/** The log-density of chains' values, in constrained coordinates. */
const densityAt = (program: Program, data: Data, values: Data): number[] =>
  Array.from(reference([model(program).logDensity(float64(values), float64(data))], new Map())[0]);

const bind = (program: Program, data: Data = {}) =>
  boundModel(model(program), data, dataArrays(data), false, {});

const normalLog = (x: number, m: number, s: number): number =>
  -0.5 * ((x - m) / s) ** 2 - Math.log(s) - 0.5 * Math.log(2 * Math.PI);

describe("a model of statements", () => {
  it("has the density of its statements, for every chain", () => {
    const program: Program = ({ parameter, observe }, { x, group }) => {
      const mu = parameter("mu", normal(0, 5));
      const theta = parameter("theta", normal(mu, 2), { shape: 3 });
      const sigma = parameter("sigma", halfNormal(1));
      observe("y", normal(add(take(theta, group), mul(mu, x)), sigma));
    };
    const data = { x: [0.5, -1, 2, 3], group: [0, 2, 2, 1], y: [1, 2, 0, -1] };
    const chains = {
      mu: [0.3, -1],
      theta: [
        [1, 2, 3],
        [0, -1, 0.5],
      ],
      sigma: [0.7, 2],
    };
    const expected = [0, 1].map((c) => {
      const [mu, theta, sigma] = [chains.mu[c], chains.theta[c], chains.sigma[c]];
      const likelihood = data.y.map((y, i) =>
        normalLog(y, theta[data.group[i]] + mu * data.x[i], sigma),
      );
      return [
        normalLog(mu, 0, 5),
        ...theta.map((t) => normalLog(t, mu, 2)),
        Math.LN2 + normalLog(sigma, 0, 1),
        ...likelihood,
      ].reduce((a, b) => a + b);
    });
    densityAt(program, data, chains).forEach((v, c) => {
      expect(v).toBeCloseTo(expected[c], 12);
    });
  });

  it("takes constraints from supports, domains and bounds, also those that depend on parameters", async () => {
    const bound = bind(({ parameter, factor }) => {
      const a = parameter("a", uniform(0, 2));
      const b = parameter("b", { above: 0, below: sub(2, a) }, { shape: 3 });
      const m = parameter("m", normal(0, 2), { domain: ordered(2) });
      const p = parameter("p", simplex(3), { shape: 2 });
      const c = parameter("c", pareto([1, 2], 3));
      for (const t of [a, b, m, p, c]) factor("all", t);
    });
    expect(bound.space.parts.map(({ name, shape }) => [name, shape])).toEqual([
      ["a", []],
      ["b", [3]],
      ["m", [2]],
      ["p", [2, 3]],
      ["c", [2]],
    ]);
    const x = Float64Array.from(
      { length: 2 * bound.space.dimension },
      (_, i) => Math.sin(3 * i) * 3,
    );
    const { a, b, m, c } = await bound.show([x]);
    for (let d = 0; d < 2; d++) {
      expect(a.data[d] > 0 && a.data[d] < 2).toBe(true);
      for (let i = 0; i < 3; i++)
        expect(b.data[3 * d + i] > 0 && b.data[3 * d + i] < 2 - a.data[d]).toBe(true);
      expect(m.data[2 * d + 1]).toBeGreaterThan(m.data[2 * d]);
      expect(c.data[2 * d] > 1 && c.data[2 * d + 1] > 2).toBe(true);
    }
    await bound.dispose();
  });

  it("has the same posterior, centred or not", async () => {
    const of = (centred: boolean) =>
      bind(
        ({ parameter, observe }, { y }) => {
          const mu = parameter("mu", normal(0, 5));
          const tau = parameter("tau", halfNormal(3));
          const theta = parameter("theta", normal(mu, tau), { shape: y.shape[0], centred });
          observe("y", normal(theta, 1));
        },
        { y: [1, 3] },
      );
    const [centred, not] = [of(true), of(false)];
    // θ = μ + τz, and |dθ/dz| = τ².
    const [mu, logTau, z] = [0.4, -0.3, [1.2, -0.7]];
    const tau = Math.exp(logTau);
    const density = async (bound: typeof not, x: readonly number[]): Promise<number> => {
      const f = compile((t: Tensor) => bound.target.logDensity(t, {}), [[1, 4]], {
        type: "float64",
      });
      const { data } = await f(Float64Array.from(x));
      await f.dispose();
      return Number(data[0]);
    };
    const inCentred = await density(centred, [mu, logTau, ...z.map((v) => mu + tau * v)]);
    const standard = await density(not, [mu, logTau, ...z]);
    expect(standard).toBeCloseTo(inCentred + 2 * logTau, 12);
    const shown = await not.show([Float64Array.of(mu, logTau, ...z)]);
    expect(shown.theta.data[0]).toBeCloseTo(mu + tau * z[0], 12);
    await centred.dispose();
    await not.dispose();
  });

  it("is sampled with derived quantities", async () => {
    const regression = model(({ parameter, observe, derive }, { X, y }) => {
      const b = parameter("beta", normal(0, 10), { shape: 2 });
      const sigma = parameter("sigma", halfNormal(5));
      observe("y", normal(matvec(X, b), sigma));
      derive("atTwo", add(take(b, 0), mul(take(b, 1), 2)));
      derive("count", y.shape[0]);
    });
    const X = Array.from({ length: 40 }, (_, i) => [1, i / 20 - 1]);
    const y = X.map(([, x], i) => 1 + 2 * x + 0.3 * Math.sin(17 * i));
    const options = { key: key(3), chains: 2, draws: 100, warmup: 100 };
    const first = await samplePosterior(regression, { ...options, data: { X, y } });
    const one = first.summary();
    expect(one["beta[2]"].mean).toBeCloseTo(2, 0);
    expect(one.atTwo.mean).toBeCloseTo(one["beta[1]"].mean + 2 * one["beta[2]"].mean, 10);
    expect(one.count.mean).toBe(40);
    expect(Object.keys(first.draws)).toEqual(["beta", "sigma", "atTwo", "count"]);
  });

  it("warns of an improper posterior if the data do not identify flat parameters", async () => {
    const m = model(({ parameter, observe }) => {
      const a = parameter("a", real());
      const b = parameter("b", real());
      observe("y", normal(add(a, b), 1));
    });
    const posterior = await samplePosterior(m, {
      data: { y: [1, 2] },
      key: key(2),
      draws: 100,
      warmup: 100,
      device: "wasm",
    });
    expect(posterior.warnings().join("\n")).toContain(
      "a, b have a flat density and the chains disagree: the posterior may be improper",
    );
  });

  it("checks the shapes of data that it declares", async () => {
    const line = model({ x: [null], y: [null] }, ({ parameter, observe }, { x }) => {
      const slope = parameter("slope", normal(0, 1));
      observe("y", normal(mul(slope, x), 1));
    });
    const few = { key: key(1), chains: 1, draws: 10, warmup: 10, device: "wasm" } as const;
    const data = { x: [1, 2], y: [1, 3], note: "not used" as never };
    const { draws } = await samplePosterior(line, { ...few, data });
    expect(Object.keys(draws)).toEqual(["slope"]);
    await expect(samplePosterior(line, { ...few, data: { ...data, x: 3 } })).rejects.toThrow(
      "x has shape [], the model expects [any]",
    );
    await expect(samplePosterior(line, { ...few, data: { x: [1] } })).rejects.toThrow('no "y"');
    expect(() => model(3 as never)).toThrow("model: the program is a number");
  });

  it("takes bounds from the data of each call", async () => {
    const m = model(({ parameter, factor }, { top }) => {
      const u = parameter("u", { above: 0, below: top }, { shape: 2 });
      factor("flat", mul(u, 0));
    });
    const sampler = openPosteriorSampler(m, { chains: 2, draws: 60, warmup: 40 });
    for (const top of [
      [1, 2],
      [10, 20],
    ]) {
      const { draws } = await sampler({ data: { top }, key: key(1) });
      const largest = [0, 1].map((i) => Math.max(...draws.u.data.filter((_, k) => k % 2 === i)));
      largest.forEach((v, i) => {
        expect(v > 0.8 * top[i] && v < top[i]).toBe(true);
      });
    }
    await sampler.dispose();
  });
});

describe("a wrong model", () => {
  const y = { y: [1, 2, 3] };
  const wrong: readonly (readonly [name: string, Program, Data, message: string])[] = [
    [
      "whose observation has another shape",
      ({ parameter, observe }) =>
        observe("y", normal(parameter("mu", normal(0, 1), { shape: 2 }), 1)),
      y,
      'observe("y"): the value has shape [3], and normal has values of shape [2]',
    ],
    [
      "with operands that do not fit",
      ({ parameter, observe }, { y: seen }) => {
        const mu = parameter("mu", normal(0, 1), { shape: 2 });
        observe("y", normal(add(mu, seen), 1));
      },
      y,
      'in the model, after parameter("mu"): add: shapes [2] and [3] do not broadcast',
    ],
    [
      "with a distribution whose parameters do not fit",
      ({ parameter }, { y: seen }) => {
        parameter("mu", normal(seen, [1, 2]));
      },
      y,
      "at the beginning of the model: normal: mean [3], sd [2] do not broadcast",
    ],
    [
      "of which data are impossible",
      ({ parameter, observe }) => observe("y", poisson(parameter("r", halfNormal(1)))),
      { y: [1, 2.5] },
      'observe("y"): y[1]: 2.5 is not an integer, so it is outside the support of poisson',
    ],
    [
      "that calculates as if tensors were numbers",
      ({ parameter, observe }) => {
        const b = parameter("b", normal(0, 1)) as unknown as number;
        observe("y", normal(b * 2, 1));
      },
      y,
      'in the model, after parameter("b"): a tensor is used as a plain number, with +, −, *, /, < or >, or in a function of Math. Write add(a, b)',
    ],
    [
      "with a parameter that is discrete",
      ({ parameter }) => {
        parameter("k", poisson(2));
      },
      y,
      'parameter("k"): poisson is discrete, and chains need gradients',
    ],
    [
      "with a parameter that is used before it is declared",
      ({ parameter }) => {
        const early = (): Tensor => later;
        parameter("a", normal(early(), 1));
        const later = parameter("later", normal(0, 1));
      },
      y,
      'at the beginning of the model: "later" is used before it is declared',
    ],
    [
      "with a name that is declared nowhere",
      ({ observe }) => {
        observe("y", normal(new Function("return tau")() as number, 1));
      },
      y,
      'at the beginning of the model: "tau" is not defined. Declare it, const tau = parameter("tau", …)',
    ],
    [
      "with a parameter that is missing from the density",
      ({ parameter, observe }) => {
        parameter("tau", positive());
        observe("y", normal(parameter("mu", real()), 1));
      },
      y,
      'parameter("tau") does not appear in the density',
    ],
    [
      "with a name that is given twice",
      ({ parameter }) => {
        parameter("a", normal());
        parameter("a", normal());
      },
      y,
      'parameter("a"): the name is already used',
    ],
    [
      "with more statements than a graph can hold",
      ({ parameter }) => {
        for (let i = 0; i < 5001; i++) parameter(`x${i}`, normal());
      },
      y,
      "the model has more than 5,000 statements. Declare vectors in place of loops",
    ],
    [
      "that asks for data that are not there",
      (_, { x }) => {
        log(x);
      },
      y,
      'the model reads "x", which the data do not have. They are y.',
    ],
    [
      "whose shape does not fit its distribution",
      ({ parameter }) => {
        parameter("a", normal([0, 1, 2], 1), { shape: 2 });
      },
      y,
      'parameter("a"): its value has shape [2], and normal has values of shape [3]',
    ],
    [
      "that is not centred where nothing can be",
      ({ parameter }) => {
        parameter("a", beta(1, 2), { centred: false });
      },
      y,
      "beta has no location and scale",
    ],
    [
      "with a logarithm of a plain number",
      ({ parameter }) => {
        parameter("a", normal(log(10), 1));
      },
      y,
      "Functions of plain numbers give float32",
    ],
    [
      "with an exponential of a plain number beside a parameter",
      ({ parameter }) => {
        mul(parameter("a", normal()), log(10));
      },
      y,
      "use Math.exp and the like there, or cast",
    ],
    [
      "with a factor of a plain number",
      ({ parameter, factor }) => {
        parameter("a", normal());
        factor("f", log(10));
      },
      y,
      'factor("f"): the term is float32. Functions of plain numbers give float32',
    ],
    [
      "that is async",
      async ({ parameter }) => {
        parameter("a", normal());
      },
      y,
      "the function of the model is async. Write it without async and await",
    ],
    [
      "without a density",
      ({ parameter }) => void parameter("u", between(0, 1)),
      y,
      "has no density",
    ],
  ];

  it.each(wrong)("reports %s", async (_, program, data, message) => {
    await expect(
      samplePosterior(model(program), { data, key: key(1), draws: 10, warmup: 10 }),
    ).rejects.toThrow(message);
  });
});
