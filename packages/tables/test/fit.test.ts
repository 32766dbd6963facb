/** Fitting, measuring and using small densities, and what happens when numbers are lost. */

import { pickRows } from "diffeo/host";
import { drawArrays, fourierSlices, gssm, objectives } from "diffeo/matching";
import { dkefInit } from "diffeo/model";
import { fold, key, permutation } from "diffeo/random";
import { flatten } from "diffeo/train";
import { describe, expect, it } from "vitest";
import { annealedNormaliser } from "../src/dkef/annealed.ts";
import {
  importanceNormaliser,
  logBaseVolume,
  measurePoints,
  type Normaliser,
} from "../src/dkef/evaluate.ts";
import { fitDensity } from "../src/dkef/fit.ts";
import type { Fitted } from "../src/dkef/fitted.ts";
import { openFitting } from "../src/dkef/fitting.ts";
import { type GradientNoise, openGradientNoise } from "../src/dkef/gradient-noise.ts";
import { sampleRows } from "../src/dkef/sample.ts";
import { scoreRows } from "../src/dkef/score-rows.ts";
import { settingsOf } from "../src/dkef/settings.ts";
import { fitSteps } from "../src/dkef/steps.ts";
import { preparedTable } from "../src/node/datasets.ts";
import { runTask } from "../src/node/study.ts";
import { densityPicture } from "../src/picture/picture.ts";
import { openFitTasks, type RunRecord } from "../src/study/study.ts";
import { prepare } from "../src/table/prepare.ts";
import { generate } from "../src/table/synthetic.ts";
import { whitenRows } from "../src/table/whitening.ts";

const data = prepare(generate("two-moons", 1500, fold(key(0), "two-moons")), key(1));
const small = {
  seed: 1,
  inducing: 25,
  batch: 100,
  points: 200,
  epochs: 7,
  ridgeSteps: 20,
} as const;

/**
 * A fifth of the rows in batches a fifth as large, for what does not depend on how good a fit is.
 */
const fifth = prepare(generate("two-moons", 300, fold(key(0), "two-moons")), key(1));
const little = { ...small, inducing: 10, batch: 20 } as const;

/** The first training rows. */
const firstRows = (count: number) =>
  pickRows(
    data.train,
    Array.from({ length: count }, (_, i) => i),
  );

/**
 * The chains that look for a density's mass start from each of these, next to its inducing points.
 */
const few = firstRows(15);

/**
 * A density of so many inducing points as α has numbers, under a small network that was not
 * trained.
 */
function unfitted(alpha: readonly number[]): Fitted {
  const parameters = dkefInit(key(2), firstRows(alpha.length), { width: 4, logScales: [0] });
  return { step: 0, parameters, theta: flatten(parameters), alpha: Float64Array.from(alpha) };
}

/** The standard error of log Ẑ, √(Var w/N)/E w, for (Σw)²/Σw² = N (E w)²/E w². */
const errorOf = ({ effectiveSamples, samples }: Normaliser): number =>
  Math.sqrt(1 / effectiveSamples - 1 / samples);

const mean = (v: Float64Array): number => v.reduce((a, b) => a + b, 0) / v.length;

/** log ∫p̃ by a grid, and the means of x, y, x², y², xy under p̃. */
async function onGrid(fitted: Fitted): Promise<{ logZ: number; moments: number[] }> {
  const [cells, reach] = [100, 8];
  const step = (2 * reach) / cells;
  const points = new Float64Array(2 * cells * cells);
  for (let i = 0; i < cells * cells; i++) {
    points[2 * i] = (Math.floor(i / cells) + 0.5) * step - reach;
    points[2 * i + 1] = ((i % cells) + 0.5) * step - reach;
  }
  const columns = ["x", "y"];
  const whitening = { mean: [0, 0], matrix: [1, 0, 0, 1], logDet: 0 };
  const { logDensity } = await scoreRows(
    { fitted, spec: { loss: "ssm-vr", seed: 1, columns, whitening, logZ: 0 } },
    { source: "grid", columns, rows: cells * cells, values: points },
  );
  const mass = logDensity.map(Math.exp);
  const total = mass.reduce((a, b) => a + b, 0);
  const of = (f: Moment): number =>
    mass.reduce((t, w, i) => t + w * f(points[2 * i], points[2 * i + 1]), 0) / total;
  return { logZ: Math.log(total * step * step), moments: powers.map(of) };
}

type Moment = (x: number, y: number) => number;
const powers: readonly Moment[] = [
  (x) => x,
  (_, y) => y,
  (x) => x * x,
  (_, y) => y * y,
  (x, y) => x * y,
];

describe("a fit of two moons", () => {
  it("is better than a Gaussian, has the normaliser of a grid, and is scored and sampled correctly", async () => {
    const options = { loss: "ssm-vr", ...small } as const;
    const found = await fitDensity(data, options);
    expect([found.failure, found.chosenByExact]).toEqual([undefined, undefined]);

    const points = await measurePoints(found.chosen, data.test);
    expect(mean(points.scoreMatching)).toBeLessThan(-5); // a unit Gaussian has −1
    const exact = await onGrid(found.chosen);
    const plain = await importanceNormaliser(found.chosen, 25_000, key(5));
    const annealed = await annealedNormaliser(found.chosen, few, { key: key(6) });
    for (const found of [plain, annealed]) {
      expect(found.effectiveSamples).toBeGreaterThan(1000);
      expect(Math.abs(found.logZ - exact.logZ)).toBeLessThan(4 * errorOf(found));
    }
    expect(mean(points.logDensity) - annealed.logZ).toBeGreaterThan(-2.75); // a unit Gaussian has −2.84

    const model = {
      fitted: found.chosen,
      spec: {
        loss: "ssm-vr",
        seed: 1,
        columns: data.columns,
        whitening: data.whitening,
        logZ: annealed.logZ,
      },
    } as const;
    const rows = generate("two-moons", 3, key(4));
    // The score of raw rows is the gradient of their log-density.
    const h = 1e-5;
    const moves = [0, 1].flatMap((j) =>
      [h, -h].map((by) => rows.values.map((v, i) => (i % 2 === j ? v + by : v))),
    );
    const { logDensity, score } = await scoreRows(model, {
      ...rows,
      rows: 15,
      values: Float64Array.from([rows.values, ...moves].flatMap((values) => [...values])),
    });
    for (let j = 0; j < 2; j++)
      for (let i = 0; i < 3; i++) {
        const [ahead, behind] = [logDensity[6 * j + 3 + i], logDensity[6 * j + 6 + i]];
        expect((ahead - behind) / (2 * h)).toBeCloseTo(score[2 * i + j], 4);
      }
    expect(logDensity.every(Number.isFinite)).toBe(true);

    const many = generate("two-moons", 2300, key(4));
    const last = { ...many, rows: 2, values: many.values.slice(-4) };
    const [whole, end] = [await scoreRows(model, many), await scoreRows(model, last)];
    whole.logDensity.slice(-2).forEach((v, i) => {
      expect(v).toBeCloseTo(end.logDensity[i], 9);
    });
    whole.score.slice(-4).forEach((v, i) => {
      expect(v).toBeCloseTo(end.score[i], 9);
    });

    const other = (columns: readonly string[]) => ({ ...model, spec: { ...model.spec, columns } });
    await expect(densityPicture(rows, [model, other(["y", "x"])])).rejects.toThrow(
      /model 2 has the columns y, x/,
    );
    await expect(densityPicture(rows, [model, other(["x", "y", "z"])])).rejects.toThrow(
      /model 2 has 3 columns/,
    );

    for (const method of ["hmc", "mala"] as const) {
      const count = 600;
      const drawn = whitenRows(
        (await sampleRows(model, count, { method, steps: 30, key: key(8) })).values,
        data.whitening,
      );
      powers.forEach((f, k) => {
        const values = Float64Array.from({ length: count }, (_, i) =>
          f(drawn[2 * i], drawn[2 * i + 1]),
        );
        const spread = Math.sqrt(mean(values.map((v) => (v - mean(values)) ** 2)) / count);
        expect(Math.abs(mean(values) - exact.moments[k]), method).toBeLessThan(4 * spread);
      });
    }
  });

  it.each(["sm", "ssm", "gssm", "gssm-vr"] as const)(
    "improves exact score matching with %s too",
    async (loss) => {
      const found = await fitDensity(data, { loss, ...small, inducing: 15, epochs: 3, both: true });
      const points = await measurePoints(found.chosenByExact as Fitted, data.test);
      expect(mean(points.scoreMatching)).toBeLessThan(-3);
      expect(found.curve.exact.length).toBe(Math.floor(found.steps / 5));
    },
  );
});

it("gives the same result for a loss by name and for the same custom objective", async () => {
  const options = { ...little, epochs: 1 };
  const named = await fitDensity(fifth, { ...options, loss: "gssm-vr" });
  const own = await fitDensity(fifth, {
    ...options,
    loss: { ...objectives["gssm-vr"](), name: "own" },
  });
  expect(own.chosen.alpha).toEqual(named.chosen.alpha);
  expect(own.curve).toEqual(named.curve);
  const fourier = await fitDensity(fifth, { ...options, loss: gssm(fourierSlices()) });
  expect(fourier.failure).toBeUndefined();
  expect(fourier.curve.loss).toHaveLength(12);
});

it("has the volume of q₀ for α = 0, by both estimates", async () => {
  const flat = unfitted(new Array(10).fill(0));
  expect((await importanceNormaliser(flat, 2000, key(1))).logZ).toBeCloseTo(logBaseVolume(2), 6);
  const annealed = await annealedNormaliser(flat, few, { key: key(1), particles: 1024 });
  expect(Math.abs(annealed.logZ - logBaseVolume(2))).toBeLessThan(4 * errorOf(annealed));
});

it("has the normaliser of a grid, e²⁸, within four standard errors of less than a hundredth", async () => {
  const peaked = unfitted(new Array(10).fill(4));
  // Doubled until a thousand are effective.
  const annealed = await annealedNormaliser(peaked, few, { key: key(1), particles: 512 });
  expect(annealed.effectiveSamples).toBeGreaterThanOrEqual(1000);
  expect(errorOf(annealed)).toBeLessThan(0.01);
  expect(Math.abs(annealed.logZ - (await onGrid(peaked)).logZ)).toBeLessThan(4 * errorOf(annealed));
});

it("stops when the patience runs out, and continues only for the curve on request", async () => {
  const options = { loss: "gssm", ...little, epochs: 40, patience: 3 } as const;
  const found = await fitDensity(fifth, options);
  expect(found.steps).toBe(found.stopped);
  expect(found.stopped - found.chosen.step).toBe(3);
  const longer = await fitDensity(fifth, { ...options, leastSteps: found.steps + 15 });
  expect(longer.steps).toBe(found.steps + 15);
  expect(longer.stopped).toBe(found.stopped);
  expect(longer.chosen.alpha).toEqual(found.chosen.alpha);
});

it("keeps the last good state if numbers are lost, and names the step", async () => {
  const found = await fitDensity(fifth, { loss: "ssm-vr", ...little, rate: 1e20 });
  expect(found.failure).toMatch(/the (training|validation) loss became .* at step [12]/);
  expect(found.chosen.theta.every(Number.isFinite)).toBe(true);
});

it("reports a lost validation loss, and the step", async () => {
  const values = Float32Array.from(fifth.validation.data as Float32Array);
  values[0] = 1e25;
  const found = await fitDensity(
    { ...fifth, validation: { ...fifth.validation, data: values } },
    { loss: "ssm", ...little },
  );
  expect(found.failure).toBe("the validation loss became NaN at step 1");
  expect(found.curve.loss).toEqual([]);
});

it("reports if α cannot be computed", async () => {
  const train = { ...fifth.train, data: (fifth.train.data as Float32Array).map((v) => 1e20 * v) };
  const found = await fitDensity({ ...fifth, train }, { loss: "ssm", ...little });
  expect(found.failure).toMatch(
    /loss became .* at step 1; the equations for α are not finite at step 0, so it is 0/,
  );
  expect(found.chosen.alpha).toEqual(new Float64Array(little.inducing));
});

describe("a normaliser that cannot be computed", () => {
  const normaliser = (alpha: readonly number[]) =>
    annealedNormaliser(unfitted(alpha), firstRows(2), { key: key(1), particles: 256 });

  it("is an error if the path does not end", async () => {
    await expect(normaliser([1e8, -1e8])).rejects.toThrow(
      /annealing reached only β = .* after 1000 steps/,
    );
  });

  it("is an error if the density is not finite", async () => {
    await expect(normaliser([Number.NaN, Number.NaN])).rejects.toThrow(
      /normaliser cannot be computed: .* not finite/,
    );
  });

  it("stops when the signal is aborted", async () => {
    const signal = AbortSignal.abort();
    await expect(annealedNormaliser(unfitted([0]), few, { key: key(1), signal })).rejects.toThrow(
      /abort/,
    );
    await expect(importanceNormaliser(unfitted([0]), 1000, key(1), signal)).rejects.toThrow(
      /abort/,
    );
  });
});

it("reports fewer rows than inducing points", async () => {
  await expect(fitDensity(data, { loss: "ssm", seed: 1, inducing: 5000 })).rejects.toThrow(
    /1215 training rows are fewer than the 5000 inducing points.*fewer inducing points/,
  );
  await expect(fitDensity(data, { loss: "ssm", seed: 1, batch: 41 })).rejects.toThrow(
    /41 cannot be halved.*an even batch/,
  );
});

it("lists the runs of a study without a record, the longest first", () => {
  const record = { dataset: "red-wine", loss: "ssm", seed: 0 } as RunRecord;
  const open = openFitTasks([record], ["red-wine", "parkinsons"], ["ssm", "sm"], 1);
  expect(open.map(({ dataset, loss }) => `${dataset} ${loss}`)).toEqual([
    "parkinsons sm",
    "parkinsons ssm",
    "red-wine sm",
  ]);
});

it("stops a run when the signal is aborted", async () => {
  const signal = AbortSignal.abort();
  await expect(runTask({ dataset: "rings", loss: "ssm", seed: 0 }, { signal })).rejects.toThrow(
    /abort/,
  );
  expect((await preparedTable("rings", { seed: 0, folder: "" })).data.n).toBe(2);
});

describe("the noise of a gradient", () => {
  const options = { ...small, batch: 40 } as const;
  it("comes from the slices: none for exact score matching, less with exact means than without", async () => {
    const at = flatten(dkefInit(key(2), firstRows(options.inducing)));
    const noiseOf = async (
      loss: "sm" | "ssm" | "ssm-vr" | "gssm" | "gssm-vr",
    ): Promise<GradientNoise> => {
      const open = openGradientNoise(data, { ...options, loss });
      const found = await open.at(at, 24);
      await open.dispose();
      return found;
    };
    const exact = await noiseOf("sm");
    expect(exact.noise).toBeLessThan(1e-9 * exact.signal);
    const [ssm, ssmVr, gssm, gssmVr] = [
      await noiseOf("ssm"),
      await noiseOf("ssm-vr"),
      await noiseOf("gssm"),
      await noiseOf("gssm-vr"),
    ];
    expect(ssmVr.noise).toBeLessThan(ssm.noise);
    expect(gssmVr.noise).toBeLessThan(gssm.noise);
  });

  it("is half the mean square of the difference of two draws, and the signal the mean product of two", async () => {
    const settings = settingsOf({ ...options, loss: "gssm" }, data.train.shape[0]);
    const { steps, draws, root } = openFitting(data, settings);
    const order = permutation(fold(root, "noise"), data.train.shape[0]).data;
    const x = pickRows(data.train, order.subarray(0, 40));
    const theta = flatten(dkefInit(key(2), firstRows(options.inducing)));
    const gradients: Float32Array[] = [];
    for (let i = 0; i < 3; i++) {
      const found = await steps.gradient(
        theta,
        x,
        draws("noise alpha", i, 20),
        draws("noise loss", i, 20),
      );
      gradients.push(found.data as Float32Array);
    }
    await steps.dispose();
    const open = openGradientNoise(data, { ...options, loss: "gssm" });
    const { noise, signal } = await open.at(theta, 3);
    await open.dispose();
    const pairs = [
      [0, 1],
      [0, 2],
      [1, 2],
    ].map(([i, j]) => [gradients[i], gradients[j]]);
    const over = (f: (a: number, b: number) => number): number =>
      pairs.reduce((s, [a, b]) => a.reduce((t, v, k) => t + f(v, b[k]), s), 0) / pairs.length;
    expect(noise / over((a, b) => (a - b) ** 2 / 2)).toBeCloseTo(1, 9);
    expect(signal).toBeCloseTo(
      Math.max(
        0,
        over((a, b) => a * b),
      ),
      9,
    );
    expect(signal).toBeGreaterThan(0);
  });

  it("is measured for the gradient of an Adam step", async () => {
    const objective = objectives.gssm();
    const start = dkefInit(key(2), firstRows(5));
    const sizes = { n: 2, batch: 20, points: 20, validation: 20, ridgeBatch: 20 };
    const steps = fitSteps(objective, start, sizes, { rate: 1e-2, clip: 1e9, ridgeRate: 1e-3 });
    const flat = flatten(start);
    const zero = new Float32Array(flat.length);
    const draws = (name: string) => drawArrays(objective.draws(2), [10], fold(key(3), name));
    const x = firstRows(20);
    const { state } = await steps.train(
      { theta: flat, m: zero, v: zero },
      x,
      draws("a"),
      draws("b"),
      1,
    );
    const gradient = (await steps.gradient(flat, x, draws("a"), draws("b"))).data as Float32Array;
    await steps.dispose();
    const size = Math.hypot(...gradient);
    expect(size).toBeGreaterThan(0);
    // m₁ = (1 − β₁) g
    gradient.forEach((g, i) => {
      expect(Math.abs((state.m.data[i] as number) - 0.1 * g)).toBeLessThan(1e-5 * size);
    });
  });
});
