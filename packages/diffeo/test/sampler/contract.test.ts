/**
 * Properties of every sampler: reproducibility by key, correct counts, and errors that say what to
 * do.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  additiveLogistic,
  alignToEvent,
  chain,
  expMap,
  sigmoidMap,
  timeAffine,
} from "../../src/bijector/index.ts";
import { add, div, log, mul, type NdArray, sub, type Tensor } from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import {
  brownianPath,
  type DrawOptions,
  eulerMaruyama,
  karrasGrid,
  logSnr,
  logSnrGrid,
  milstein,
  type OpenOptions,
  type OpenSampler,
  openSampler,
  quadraticGrid,
  rungeKutta,
  type SampleOptions,
  type Solver,
  type SolverName,
  sample,
  solvers,
  uniformGrid,
} from "../../src/sampler/index.ts";
import {
  forward,
  linearSchedule,
  noiseRatio,
  reverse,
  reversePush,
  timeAtRatio,
  vp,
} from "../../src/sde/index.ts";
import { at, gaussianSdes, relativeError } from "../sde/table.ts";
import { clusters, exactScore } from "./tools.ts";

const sde = vp({ schedule: linearSchedule({ min: 0.5, max: 4 }) });
const process = reversePush(sde, additiveLogistic(), exactScore(sde, clusters(2)));
const solverNames = Object.keys(solvers) as SolverName[];
const shared = {
  count: 24,
  shape: [2],
  key: key("contract"),
  steps: 40,
  type: "float64",
  threads: 1,
} as const;
const holding: Partial<Record<SolverName, Solver>> = {
  eulerMaruyama: eulerMaruyama({ onExit: "hold" }),
  milstein: milstein({ onExit: "hold" }),
};
const optionsFor = (solver: SolverName) =>
  ({ ...shared, solver: holding[solver] ?? solver }) as const;
const numbers = ({ data }: NdArray): number[] => Array.from(data as Float64Array);

describe.each(solverNames)("%s", (solver) => {
  const { count, key: same, steps, ...opening } = optionsFor(solver);
  const call = { count, key: same, steps } as const;
  let draw: OpenSampler;
  beforeAll(async () => {
    draw = await openSampler(process, opening);
  });
  afterAll(() => draw.dispose());

  it("gives the same samples for the same key, also on a worker, and others for another key", async () => {
    const one = await draw(call);
    const two = await sample(process, { ...optionsFor(solver), worker: true });
    const three = await draw({ ...call, key: key("other") });
    expect(numbers(one.samples)).toEqual(numbers(two.samples));
    expect(numbers(one.samples)).not.toEqual(numbers(three.samples));
  });

  it("gives sample i the same value in a batch of any size", async () => {
    const whole = numbers((await draw(call)).samples);
    const parts = numbers((await draw({ ...call, batch: 23 })).samples);
    const alone = numbers((await draw({ ...call, count: 3, first: 9, batch: 1 })).samples);
    parts.forEach((v, i) => {
      expect(v).toBeCloseTo(whole[i], 12);
    });
    alone.forEach((v, i) => {
      expect(v).toBeCloseTo(whole[18 + i], 12);
    });
  });

  it("stays in the simplex, counts its steps and evaluations, and reports progress", async () => {
    const seen: number[] = [];
    let last: NdArray | undefined;
    const result = await draw({
      ...call,
      onStep: async ({ step, t, points, steps }) => {
        expect(steps).toBe(40);
        seen.push(step);
        if (t === lastTime) last = await points();
      },
    });
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(result.steps).toBe(40);
    const each = {
      domainPreserving: 1,
      eulerMaruyama: 1,
      milstein: 1,
      heun: 2,
      rungeKutta: 6,
      predictorCorrector: 2,
      dpmSolver2M: 1,
      dpmSolver2MSde: 1,
      ancestral: 1,
    };
    expect(result.scoreEvaluations).toBe(40 * each[solver]);
    expect(result.times).toHaveLength(41);
    expect(result.times[0]).toBe(1);
    expect(numbers(last as NdArray)).toEqual(numbers(result.samples));
    for (let i = 0; i < 24; i++) {
      const [a, b] = numbers(result.samples).slice(2 * i, 2 * i + 2);
      expect(a > 0 && b > 0 && a + b < 1).toBe(true);
    }
  });

  it("stops when its signal is aborted", async () => {
    const controller = new AbortController();
    const run = draw({
      ...call,
      signal: controller.signal,
      onStep: ({ step }) => {
        if (step === 3) controller.abort();
      },
    });
    await expect(run).rejects.toThrow(/abort/i);
  });

  it("reports a NaN of the score with its time and sample", async () => {
    const broken = reversePush(sde, sigmoidMap(), (x, t) =>
      add(mul(x, -1), log(sub(alignToEvent(t, 1), 0.5))),
    );
    const run = sample(broken, optionsFor(solver));
    await expect(run).rejects.toThrow(/the score is (NaN|-Infinity) for sample \d+ at t = 0\.\d+/);
    await expect(run).rejects.toMatchObject({ kind: "numerical" });
  });

  it("agrees with the float64 reference and, to rounding, with float32", async () => {
    const few = { count: 4, steps: 5 };
    // One at a time, by the graph of a sample alone.
    const one = numbers((await draw({ ...call, ...few, batch: 1 })).samples);
    const { type: _, ...rest } = { ...optionsFor(solver), ...few };
    const two = numbers((await sample(process, { ...rest, device: "reference" })).samples);
    const three = numbers((await sample(process, { ...rest, type: "float32" })).samples);
    one.forEach((v, i) => {
      expect(Math.abs(v - two[i])).toBeLessThan(1e-12);
      expect(Math.abs(v - three[i])).toBeLessThan(2e-4);
    });
  });

  it("with denoise returns the mean of x₀ given x through the map at t = 0, for one more evaluation", async () => {
    const point = vp();
    const { meanFactor, std } = point.transition;
    // All data at 0.7: the score is (0.7 m − x)/σ², and the mean of x₀ is 0.7 whatever x.
    const score = (x: Tensor, t: Tensor): Tensor => {
      const [m, sigma] = [alignToEvent(meanFactor(t), 1), alignToEvent(std(t), 1)];
      return div(sub(mul(m, 0.7), x), mul(sigma, sigma));
    };
    const result = await sample(reverse(point, score), {
      ...optionsFor(solver),
      steps: 50,
      denoise: true,
    });
    for (const v of numbers(result.samples)) expect(v).toBeCloseTo(0.7, 6);
    const moving = chain(timeAffine({ scale: (t) => add(t, 1), shift: (t) => t }), expMap());
    const options = {
      ...optionsFor(solver),
      count: 3,
      steps: 20,
      tEnd: 0.3,
      denoise: true,
    } as const;
    const { samples } = await sample(reversePush(point, moving, score), options);
    for (const v of numbers(samples)) expect(v).toBeCloseTo(Math.exp(0.7), 6);
  });
});

const lastTime = sde.horizon / 1000;

it("accepts a custom solver under any name", async () => {
  const own: Solver = { ...solvers.domainPreserving(), name: "mine" };
  const { samples } = await sample(process, { ...shared, solver: own });
  expect(numbers(samples)).toEqual(numbers((await sample(process, shared)).samples));
});

describe("an invalid request", () => {
  const expectUsage = async (options: Partial<SampleOptions>, message: RegExp, on = process) => {
    const run = sample(on, { ...shared, ...options } as SampleOptions);
    await expect(run).rejects.toThrow(message);
    await expect(run).rejects.toMatchObject({ name: "DiffeoError" });
  };

  it("has increasing times that should decrease", () =>
    expectUsage(
      { grid: [1, 0.5, 0.6, 0.1] },
      /from t = 0\.5 to t = 0\.6 .* dt = 0\.0999.* time must decrease/,
    ));
  it("has decreasing times that should increase", () =>
    expectUsage(
      {
        grid: [0, 0.5, 0.4],
        start: { shape: [1, 2], dtype: "float64", data: Float64Array.of(0, 0) },
        count: 1,
      },
      /time must increase/,
      forward(sde) as never,
    ));
  it("has times beyond the horizon", () => expectUsage({ grid: [2, 1] }, /outside 0 … 1/));
  it("has no steps, or too many", async () => {
    await expectUsage({ steps: 0 }, /`steps` is 0/);
    for (const grid of ["uniform", "quadratic", "logSnr"] as const)
      await expectUsage({ steps: 1e12, grid }, /`steps` is 1000000000000\..*10000000/);
  });
  it("names an unknown grid", async () => {
    await expectUsage({ grid: "toString" as "uniform" }, /unknown `grid` "toString".*logSnr/);
    await expectUsage({ grid: 3 as never }, /unknown `grid` "3"/);
  });
  it("asks for more samples than an array can hold", async () => {
    await expectUsage({ count: 1e12 }, /`count` is 1000000000000: samples of shape \[2\]/);
    await expectUsage({ count: 1e12, batch: 64 }, /`count` is 1000000000000/);
  });
  it("starts outside the domain", () =>
    expectUsage(
      {
        start: { shape: [2, 2], dtype: "float64", data: Float64Array.of(0.3, 0.3, 0.9, 0.4) },
        count: 2,
      },
      /point 1 of 2 is outside the domain of additive logistic/,
    ));
  it("starts at NaN", () =>
    expectUsage(
      {
        start: { shape: [1, 2], dtype: "float64", data: Float64Array.of(0.3, Number.NaN) },
        count: 1,
      },
      /has NaN/,
    ));
  it("has an unknown option", async () => {
    const expected = [
      [{ stepz: 3 }, /sample has no option "stepz".*steps/],
      [{ toString: 1 }, /no option "toString"/],
      [{ tolerance: 1e-7 }, /no option "tolerance".*solver: rungeKutta\(\{ tolerance \}\)/],
      [{ onExit: "hold" }, /solver: eulerMaruyama\(\{ onExit \}\)/],
    ] as const;
    for (const [options, message] of expected)
      await expectUsage(options as Partial<SampleOptions>, message);
  });
  it("has an option of the other call", async () => {
    await expect(openSampler(process, { shape: [2], count: 3 } as OpenOptions)).rejects.toThrow(
      /draw\(\{ count \}\)/,
    );
    const draw = await openSampler(process, { shape: [2] });
    await expect(draw({ key: key(1), count: 1, type: "float64" } as DrawOptions)).rejects.toThrow(
      /openSampler\(process, \{ type \}\)/,
    );
    await draw.dispose();
  });
  it("is a type error", async () => {
    // @ts-expect-error: stepz is no option
    await expect(sample(process, { ...shared, stepz: 3 })).rejects.toThrow(/"stepz"/);
    // @ts-expect-error: typ is no option
    await expect(openSampler(process, { shape: [2], typ: "float64" })).rejects.toThrow(/"typ"/);
  });
  it("names an unknown sampler", () =>
    expectUsage(
      { solver: "leapfrog" as SolverName },
      /unknown `solver` "leapfrog".*domainPreserving/,
    ));
  it("has an invalid count", () => expectUsage({ count: 2.5 }, /`count` is 2\.5/));
  it("has an event of the wrong rank", () => expectUsage({ shape: [2, 2] }, /eventRank 1/));
  it("asks for a log-SNR grid down to zero", () =>
    expectUsage({ grid: "logSnr", tEnd: 0 }, /infinite/));
  it("scales the drift by zero", () =>
    expectUsage({ driftScale: Number.NaN }, /`driftScale` is NaN/));
  it("has a zero time dilation", () => expectUsage({ timeDilation: 0 }, /`timeDilation` is 0/));
  it("scales the drift of a predictor–corrector", () =>
    expectUsage({ solver: "predictorCorrector", driftScale: 0.9 }, /would undo `driftScale`/));
  it("asks for the flow of a process without a score", () =>
    expectUsage({ solver: "heun" }, /no probability flow/, forward(sde) as never));
  it("asks a path for times outside of it", () =>
    expectUsage({ noise: brownianPath(key(1), uniformGrid(1, 0, 7)) }, /not one of its times/));
});

describe("leaving the domain", () => {
  const rough = {
    ...shared,
    steps: 6,
    solver: eulerMaruyama({ onExit: "hold" }),
    count: 200,
  } as const;

  it("is an error by default, with the place and the remedy", async () => {
    await expect(sample(process, { ...rough, solver: "eulerMaruyama" })).rejects.toThrow(
      /samples left the domain of additive logistic in step 1.*Step in x/,
    );
  });

  it("is counted, and held or clamped if the option says so", async () => {
    const held = await sample(process, rough);
    expect(held.exits).toBeGreaterThan(0);
    expect(held.clamps).toBe(held.exits);
    const halved = await sample(process, {
      ...rough,
      solver: eulerMaruyama({ onExit: (y) => add(mul(y, 0), 0.25) }),
    });
    expect(halved.clamps).toBe(200 * 6);
  });

  it("is an error if the points that onExit returns are outside too", async () => {
    const run = sample(process, { ...rough, solver: eulerMaruyama({ onExit: (y) => mul(y, 4) }) });
    await expect(run).rejects.toThrow(/onExit left \d+ of 200 samples outside the domain/);
  });

  it("does not hide a NaN of the score", async () => {
    const broken = reversePush(sde, additiveLogistic(), (x, t) =>
      log(sub(mul(x, 0), alignToEvent(t, 1))),
    );
    await expect(sample(broken, rough)).rejects.toThrow(/the score is NaN/);
  });
});

describe("adaptive steps", () => {
  const { steps: _, ...open } = shared;
  const adaptive = { ...open, solver: "rungeKutta" } as const;

  it("reach the points of fixed steps in both spaces, and count rejected steps", async () => {
    const fixed = numbers((await sample(process, { ...adaptive, steps: 80 })).samples);
    for (const stepIn of ["x", "y"] as const) {
      const seen: number[] = [];
      const result = await sample(process, {
        ...adaptive,
        solver: rungeKutta({ stepIn, tolerance: 1e-7 }),
        onStep: ({ t, steps }) => {
          expect(steps).toBeUndefined();
          seen.push(t);
        },
      });
      numbers(result.samples).forEach((v, i) => {
        expect(Math.abs(v - fixed[i])).toBeLessThan(1e-6);
      });
      expect([1, ...seen]).toEqual(result.times);
      expect(result.scoreEvaluations).toBe(1 + 6 * (result.steps + result.rejected));
    }
  });

  it("report a NaN of the score, also of a single sample", async () => {
    const timed = reverse(sde, (x, t) => add(mul(x, -1), log(sub(alignToEvent(t, 1), 0.5))));
    await expect(sample(timed, adaptive)).rejects.toThrow(
      /the score is NaN for sample \d+ at t = 0\.\d+/,
    );
    const start: NdArray = { shape: [3, 1], dtype: "float64", data: Float64Array.of(1, -1, 1) };
    const { shape: ___, count: ____, ...given } = adaptive;
    const single = reverse(sde, (x) => log(x));
    await expect(sample(single, { ...given, start })).rejects.toThrow(
      /the score is NaN for sample 1 at t = 1/,
    );
  });

  it("refuse options that need fixed steps", async () => {
    await expect(
      sample(process, { ...adaptive, solver: rungeKutta({ onExit: "hold" }) }),
    ).rejects.toThrow(/`onExit` cannot be used/);
    await expect(
      sample(process, { ...adaptive, solver: rungeKutta({ tolerance: 0 }) }),
    ).rejects.toThrow(/`tolerance` is 0/);
  });
});

describe("time grids", () => {
  it("run from one end to the other, evenly, in √t, or in log-SNR", () => {
    expect(uniformGrid(1, 0, 4)).toEqual([1, 0.75, 0.5, 0.25, 0]);
    expect(quadraticGrid(1, 0, 2)).toEqual([1, 0.25, 0]);
    for (const make of Object.values(gaussianSdes)) {
      const { transition, horizon, name } = make();
      if (!transition) throw new Error(`${name} has no transition`);
      const times = logSnrGrid(transition, horizon, horizon / 1000, 12);
      const lambda = logSnr(transition)(times);
      const gaps = lambda.slice(1).map((l, i) => l - lambda[i]);
      for (const gap of gaps) expect(Math.abs(gap / gaps[0] - 1)).toBeLessThan(1e-6);
      expect([times[0], times[12]]).toEqual([horizon, horizon / 1000]);
    }
  });

  it("of Karras et al. have their published noise ratios, under any SDE", () => {
    const [most, least, steps] = [2, 0.01, 17];
    const printed = Array.from(
      { length: steps + 1 },
      (_, i) => (most ** (1 / 7) + (i / steps) * (least ** (1 / 7) - most ** (1 / 7))) ** 7,
    );
    for (const make of Object.values(gaussianSdes)) {
      const sde = make();
      const [from, to] = at((r) => timeAtRatio(sde, r), [[2], [most, least]]);
      const times = karrasGrid(sde.transition, from, to, steps);
      const found = at((t) => noiseRatio(sde, t), [[steps + 1], times]);
      expect(relativeError(found, printed), sde.name).toBeLessThan(1e-9);
    }
  });
});

describe("a Brownian path", () => {
  it("gives a coarse step the sum of the fine ones, independently per sample", () => {
    const path = brownianPath(key("path"), uniformGrid(1, 0, 8));
    const draw = { step: 0, index: 0, first: 0, count: 3, shape: [2], dtype: "float64" } as const;
    const coarse = path({ ...draw, from: 1, to: 0.5 });
    const total = new Float64Array(6);
    for (const from of [1, 0.875, 0.75, 0.625])
      path({ ...draw, from, to: from - 0.125 }).forEach((z, i) => {
        total[i] += z * Math.sqrt(0.125);
      });
    coarse.forEach((z, i) => {
      expect(z * Math.sqrt(0.5)).toBeCloseTo(total[i], 12);
    });
    expect(path({ ...draw, first: 2, count: 1, from: 1, to: 0.5 })[0]).toBe(coarse[4]);
  });
});
