/**
 * Hamiltonian Monte Carlo, MALA and ULA as methods of samplePosterior; interrupted runs; data as
 * constants and as inputs.
 */
import { describe, expect, it } from "vitest";
import { positive, real } from "../../src/domain/index.ts";
import {
  add,
  div,
  exp,
  expandDims,
  fill,
  gradEach,
  log,
  mul,
  neg,
  square,
  squaredNorm,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { settingsOf } from "../../src/mcmc/chain-settings.ts";
import { stateAt } from "../../src/mcmc/chain-state.ts";
import { dataArrays } from "../../src/mcmc/data.ts";
import { lengthFrom } from "../../src/mcmc/hmc.ts";
import {
  type ChainMethodName,
  type ChainState,
  type ChainStore,
  type ChainsOptions,
  drawChains,
  type MetricName,
  openPosteriorSampler,
  type PosteriorModel,
  parseChains,
  type SamplePosteriorOptions,
  samplePosterior,
  serializeChains,
  summarise,
} from "../../src/mcmc/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { forward } from "../../src/sde/index.ts";

const points = (chains: number, n: number, seed: number) =>
  normal(key(seed), [chains, n], { dtype: "float64" });

const gaussian = (x: Tensor): Tensor => mul(squaredNorm(x), -0.5);

/** A chain's coordinate against a mean and an sd, in standard errors. */
function agrees(chains: readonly Float64Array[], mean: number, sd: number): void {
  const found = summarise(chains);
  expect(Math.abs(found.mean - mean) / found.meanError).toBeLessThan(4);
  expect(Math.abs(found.sd - sd) / found.sdError).toBeLessThan(4);
}

describe("methods", () => {
  const scales = [0.1, 1, 5];
  const target = (x: Tensor): Tensor =>
    gaussian(
      mul(
        x,
        scales.map((s) => 1 / s),
      ),
    );

  it.each(["hmc", "mala"] as const)(
    "%s samples a Gaussian whose scales its metric has to learn",
    async (method) => {
      const options: ChainsOptions = {
        key: key(2),
        method,
        warmup: 200,
        draws: 250,
        metric: "diagonal",
      };
      const chains = await drawChains(target, points(8, 3, 1), options);
      scales.forEach((sd, i) => {
        agrees(
          chains.map(({ x }) => x.filter((_, at) => at % 3 === i)),
          0,
          sd,
        );
      });
      const taken = chains.flatMap(({ leaves }) => [...leaves]);
      if (method === "mala") expect(new Set(taken)).toEqual(new Set([1]));
      else {
        expect(Math.min(...taken)).toBe(1);
        expect(Math.max(...taken)).toBe(19);
        expect(taken.reduce((a, b) => a + b, 0) / taken.length).toBeCloseTo(10, 0);
      }
    },
  );

  it("have uniformly 1 to 2L − 1 steps", () => {
    const counts = new Map<number, number>();
    for (let i = 0; i < 500; i++) {
      const steps = lengthFrom((i + 0.5) / 500, 3);
      counts.set(steps, (counts.get(steps) ?? 0) + 1);
    }
    expect([...counts]).toEqual([1, 2, 3, 4, 5].map((steps) => [steps, 100]));
  });

  it("ula has the variance 1/(1 − ε²/4) of its own steps on N(0, 1), not 1", async () => {
    const stepSize = 0.9;
    const options: ChainsOptions = {
      key: key(3),
      method: "ula",
      warmup: 0,
      stepSize,
      metric: "unit",
      draws: 160,
    };
    const chains = await drawChains(gaussian, points(64, 1, 4), options);
    const after = chains.map(({ x }) => x.subarray(40));
    agrees(after, 0, 1 / Math.sqrt(1 - stepSize ** 2 / 4));
    expect(Math.abs(summarise(after).sd - 1) / summarise(after).sdError).toBeGreaterThan(6);
  });

  it("ula is an Euler–Maruyama step of an SDE through φ", async () => {
    // log p of y = eˣ: a gamma distribution; in x its score drives dx = ½∇log p dt + dW.
    const domain = positive();
    const inX = (x: Tensor): Tensor => sum(sub(mul(x, 3), exp(x)), -1);
    const [stepSize, steps, chains] = [0.4, 5, 3];
    const root = key(8);
    const start = points(chains, 1, 5);
    const drawn = await drawChains(inX, start, {
      key: root,
      method: "ula",
      warmup: 0,
      draws: steps,
      stepSize,
      metric: "unit",
    });
    const langevin = {
      name: "Langevin",
      eventRank: 1,
      horizon: steps * stepSize ** 2,
      drift: (x: Tensor) => mul(gradEach(inX)(x), 0.5),
      diffusion: (x: Tensor) => ({ kind: "scalar" as const, value: fill([], 1, x.dtype) }),
    };
    const { samples } = await sample(forward(langevin, domain.map), {
      type: "float64",
      key: root,
      steps,
      start: { shape: [chains, 1], dtype: "float64", data: start.data.map(Math.exp) },
      noise: ({ step }) =>
        Float64Array.from({ length: chains }, (_, c) => {
          const stream = fold(fold(fold(root, c), "transition"), step);
          return normal(fold(stream, "momentum"), [1], { dtype: "float64" }).data[0];
        }),
    });
    drawn.forEach(({ x }, c) => {
      expect(Math.abs(Math.log(samples.data[c]) - x[steps - 1])).toBeLessThan(1e-12);
    });
  });
});

/** Keeps chains as their text, and stops the run after so many of them. */
function interrupted(after: number): {
  readonly store: ChainStore;
  readonly signal: AbortSignal;
  text(): string;
} {
  let text: string | undefined;
  let saved = 0;
  const stop = new AbortController();
  const store: ChainStore = {
    every: 0,
    load: async () => (text === undefined ? undefined : parseChains(text, "memory")),
    save: async (chains) => {
      if (++saved < after) return;
      text = serializeChains(chains);
      stop.abort();
    },
  };
  return { store, signal: stop.signal, text: () => text as string };
}

const normalModel: PosteriorModel = {
  parameters: { mu: real(), sigma: positive() },
  logDensity: ({ mu, sigma }, { y }) =>
    sub(
      mul(squaredNorm(div(sub(y, expandDims(mu, -1)), expandDims(sigma, -1))), -0.5),
      mul(log(sigma), y.shape[0]),
    ),
  data: { y: [null] },
};
const y = [1.2, 0.7, 3.1, 2.2, 1.9, 0.4];

describe("an interrupted run", () => {
  const cases: readonly (readonly [ChainMethodName, MetricName])[] = [
    ["nuts", "diagonal"],
    ["nuts", "low-rank"],
    ["nuts", "dense"],
    ["hmc", "diagonal"],
    ["ula", "diagonal"],
  ];
  it.each(cases)("continues to the same draws, bit for bit: %s, %s", async (method, metric) => {
    const options: SamplePosteriorOptions = {
      key: key(5),
      data: { y },
      warmup: 40,
      draws: 20,
      chains: 3,
      method,
      metric,
    };
    const whole = await samplePosterior(normalModel, options);
    for (const after of method === "nuts" ? [1, 52, 110] : [50]) {
      const { store, signal } = interrupted(after);
      await expect(samplePosterior(normalModel, { ...options, store, signal })).rejects.toThrow(
        /abort/i,
      );
      const rest = await samplePosterior(normalModel, {
        ...options,
        store: { ...store, every: Number.POSITIVE_INFINITY },
      });
      expect(rest.draws).toEqual(whole.draws);
      expect(rest.chains).toEqual(whole.chains);
    }
  });

  const settings = settingsOf({ draws: 3, warmup: 2 });
  const begun = stateAt(
    { x: Float64Array.of(-0, Number.NaN), slope: new Float64Array(2), value: -0 },
    settings,
  );

  it("is written as text and read again, with NaN and infinities", () => {
    const state = {
      ...begun,
      x: Float64Array.of(1, 2),
      size: -0,
      done: 3,
      depth: Uint8Array.of(7),
    };
    const one = Float64Array.of(Number.NEGATIVE_INFINITY);
    const drawn = {
      value: one,
      energy: one,
      acceptance: one,
      leaves: Uint32Array.of(9),
      diverged: Uint8Array.of(1),
    };
    const [back] = parseChains(serializeChains([{ ...state, ...drawn }]), "here");
    expect(back).toEqual({ ...state, ...drawn });
    expect(Object.is(back.size, -0)).toBe(true);
  });

  it("rejects other texts, and chains with inconsistent numbers", () => {
    const texts = [
      "",
      "{}",
      "null",
      '{"diffeoChains":1,"chains":[{}]}',
      '{"diffeoChains":2,"chains":[]}',
    ];
    const odd: Readonly<Record<string, unknown>>[] = [
      ...[
        { x: Float64Array.of(1) },
        { value: Float64Array.of(1) },
        { depth: Float64Array.of() },
        { done: -1 },
      ],
      ...[
        { looks: undefined },
        { inverseMass: new Float64Array(3) },
        { undefinedAt: new Float64Array(3) },
      ],
      ...[
        { size: { number: "toString" } },
        { at: { ...begun.at, x: new Float64Array(0) } },
        { more: 1 },
      ],
    ];
    for (const text of [
      ...texts,
      ...odd.map((each) => serializeChains([{ ...begun, ...each } as unknown as ChainState])),
    ])
      expect(() => parseChains(text, "here"), text).toThrow(
        /here does not contain chains that can be continued/,
      );
  });

  it("rejects other settings, and draws that are too many to save", async () => {
    const start = { shape: [1, 2], dtype: "float64" as const, data: new Float64Array(2) };
    const save = async (): Promise<void> => undefined;
    const from = (state: Partial<ChainState>, more: Partial<ChainsOptions> = {}) =>
      drawChains(gaussian, start, {
        ...{ key: key(1), draws: 3, warmup: 2, ...more },
        store: { load: async () => [{ ...begun, ...state }], save },
      });
    await expect(from({ done: 6 })).rejects.toThrow(
      /chain 1 was saved by a run with other settings/,
    );
    await expect(from({ done: 4 })).rejects.toThrow(/with other settings/);
    await expect(from({}, { metric: "dense" })).rejects.toThrow(/with other settings/);
    const two = { load: async () => [begun, begun], save };
    const one = { key: key(1), draws: 3, warmup: 2, chains: 1, store: two };
    await expect(drawChains(gaussian, start, one)).rejects.toThrow(
      "2 chains are saved, `chains` is 1",
    );
    const model: PosteriorModel = {
      parameters: { x: [real(), 2] },
      logDensity: ({ x }) => gaussian(x),
    };
    await expect(samplePosterior(model, one)).rejects.toThrow("2 chains are saved, `chains` is 1");
    await expect(from({}, { draws: 1e7 })).rejects.toThrow(
      /1 chains with 10000000 draws of 2 coordinates are too large to save/,
    );
  });
});

describe("data", () => {
  it("rejects deep nesting without a stack overflow", () => {
    const deep = JSON.parse(`${"[".repeat(20_000)}1${"]".repeat(20_000)}`);
    expect(() => dataArrays({ y: deep })).toThrow(/is nested deeper than 32 lists\. Give numbers/);
  });

  const options: SamplePosteriorOptions = { key: key(5), warmup: 50, draws: 20, chains: 2 };

  it("may be constants or inputs, and inputs may change", async () => {
    const open = openPosteriorSampler(normalModel, options);
    try {
      for (const numbers of [y, y.map((v) => v + 10), [...y, 4, 5]]) {
        const found = await open({ key: key(5), data: { y: numbers } });
        const fixed = await samplePosterior(normalModel, {
          ...options,
          data: { y: Float64Array.from(numbers) },
        });
        for (const name of ["mu", "sigma"])
          found.draws[name].data.forEach((v, i) => {
            expect(Math.abs(v / fixed.draws[name].data[i] - 1)).toBeLessThan(1e-6);
          });
        expect(found.data.y.shape).toEqual([numbers.length]);
      }
    } finally {
      await open.dispose();
    }
  });

  it("may be one dataset per chain, row by row, as inputs", async () => {
    const open = openPosteriorSampler(
      {
        parameters: { mu: real() },
        logDensity: ({ mu }, { y: rows }) => mul(squaredNorm(sub(rows, expandDims(mu, -1))), -0.5),
      },
      { chains: 4, warmup: 200, draws: 400 },
    );
    const { draws } = await open({
      key: key(5),
      data: { y: [0, 10, 20, 30].map((m) => [m - 1, m, m + 1]) },
    });
    await open.dispose();
    [0, 10, 20, 30].forEach((m, c) => {
      agrees([draws.mu.data.slice(c * 400, (c + 1) * 400)], m, Math.sqrt(1 / 3));
    });
  });

  it("may determine the number of parameters", async () => {
    const model: PosteriorModel = {
      parameters: ({ k }) => ({ beta: [real(), k as number] }),
      logDensity: ({ beta }) => gaussian(beta),
    };
    const { draws } = await samplePosterior(model, { ...options, draws: 3, data: { k: 4 } });
    expect(draws.beta.shape).toEqual([2, 3, 4]);
  });

  it.each([
    [{}, /data has no "y"/],
    [{ y: 3 }, /data: y has shape \[\], the model expects \[/],
    [{ y: [1, "two"] as never }, /data: y\[1\] is string, not a number/],
    [{ y: [1, Number.NaN] }, /data: y\[1\] is NaN/],
  ])("are checked against the shapes of the model: %j", async (data, message) => {
    await expect(samplePosterior(normalModel, { ...options, data })).rejects.toThrow(message);
  });
});

describe("a log-density that is NaN", () => {
  it("at starting points is an error that names a point", async () => {
    const model: PosteriorModel = {
      parameters: { mu: real(), tau: [positive(), 6] },
      logDensity: ({ mu }) => log(neg(square(mu))),
    };
    await expect(samplePosterior(model, { key: key(1) })).rejects.toThrow(
      /chain 1 has no starting point after 100 tries: the log-density is NaN at mu = -?[\d.e-]+, tau = \[[\d., e-]+…\]/,
    );
  });

  it("during sampling is a warning that says where and how often", async () => {
    const model: PosteriorModel = {
      parameters: { mu: real() },
      // N(0, 1) where mu > −1, no number elsewhere.
      logDensity: ({ mu }) => add(mul(square(mu), -0.5), mul(log(add(mu, 1)), 0)),
    };
    const { warnings, chains, draws } = await samplePosterior(model, {
      key: key(1),
      warmup: 200,
      draws: 200,
    });
    const times = chains.reduce((total, { undefinedCount }) => total + undefinedCount, 0);
    expect(times).toBeGreaterThan(0);
    expect(warnings().join("\n")).toMatch(
      new RegExp(
        `log-density or its gradient was NaN ${times} times, first at mu = -[1-9][\\d.]*\\. `,
      ),
    );
    expect(draws.mu.data.every((v) => v > -1)).toBe(true);
  });
});

describe("bounds that depend on other parameters", () => {
  it("may be those of an array: order statistics below a maximum", async () => {
    // m has the density 3m² on (0, 1), u₁ and u₂ are even on (0, m): then m is a maximum of three,
    // all even on (0, 1).
    const model: PosteriorModel = {
      parameters: {
        m: { above: () => 0, below: () => 1 },
        u: [{ above: () => 0, below: ({ m }) => m }, 2],
        v: [{ below: ({ u }) => u }, 2],
      },
      logDensity: ({ u, v }) => sum(sub(v, u), -1),
    };
    const { summary, draws } = await samplePosterior(model, {
      key: key(7),
      chains: 8,
      warmup: 150,
      draws: 200,
    });
    const rows = summary();
    const known: readonly (readonly [string, number, number])[] = [
      ["m", 3 / 4, Math.sqrt(3 / 80)],
      // E u = E m/2, E u² = E m²/3 = (3/5)/3.
      ["u[1]", 3 / 8, Math.sqrt(1 / 5 - 9 / 64)],
      ["u[2]", 3 / 8, Math.sqrt(1 / 5 - 9 / 64)],
      ["v[1]", 3 / 8 - 1, Math.sqrt(1 / 5 - 9 / 64 + 1)],
    ];
    for (const [name, mean, sd] of known) {
      expect(Math.abs(rows[name].mean - mean) / rows[name].meanError, name).toBeLessThan(4);
      expect(Math.abs(rows[name].sd - sd) / rows[name].sdError, name).toBeLessThan(4);
    }
    draws.u.data.forEach((u, i) => {
      expect(draws.v.data[i]).toBeLessThan(u);
      expect(u).toBeLessThan(draws.m.data[i >> 1]);
    });
  });
});
