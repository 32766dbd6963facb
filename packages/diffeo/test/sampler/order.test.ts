/** Measured orders of convergence, of every integrator, on problems with known solutions. */
import { describe, expect, it } from "vitest";
import { affine, alignToEvent, expMap, sigmoidMap } from "../../src/bijector/index.ts";
import { gaussian } from "../../src/distribution/index.ts";
import { div, mul, type NdArray, neg, square, sub, type Tensor } from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import {
  brownianPath,
  heun,
  logSnrGrid,
  type NoiseSource,
  openSampler,
  predictorCorrector,
  quadraticGrid,
  rungeKutta,
  type Solver,
  type SolverName,
  sample,
  solvers,
  uniformGrid,
} from "../../src/sampler/index.ts";
import {
  forward,
  linearSchedule,
  ornsteinUhlenbeck,
  type Process,
  reverse,
  reversePush,
  type Sde,
  vp,
} from "../../src/sde/index.ts";
import { gaussianSdes } from "../sde/table.ts";
import { clusters, draws, exactScore, fittedOrder, meanDistance, remembered } from "./tools.ts";

const filled = (count: number, value: number): NdArray => ({
  shape: [count, 1],
  dtype: "float64",
  data: new Float64Array(count).fill(value),
});

/** dX = ½ X dt + 0.8 X dW, whose solution is X₀ exp((½ − 0.32) t + 0.8 W). */
const geometric: Sde = {
  name: "geometric Brownian motion",
  eventRank: 1,
  horizon: 1,
  drift: (x) => mul(x, 0.5),
  diffusion: (x) => ({ kind: "diagonal", value: mul(x, 0.8) }),
};

const count = 1000;
const stepCounts = [16, 32, 64, 128];
const finest = uniformGrid(0, 1, 128);
const draw = {
  step: 0,
  index: 0,
  from: 0,
  to: 1,
  first: 0,
  count,
  shape: [1],
  dtype: "float64",
} as const;

describe("strong order", () => {
  /**
   * The order on one path of as many samples as there are exact ends, from where all of them are 1.
   */
  const measure = async (
    process: Process,
    solver: SolverName,
    noise: NoiseSource,
    exact: Float64Array,
  ) => {
    const start = filled(exact.length, 1);
    const calls = stepCounts.map((steps) => ({
      start,
      key: key(1),
      grid: uniformGrid(0, 1, steps),
      noise,
    }));
    const ends = await draws(process, { shape: [1], solver, type: "float64", threads: 1 }, calls);
    return fittedOrder(
      stepCounts,
      ends.map(({ samples }) => meanDistance(samples, { ...start, data: exact })),
    );
  };
  const path = remembered(brownianPath(key("path"), finest));
  const end = path(draw);
  const solution = Float64Array.from(end, (w) => Math.exp(0.5 - 0.32 + 0.8 * w));

  it.each([
    ["Euler–Maruyama", "eulerMaruyama", 0.5],
    ["Milstein", "milstein", 1],
  ] as const)(
    "of %s is that of the book, where the noise is proportional to x",
    async (name, solver, order) => {
      const found = await measure(forward(geometric), solver, path, solution);
      console.log(`strong order of ${name}: ${found.toFixed(3)}`);
      expect(found).toBeGreaterThan(order - 0.1);
      expect(found).toBeLessThan(order + 0.1);
    },
  );

  it("of the domain-preserving solver is 1 if the noise in x does not depend on x", async () => {
    // Y = e^X with X of Ornstein and Uhlenbeck: X₁ = e^{−1} X₀ + ∫ e^{s − 1} √2 dW, here on a grid
    // 4 times finer still
    const sde = ornsteinUhlenbeck({ horizon: 1 });
    const [n, count] = [512, 500];
    const fine = uniformGrid(0, 1, n);
    const path = remembered(brownianPath(key("path"), fine));
    const x = new Float64Array(count);
    for (let k = 0; k < n; k++) {
      const z = path({ ...draw, count, from: fine[k], to: fine[k + 1] });
      const weight = Math.exp((fine[k] + fine[k + 1]) / 2 - 1) * Math.SQRT2 * Math.sqrt(1 / n);
      for (let i = 0; i < count; i++) x[i] += weight * z[i];
    }
    const found = await measure(forward(sde, expMap()), "domainPreserving", path, x.map(Math.exp));
    console.log(`strong order of the domain-preserving solver: ${found.toFixed(3)}`);
    expect(found).toBeGreaterThan(0.9);
    expect(found).toBeLessThan(1.1);
  });
});

/**
 * Reverse VP of N(0, s²) through an affine map is linear in its start and its noise, y = a x_T + Σ
 * cₖ zₖ + b. Unit noise in one draw after the other shows a and every cₖ, hence the variance a² Var
 * x_T + Σ cₖ² to rounding, with no sampling error.
 */
describe("weak order", () => {
  const sde = vp({ schedule: linearSchedule({ min: 0.5, max: 6 }) });
  const process = reversePush(
    sde,
    affine({ scale: [2], shift: [3] }),
    exactScore(sde, gaussian({ mean: [0], covariance: 0.4 })),
  );
  const tEnd = 0.05;
  const integral = (t: number): number => 0.5 * t + 2.75 * t * t;
  const varianceAt = (t: number): number =>
    0.4 * Math.exp(-integral(t)) + 1 - Math.exp(-integral(t));

  /**
   * The errors of a solver's variances for some numbers of steps, on as many samples as the most of
   * them have draws.
   */
  const errorsOf = async (
    solver: SolverName | Solver,
    counts: readonly number[],
    drawn = 1,
  ): Promise<number[]> => {
    const samples = 1 + Math.max(...counts) * drawn;
    const start = filled(samples, 3);
    (start.data as Float64Array)[0] = 3 + 2 * Math.sqrt(varianceAt(1));
    const noise: NoiseSource = ({ step, index }) => {
      const z = new Float64Array(samples);
      z[1 + step * drawn + index] = 1;
      return z;
    };
    const calls = counts.map((steps) => ({ start, key: key(1), steps, tEnd, noise }));
    const ends = await draws(process, { shape: [1], solver, type: "float64" }, calls);
    return ends.map(({ samples: { data } }) => {
      const variance = Array.from(data as Float64Array).reduce((s, y) => s + ((y - 3) / 2) ** 2, 0);
      return variance / varianceAt(tEnd) - 1;
    });
  };
  const counts = [20, 40, 80, 160];

  it.each([
    ["Euler–Maruyama", "eulerMaruyama"],
    ["Milstein", "milstein"],
    ["domain-preserving", "domainPreserving"],
  ] as const)("of %s is 1", async (name, solver) => {
    const found = fittedOrder(counts, (await errorsOf(solver, counts)).map(Math.abs));
    console.log(`weak order of ${name}: ${found.toFixed(3)}`);
    expect(found).toBeGreaterThan(0.9);
    expect(found).toBeLessThan(1.15);
  });

  it("of predictor–corrector: its Langevin steps are x + ε s + √(2ε) z with ε = 2 (r σ)², at the time of arrival", async () => {
    const [ratio, from, to] = [0.3, 1, 0.4];
    const epsilon = 2 * ratio ** 2 * (1 - Math.exp(-integral(to)));
    // From 2·1 + 3 without noise, and from 3 with unit noise in the Langevin step alone.
    const start: NdArray = { shape: [2, 1], dtype: "float64", data: Float64Array.of(5, 3) };
    const noise: NoiseSource = ({ index }) => Float64Array.of(0, index === 1 ? 1 : 0);
    const call = { start, key: key(1), grid: [from, to], noise, type: "float64" } as const;
    const { samples: predicted } = await sample(process, {
      ...call,
      solver: predictorCorrector({ steps: 0 }),
    });
    const { samples } = await sample(process, {
      ...call,
      solver: predictorCorrector({ steps: 1, ratio }),
    });
    expect(samples.data[0] - 3).toBeCloseTo(
      (predicted.data[0] - 3) * (1 - epsilon / varianceAt(to)),
      13,
    );
    expect(samples.data[1] - 3).toBeCloseTo(2 * Math.sqrt(2 * epsilon), 13);
  });

  it("of predictor–corrector is 1 if the Langevin steps shrink with the others; otherwise a bias remains", async () => {
    const by = (ratio: number): Solver => predictorCorrector({ steps: 1, ratio });
    const errors: number[] = [];
    for (const steps of counts)
      errors.push(...(await errorsOf(by(Math.sqrt(0.8 / steps)), [steps], 2)));
    const found = fittedOrder(counts, errors);
    // Errors a + b/n at n and 2n leave a = 2e(2n) − e(n), the limit of many steps of one ratio.
    const bias: number[] = [];
    for (const ratio of [0.16, 0.32]) {
      const [coarse, fine] = await errorsOf(by(ratio), [80, 160], 2);
      bias.push(2 * fine - coarse);
    }
    console.log(
      `weak order of predictor–corrector: ${found.toFixed(3)}; bias at ratio .16, .32: ${bias.map((v) => v.toExponential(2))}`,
    );
    expect(found).toBeGreaterThan(0.9);
    expect(found).toBeLessThan(1.15);
    expect(bias[0]).toBeGreaterThan(0);
    expect(bias[1] / bias[0]).toBeGreaterThan(2.5);
    expect(bias[1]).toBeLessThan(0.32 ** 2);
  });
});

describe("order", () => {
  const sde = vp();
  const process = reversePush(
    sde,
    expMap(),
    exactScore(sde, gaussian({ mean: [0], covariance: 0.4 })),
  );
  const integral = (t: number): number => 0.1 * t + 9.95 * t * t;
  const deviation = (t: number): number =>
    Math.sqrt(0.4 * Math.exp(-integral(t)) + 1 - Math.exp(-integral(t)));

  it.each([
    ["Heun", heun, 2, [20, 40, 80, 160]],
    ["Dormand–Prince on a grid", rungeKutta, 5, [10, 20, 40, 80]],
  ] as const)(
    "of %s is that of the book, on the flow of a Gaussian",
    async (name, sampler, order, counts) => {
      for (const stepIn of ["x", "y"] as const) {
        const ends = await draws(
          process,
          { shape: [1], solver: sampler({ stepIn }), type: "float64" },
          counts.map((steps) => ({ start: filled(1, Math.exp(1.3)), key: key(1), steps, tEnd: 0 })),
        );
        // x_t / √Var x_t is constant along the flow
        const errors = ends.map(({ samples }) =>
          Math.abs(Math.log(Number(samples.data[0])) / ((1.3 * deviation(0)) / deviation(1)) - 1),
        );
        const found = fittedOrder(counts, errors);
        console.log(
          `order of ${name} in ${stepIn}: ${found.toFixed(3)}, errors ${errors.map((e) => e.toExponential(1))}`,
        );
        expect(found).toBeGreaterThan(order - 0.3);
      }
    },
  );

  it("of adaptive steps: the error follows the tolerance", async () => {
    for (const tolerance of [1e-3, 1e-6, 1e-9]) {
      const start = filled(1, Math.exp(1.3));
      const result = await sample(process, {
        solver: rungeKutta({ tolerance }),
        start,
        key: key(1),
        tEnd: 0,
        type: "float64",
      });
      const error = Math.abs(
        Math.log(Number(result.samples.data[0])) / ((1.3 * deviation(0)) / deviation(1)) - 1,
      );
      console.log(
        `tolerance ${tolerance}: error ${error.toExponential(1)} in ${result.scoreEvaluations} evaluations`,
      );
      expect(error).toBeLessThan(10 * tolerance);
      expect(result.scoreEvaluations).toBe(1 + 6 * (result.steps + result.rejected));
      // A step that is tried is as long as the last one's error lets it be: few are refused.
      expect(result.rejected).toBeLessThan(1 + result.steps / 2);
    }
  });
});

/**
 * Exponential integrators. The flow of a mixture against tight Runge–Kutta steps; the reverse SDE
 * by the variance that a Gaussian distribution leaves it, which unit noise shows to rounding as
 * above; and data that are one point, where D does not depend on x and both must be exact whatever
 * the step.
 */
describe("exponential steps", () => {
  const sde = vp();
  const tight = rungeKutta({ tolerance: 1e-9 });
  const start: NdArray = {
    shape: [4, 2],
    dtype: "float64",
    data: Float64Array.of(0.3, -1.2, 1.4, 0.2, -0.7, -0.1, 0.05, 0.9),
  };

  it("follow the flow of a mixture at order 2, for every SDE with a transition, on any grid", async () => {
    for (const make of Object.values(gaussianSdes)) {
      const one = make();
      const process = reverse(one, exactScore(one, clusters(2)));
      // Not from T: at 1 the cosine schedule's rate is infinite, and steps of √t beside it are long
      // in λ.
      const [from, to] = [0.8 * one.horizon, one.horizon / 50];
      const opening = { shape: [2], type: "float64", threads: 1 } as const;
      const fine = { start, key: key(1), grid: logSnrGrid(one.transition, from, to, 300) };
      const [exact] = await draws(process, { ...opening, solver: rungeKutta() }, [fine]);
      const draw = await openSampler(process, { ...opening, solver: "dpmSolver2M" });
      const grids = {
        logSnr: (steps: number) => logSnrGrid(one.transition, from, to, steps),
        quadratic: (steps: number) => quadraticGrid(from, to, steps),
      };
      for (const [name, grid] of Object.entries(grids)) {
        const counts = [120, 240];
        const errors: number[] = [];
        for (const steps of counts)
          errors.push(
            meanDistance(
              (await draw({ start, key: key(1), grid: grid(steps) })).samples,
              exact.samples,
            ),
          );
        const found = fittedOrder(counts, errors);
        console.log(
          `order of exponential, ${one.name}, ${name}: ${found.toFixed(3)}, errors ${errors.map((e) => e.toExponential(1))}`,
        );
        expect(Math.abs(found - 2), `${one.name}, ${name}`).toBeLessThan(0.1);
      }
      await draw.dispose();
    }
  });

  it("keep order 2 through a map, also with a scaled drift", async () => {
    const process = reversePush(sde, sigmoidMap(), exactScore(sde, clusters(2)));
    const inside = {
      ...start,
      data: (start.data as Float64Array).map((v) => 1 / (1 + Math.exp(-v))),
    };
    const shared = { start: inside, key: key(1), tEnd: 0.02, driftScale: 0.9 } as const;
    const exact = await sample(process, { ...shared, solver: tight, type: "float64" });
    const counts = [40, 80, 160];
    const ends = await draws(
      process,
      { shape: [2], solver: "dpmSolver2M", type: "float64" },
      counts.map((steps) => ({ ...shared, steps })),
    );
    const errors = ends.map(({ samples }) => meanDistance(samples, exact.samples));
    expect(fittedOrder(counts, errors)).toBeGreaterThan(1.8);
  });

  /**
   * Var of what a solver makes of N(0, var) in some numbers of steps: linear in start and noise, so
   * unit noise shows it.
   */
  const variances = async (
    process: Process,
    counts: readonly number[],
    initial: number,
    solver: SolverName | Solver,
  ): Promise<number[]> => {
    const samples = 1 + Math.max(...counts);
    const from = filled(samples, 0);
    (from.data as Float64Array)[0] = Math.sqrt(initial);
    const noise: NoiseSource = ({ step }) => {
      const z = new Float64Array(samples);
      z[1 + step] = 1;
      return z;
    };
    const calls = counts.map((steps) => ({ start: from, key: key(1), steps, tEnd: 0.05, noise }));
    const ends = await draws(process, { shape: [1], solver, type: "float64" }, calls);
    return ends.map(({ samples: { data } }) =>
      Array.from(data as Float64Array).reduce((s, y) => s + y * y, 0),
    );
  };
  const spread = (covariance: number, t: number): number => {
    const integral = 0.1 * t + 9.95 * t * t;
    return covariance * Math.exp(-integral) + 1 - Math.exp(-integral);
  };

  it.each([
    ["dpmSolver2MSde", 2],
    ["ancestral", 1],
  ] as const)(
    "of the SDE have their weak order on a Gaussian distribution, once steps are short: %s %d",
    async (solver, order) => {
      const process = reverse(sde, exactScore(sde, gaussian({ mean: [0], covariance: 0.4 })));
      const counts = [80, 160, 320];
      const made = await variances(process, counts, spread(0.4, 1), solver);
      const errors = made.map((v) => Math.abs(v / spread(0.4, 0.05) - 1));
      const found = fittedOrder(counts, errors);
      console.log(
        `weak order of ${solver}: ${found.toFixed(3)}, errors ${errors.map((e) => e.toExponential(1))}`,
      );
      expect(Math.abs(found - order)).toBeLessThan(0.2);
    },
  );

  it("of Heun keep order 2 with churn, which changes no distribution", async () => {
    const process = reverse(sde, exactScore(sde, gaussian({ mean: [0], covariance: 0.4 })));
    const counts = [80, 160, 320];
    for (const churn of [0.3, 1]) {
      const made = await variances(process, counts, spread(0.4, 1), heun({ churn }));
      const errors = made.map((v) => Math.abs(v / spread(0.4, 0.05) - 1));
      expect(Math.abs(fittedOrder(counts, errors) - 2)).toBeLessThan(0.1);
      expect(errors[2]).toBeLessThan(2e-4);
    }
  });

  it("of Heun with churn go back to T at most, where a schedule may be undefined beyond", async () => {
    // Beyond t = 1 the cosine schedule's m is below 0, and m̂/m no factor of any distribution.
    const cosine = gaussianSdes.vpCosine();
    const process = reverse(cosine, exactScore(cosine, gaussian({ mean: [0], covariance: 0.4 })));
    const angle = (t: number): number => ((t + 0.008) / 1.008) * (Math.PI / 2);
    const variance = (t: number): number =>
      1 - 0.6 * (Math.cos(angle(t)) / Math.cos(angle(0))) ** 2;
    const [made] = await variances(process, [60], variance(cosine.horizon), heun({ churn: 1 }));
    expect(Math.abs(made / variance(0.05) - 1)).toBeLessThan(0.02);
  });

  it("are exact for data of a single point, for any number of steps", async () => {
    const { meanFactor, std } = sde.transition;
    const score = (x: Tensor, t: Tensor): Tensor => {
      const [m, sigma] = [alignToEvent(meanFactor(t), 1), alignToEvent(std(t), 1)];
      return div(sub(mul(m, 0.7), x), square(sigma));
    };
    const process = reverse(sde, score);
    const centred = reverse(sde, (x, t) => div(neg(x), square(alignToEvent(std(t), 1))));
    const [a, b] = [0.1 * 0.05 + 9.95 * 0.05 ** 2, 10.05];
    const deviation = (integral: number): number => Math.sqrt(1 - Math.exp(-integral));
    const counts = [1, 2, 5, 20];
    for (const solver of ["dpmSolver2MSde", "ancestral"] as const)
      for (const made of await variances(centred, counts, 1 - Math.exp(-b), solver))
        expect(Math.abs(made / (1 - Math.exp(-a)) - 1)).toBeLessThan(1e-11);
    const ends = await draws(
      process,
      { shape: [1], solver: "dpmSolver2M", type: "float64" },
      counts.map((steps) => ({ start: filled(1, 1.3), key: key(1), steps, tEnd: 0.05 })),
    );
    // Along the flow of one point (x − m x₀)/σ is constant.
    const z = (1.3 - 0.7 * Math.exp(-b / 2)) / deviation(b);
    for (const { samples } of ends)
      expect(Number(samples.data[0])).toBeCloseTo(0.7 * Math.exp(-a / 2) + deviation(a) * z, 11);
  });

  it("use the previous step from the second on, except in the last of fewer than 15", () => {
    for (const { remembers } of [solvers.dpmSolver2M(), solvers.dpmSolver2MSde()]) {
      const looks = (steps: number): boolean[] =>
        Array.from({ length: steps }, (_, k) => remembers?.(k, steps) ?? false);
      expect(looks(14)).toEqual([false, ...new Array(12).fill(true), false]);
      expect(looks(15)).toEqual([false, ...new Array(14).fill(true)]);
    }
  });

  it("refuse a process without a transition, and the SDE solver refuses forward runs", async () => {
    const { transition: _, ...bare } = sde;
    const options = { start, key: key(1), steps: 3, grid: "uniform" } as const;
    await expect(
      sample(
        reverse(bare, (x) => neg(x)),
        { ...options, solver: "dpmSolver2M" },
      ),
    ).rejects.toThrow(/no Gaussian transition/);
    await expect(sample(forward(sde), { ...options, solver: "dpmSolver2MSde" })).rejects.toThrow(
      /runs forward/,
    );
    await expect(
      sample(
        reverse(sde, (x) => neg(x)),
        { ...options, solver: heun({ churn: 0.2, stepIn: "y" }) },
      ),
    ).rejects.toThrow(/heun: `churn` needs a reverse process with a Gaussian transition/);
    expect(() => heun({ churn: -1 })).toThrow("heun: `churn` is -1");
  });
});
