/** Samplers run the given process: its drift, diffusion and velocity, in both spaces. */
import { describe, expect, it } from "vitest";
import {
  additiveLogistic,
  alignToEvent,
  type Bijector,
  chain,
  sigmoidMap,
  stereographic,
  timeAffine,
} from "../../src/bijector/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  concat,
  constant,
  div,
  exp,
  expandDims,
  fill,
  matmul,
  mean,
  mul,
  type NdArray,
  square,
  sub,
  type Tensor,
} from "../../src/graph/index.ts";
import { denoising } from "../../src/matching/index.ts";
import { key, normal, uniform } from "../../src/random/index.ts";
import {
  brownianPath,
  eulerMaruyama,
  heun,
  milstein,
  predictorCorrector,
  rungeKutta,
  type Solver,
  sample,
  solvers,
  uniformGrid,
} from "../../src/sampler/index.ts";
import {
  dilateTime,
  forward,
  linearSchedule,
  type Process,
  reverse,
  reversePush,
  scaleDrift,
  vp,
} from "../../src/sde/index.ts";
import { clusters, draws, exactScore, fittedOrder, meanDistance, remembered } from "./tools.ts";

const sde = vp();
const score = exactScore(sde, clusters(2));
const moving = chain(
  timeAffine({ scale: (t) => exp(mul(t, -0.5)), shift: (t) => mul(t, 0.8) }),
  sigmoidMap(),
);
const maps: readonly Bijector[] = [sigmoidMap(), additiveLogistic(), moving];
const start: NdArray = {
  shape: [3, 2],
  dtype: "float64",
  data: Float64Array.of(0.2, 0.3, 0.5, 0.25, 0.1, 0.6),
};
const [RATE, CENTRE, FROM, TO] = [1.5, 0.3, 1, 0.05];

/** dy = RATE (y − CENTRE) dt, which ends at CENTRE + (y − CENTRE) e^{RATE (t − 1)}. */
const field = (y: Tensor): Tensor => mul(sub(y, CENTRE), RATE);
const end = Array.from(
  start.data as Float64Array,
  (y) => CENTRE + (y - CENTRE) * Math.exp(RATE * (TO - FROM)),
);
const still = (y: Tensor) => ({ kind: "scalar", value: fill([], 0, y.dtype) }) as const;

const worst = ({ data }: NdArray): number =>
  Math.max(...Array.from(data as Float64Array, (v, i) => Math.abs(v - end[i])));

/**
 * Every solver, those that step in either space in both; correctors, whose steps are of the score,
 * without.
 */
const cases: readonly (readonly [string, Solver, stochastic: boolean, order: number])[] = [
  ["domainPreserving", solvers.domainPreserving(), true, 1],
  ["eulerMaruyama in y", eulerMaruyama({ stepIn: "y" }), true, 1],
  ["eulerMaruyama in x", eulerMaruyama({ stepIn: "x" }), true, 1],
  ["milstein in y", milstein({ stepIn: "y" }), true, 1],
  ["milstein in x", milstein({ stepIn: "x" }), true, 1],
  ["predictorCorrector", predictorCorrector({ steps: 0 }), true, 1],
  ["dpmSolver2MSde", solvers.dpmSolver2MSde(), true, 2],
  ["ancestral", solvers.ancestral(), true, 1],
  ["heun in x", heun({ stepIn: "x" }), false, 2],
  ["heun in y", heun({ stepIn: "y" }), false, 2],
  ["rungeKutta in x", rungeKutta({ stepIn: "x" }), false, 4],
  ["rungeKutta in y", rungeKutta({ stepIn: "y" }), false, 4],
  ["dpmSolver2M", solvers.dpmSolver2M(), false, 2],
];

it("names every solver", () => {
  expect([...new Set(cases.map(([, { name }]) => name))].sort()).toEqual(
    Object.keys(solvers).sort(),
  );
});

describe.each(cases)("%s", (_, solver, stochastic, order) => {
  const overridden = (process: Process): Process =>
    stochastic ? { ...process, drift: field, diffusion: still } : { ...process, velocity: field };

  it.each(maps.map((phi) => [phi.name, phi] as const))(
    "integrates the field it is given on %s",
    async (_, phi) => {
      const process = overridden(reversePush(sde, phi, score));
      const counts = order > 2 ? [4, 8] : [25, 100];
      const calls = counts.map((steps) => ({
        start,
        key: key(1),
        grid: uniformGrid(FROM, TO, steps),
      }));
      const ends = await draws(process, { shape: [2], solver, type: "float64", threads: 1 }, calls);
      const errors = ends.map(({ samples }) => worst(samples));
      expect(fittedOrder(counts, errors)).toBeGreaterThan(order - 0.25);
      expect(errors[1]).toBeLessThan(order === 1 ? 0.024 : 1e-3);
    },
  );

  it("evaluates only the field that it uses", async () => {
    const process = reversePush(sde, sigmoidMap(), score);
    const wrong = (y: Tensor): Tensor => mul(y, Number.NaN);
    const other: Process = stochastic
      ? { ...process, velocity: wrong }
      : { ...process, drift: wrong };
    const options = {
      start,
      key: key(1),
      steps: 4,
      solver: { ...solver, onExit: "hold" },
      type: "float64",
      threads: 1,
    } as const;
    const [one, two] = [await sample(process, options), await sample(other, options)];
    expect(one.samples.data).toEqual(two.samples.data);
  });
});

describe("an override", () => {
  const path = remembered(brownianPath(key("override"), uniformGrid(FROM, TO, 128)));

  it.each(maps.map((phi) => [phi.name, phi] as const))(
    "of drift, diffusion or both is one process in x and in y, on one Brownian path (%s)",
    async (_, phi) => {
      const counts = [32, 128];
      const many = 200;
      const { data } = uniform(key("starts"), [many, 2], { low: 0.2, high: 0.4, dtype: "float64" });
      const from: NdArray = { shape: [many, 2], dtype: "float64", data };
      const noisy = (y: Tensor, t: Tensor) =>
        ({ kind: "diagonal", value: mul(y, alignToEvent(mul(add(t, 1), 0.1), 1)) }) as const;
      const gentle = vp({ schedule: linearSchedule({ min: 0.1, max: 0.3 }) });
      for (const changed of [
        { drift: field, diffusion: noisy },
        { drift: field },
        { diffusion: noisy },
      ]) {
        const process: Process = { ...reversePush(gentle, phi, (x) => mul(x, -1)), ...changed };
        const calls = counts.map((n) => ({
          start: from,
          key: key(1),
          grid: uniformGrid(FROM, TO, n),
          noise: path,
        }));
        const stepped = (stepIn: "x" | "y") =>
          draws(
            process,
            { shape: [2], solver: milstein({ stepIn }), type: "float64", threads: 1 },
            calls,
          );
        const [inY, inX] = [await stepped("y"), await stepped("x")];
        const errors = inY.map(({ samples }, i) => meanDistance(samples, inX[i].samples));
        expect(fittedOrder(counts, errors), Object.keys(changed).join()).toBeGreaterThan(0.9);
        expect(errors[1]).toBeLessThan(0.002);
      }
    },
  );

  it("of a forward process is pulled back with the other sign of the Itô term", async () => {
    const counts = [32, 128];
    const rising = (n: number): number[] => uniformGrid(TO, FROM, n);
    const noise = remembered(brownianPath(key("rising"), rising(128)));
    const from: NdArray = {
      shape: [100, 2],
      dtype: "float64",
      data: new Float64Array(200).fill(0.25),
    };
    const process: Process = {
      ...forward(sde, moving),
      drift: (y) => mul(field(y), -1),
      diffusion: (y) => ({ kind: "diagonal", value: mul(y, 0.3) }),
    };
    const calls = counts.map((n) => ({ start: from, key: key(1), grid: rising(n), noise }));
    const stepped = (stepIn: "x" | "y") =>
      draws(
        process,
        { shape: [2], solver: milstein({ stepIn }), type: "float64", threads: 1 },
        calls,
      );
    const [inY, inX] = [await stepped("y"), await stepped("x")];
    const errors = inY.map(({ samples }, i) => meanDistance(samples, inX[i].samples));
    expect(fittedOrder(counts, errors)).toBeGreaterThan(0.9);
  });

  it("of a process without a map needs no map", async () => {
    const process: Process = { ...reverse(sde, score), drift: field, diffusion: still };
    const { samples } = await sample(process, {
      start,
      key: key(1),
      grid: uniformGrid(FROM, TO, 500),
      type: "float64",
    });
    expect(worst(samples)).toBeLessThan(5e-4);
  });
});

describe("scaleDrift and dilateTime", () => {
  const options = {
    count: 20,
    shape: [2],
    key: key("scale"),
    steps: 30,
    type: "float64",
    threads: 1,
  } as const;
  const numbers = ({ data }: NdArray): number[] => Array.from(data as Float64Array);

  it.each(maps.map((phi) => [phi.name, phi] as const))(
    "are what the options of a sampler do (%s)",
    async (_, phi) => {
      const process = reversePush(sde, phi, score);
      const scaled = await sample(scaleDrift(process, 0.9), options);
      const dilated = await sample(scaleDrift(dilateTime(process, 1.2), 0.9), options);
      for (const [one, two] of [
        [scaled, await sample(process, { ...options, driftScale: 0.9 })],
        [dilated, await sample(process, { ...options, driftScale: 0.9, timeDilation: 1.2 })],
      ])
        numbers(one.samples).forEach((v, i) => {
          expect(v).toBeCloseTo(numbers(two.samples)[i], 12);
        });
    },
  );

  it("keep overridden fields", async () => {
    const process: Process = {
      ...reversePush(sde, additiveLogistic(), score),
      drift: field,
      diffusion: still,
    };
    const half = uniformGrid(FROM, TO, 500);
    const { samples } = await sample(scaleDrift(process, 0.5), {
      start,
      key: key(1),
      grid: half,
      type: "float64",
    });
    const slower = Array.from(
      start.data as Float64Array,
      (y) => CENTRE + (y - CENTRE) * Math.exp(0.5 * RATE * (TO - FROM)),
    );
    slower.forEach((y, i) => {
      expect(Math.abs(samples.data[i] - y)).toBeLessThan(5e-4);
    });
  });
});

describe("a score", () => {
  const options = { count: 2, shape: [2], key: key(1), steps: 2, threads: 1 } as const;
  it("receives one time per event", async () => {
    const seen: (readonly number[])[] = [];
    const process = reversePush(sde, sigmoidMap(), (x, t) => {
      seen.push(t.shape);
      expect(t.shape).toEqual(x.shape.slice(0, -1));
      return mul(x, alignToEvent(add(mul(t, 0), -1), 1));
    });
    await sample(process, { ...options, denoise: true });
    await sample(process, { ...options, solver: "predictorCorrector" });
    expect(seen.length).toBeGreaterThan(3);
  });
  it("is used unchanged in a training loss and in a sampler", async () => {
    const weights = constant(
      [
        [-0.8, 0.1],
        [0.2, -0.9],
        [0.3, -0.2],
      ],
      "float64",
    );
    const network = (x: Tensor, t: Tensor): Tensor =>
      matmul(concat([x, expandDims(t, -1)], -1), weights);
    const [x0, noise] = ["x0", "noise"].map((name) =>
      normal(key(name), [5, 2], { dtype: "float64" }),
    );
    const times = uniform(key("t"), [5], { low: 0.1, high: 1, dtype: "float64" });
    const loss = await evaluate(
      (a: Tensor, t: Tensor, z: Tensor) => denoising(sde)(network, a, t, z),
      x0,
      times,
      noise,
    );
    expect(loss.shape).toEqual([5]);
    for (const solver of Object.keys(solvers) as (keyof typeof solvers)[]) {
      const { samples } = await sample(reverse(sde, network), {
        ...options,
        solver,
        denoise: true,
        type: "float64",
      });
      expect(samples.data.every(Number.isFinite)).toBe(true);
    }
  });
  it.each([
    ["numbers", () => [[1, 2]] as unknown as Tensor, /returned a list, not a tensor/],
    ["nothing", () => undefined as unknown as Tensor, /returned nothing, not a tensor/],
    [
      "a shape of its own",
      (x: Tensor) => expandDims(x, -1),
      /score of points \[3, 2\] has shape \[3, 2, 1\]/,
    ],
    [
      "what does not depend on x",
      (x: Tensor) => fill(x.shape, 0.5, x.dtype),
      /does not depend on x/,
    ],
    [
      "what depends on other events",
      (x: Tensor) => div(x, mean(square(x))),
      /VP .*the score mixes events: for event 0/,
    ],
  ] as const)("that returns %s is refused", async (_, bad, message) => {
    await expect(sample(reverse(sde, bad), options)).rejects.toThrow(message);
  });
});

it("steps on a sphere in the ambient space draw tangential noise", async () => {
  const process = reversePush(sde, stereographic(), score);
  const shared = {
    count: 4,
    shape: [2],
    key: key(1),
    grid: uniformGrid(1, 0.999, 2),
    type: "float64",
  } as const;
  const inX = (await sample(process, shared)).samples;
  const outside = { ...eulerMaruyama({ stepIn: "y" }), onExit: (y: Tensor) => y };
  await expect(sample(process, { ...shared, solver: outside })).rejects.toThrow(
    /outside the domain/,
  );
  expect(inX.shape).toEqual([4, 3]);
});
