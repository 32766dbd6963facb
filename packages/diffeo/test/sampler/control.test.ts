/** Drift scale, time dilation, guidance and known coordinates. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  additiveLogistic,
  type Bijector,
  chain,
  sigmoidMap,
  timeAffine,
  unitBall,
} from "../../src/bijector/index.ts";
import { gaussian } from "../../src/distribution/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  at,
  constant,
  div,
  exp,
  fill,
  log,
  mul,
  type NdArray,
  square,
  sub,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, normal, sampleKeys } from "../../src/random/index.ts";
import {
  brownianPath,
  type DrawOptions,
  heun,
  type KnownPoints,
  milstein,
  type OpenOptions,
  openSampler,
  type Solver,
  type SolverName,
  sample,
  solvers,
  uniformGrid,
} from "../../src/sampler/index.ts";
import {
  guide,
  linearSchedule,
  type Process,
  reverse,
  reversePush,
  vp,
} from "../../src/sde/index.ts";
import { clusters, exactScore, fittedOrder, meanDistance, remembered } from "./tools.ts";

const gentle = vp({ schedule: linearSchedule({ min: 0.5, max: 2 }) });
const moving = chain(
  timeAffine({ scale: (t) => exp(mul(t, -0.5)), shift: (t) => mul(t, 0.8) }),
  sigmoidMap(),
);

describe("scaling the drift of y", () => {
  const stepCounts = [64, 128];
  const count = 150;
  const times = (steps: number): number[] => uniformGrid(1, 0.05, steps);
  const path = remembered(brownianPath(key("control"), times(128)));
  const start = normal(sampleKeys(key("start"), count), [2], { dtype: "float64" });
  const score = exactScore(gentle, clusters(2));

  const inY = milstein({ stepIn: "y" });

  /**
   * How far two solvers are from each other, for every number of steps and any control: opened once
   * for all of them.
   */
  const opened = async (phi: Bijector, pair: readonly [Solver, Solver]) => {
    const process = reversePush(gentle, phi, score);
    const first = await evaluate((x: Tensor) => phi.forward(x, constant(1, "float64")), start);
    const open = (solver: Solver) =>
      openSampler(process, { shape: [2], solver, type: "float64", threads: 1 });
    const [one, two] = [await open(pair[0]), await open(pair[1])];
    const differences = async (control: Partial<DrawOptions>): Promise<number[]> => {
      const found: number[] = [];
      for (const steps of stepCounts) {
        const call = { ...control, start: first, key: key(1), grid: times(steps), noise: path };
        found.push(meanDistance((await one(call)).samples, (await two(call)).samples));
      }
      return found;
    };
    return { differences, dispose: () => Promise.all([one.dispose(), two.dispose()]) };
  };

  describe.each([additiveLogistic(), unitBall(), moving])(
    "gives the same process stepped in y and in x: $name",
    (phi) => {
      let pair: Awaited<ReturnType<typeof opened>>;
      beforeAll(async () => {
        pair = await opened(phi, [inY, solvers.domainPreserving()]);
      });
      afterAll(() => pair.dispose());

      it.each([
        { driftScale: 0.8 },
        { driftScale: 1.2 },
        { timeDilation: 0.6 },
        { driftScale: 0.9, timeDilation: 1.3 },
      ])("%j", async (control) => {
        const found = await pair.differences(control);
        // Two processes that are not the same stay apart: order 0.
        expect(fittedOrder(stepCounts, found)).toBeGreaterThan(0.8);
        expect(found[1]).toBeLessThan(0.016);
      });
    },
  );

  it("is not scaling the drift of x", async () => {
    const plain = reversePush(gentle, additiveLogistic(), score);
    const options = {
      start,
      key: key(1),
      grid: times(128),
      noise: path,
      driftScale: 0.8,
      type: "float64",
    } as const;
    const naive = await sample(reverse(gentle, score), options);
    const mapped = await evaluate((x: Tensor) => additiveLogistic().forward(x), naive.samples);
    const first = await evaluate((x: Tensor) => additiveLogistic().forward(x), start);
    const right = await sample(plain, { ...options, start: first });
    const stepped = await sample(plain, { ...options, start: first, solver: inY });
    expect(meanDistance(right.samples, stepped.samples)).toBeLessThan(0.002);
    expect(meanDistance(mapped, stepped.samples)).toBeGreaterThan(0.005);
  });

  it("changes the probability flow equally in both spaces", async () => {
    const pair = await opened(moving, [heun({ stepIn: "x" }), heun({ stepIn: "y" })]);
    expect(fittedOrder(stepCounts, await pair.differences({ driftScale: 0.8 }))).toBeGreaterThan(
      1.8,
    );
    await pair.dispose();
  });
});

describe("guidance", () => {
  it("by the exact energy of a tilted distribution gives the process of that distribution, in any space", async () => {
    const sde = vp();
    const { meanFactor, std } = sde.transition;
    const [before, after] = [
      gaussian({ mean: [0.5, -0.2], covariance: 0.8 }),
      gaussian({ mean: [-0.3, 0.6], covariance: [0.2, 0.5] }),
    ];
    const phi = unitBall();
    // E(y, t) = log p_t(x) − log p′_t(x), so that p_t e^{−E} = p′_t
    const energy = (y: Tensor, t: Tensor): Tensor => {
      const x = phi.inverse(y);
      return sub(
        before.marginal(meanFactor(t), std(t)).logDensity(x),
        after.marginal(meanFactor(t), std(t)).logDensity(x),
      );
    };
    const guided = guide(reversePush(sde, phi, exactScore(sde, before)), energy);
    const wanted = reversePush(sde, phi, exactScore(sde, after));
    const y: NdArray = {
      shape: [3, 2],
      dtype: "float64",
      data: Float64Array.of(0.1, 0.2, -0.5, 0.6, 0.3, -0.8),
    };
    for (const t of [0.1, 0.5, 0.9]) {
      const [a, b] = await evaluate(
        (p: Tensor) => [
          guided.drift(p, constant(t, "float64")),
          wanted.drift(p, constant(t, "float64")),
        ],
        y,
      );
      for (let i = 0; i < 6; i++) expect(Number(a.data[i])).toBeCloseTo(Number(b.data[i]), 9);
    }
  });

  it("pulls samples towards low energy", async () => {
    const sde = vp();
    const process = reversePush(sde, additiveLogistic(), exactScore(sde, clusters(2)));
    const options = { count: 500, shape: [2], key: key(1), steps: 60 } as const;
    const mean = ({ samples: { data } }: { samples: NdArray }): number =>
      Array.from(data as Float32Array).reduce((s, v, i) => s + (i % 2 === 0 ? v / 500 : 0), 0);
    const free = mean(await sample(process, options));
    const pulled = mean(
      await sample(
        guide(process, (y) => mul(log(at(y, 0, -1)), -1), 2),
        options,
      ),
    );
    expect(pulled).toBeGreaterThan(free + 0.1);
  });
});

describe("known coordinates", () => {
  // (X₁, X₂) with correlation 0.9: given X₁ = 1, X₂ ~ N(0.9, 0.19)
  const sde = vp();
  const data = gaussian({
    mean: [0, 0],
    covariance: [
      [1, 0.9],
      [0.9, 1],
    ],
  });
  const process = reversePush(sde, sigmoidMap(), exactScore(sde, data));
  const known = (resample: number) =>
    ({
      mask: { shape: [2], dtype: "float64", data: Float64Array.of(1, 0) },
      value: { shape: [2], dtype: "float64", data: Float64Array.of(1 / (1 + Math.exp(-1)), 0.5) },
      resample,
    }) as const;
  const run = async (
    resample: number,
    steps: number,
    likelihood?: OpenOptions["likelihood"],
    solver: SolverName = "domainPreserving",
    count = 2000,
  ) => {
    const result = await sample(process, {
      count,
      shape: [2],
      key: key(3),
      steps,
      known: known(resample),
      solver,
      likelihood,
      type: "float64",
      threads: 1,
    });
    const logit = Array.from(
      result.samples.data as Float64Array,
      (y) => Math.log(y) - Math.log1p(-y),
    );
    const unknown = logit.filter((_, i) => i % 2 === 1);
    const mean = unknown.reduce((s, v) => s + v, 0) / count;
    const variance = unknown.reduce((s, v) => s + (v - mean) ** 2, 0) / count;
    console.log(
      `${solver}, resample ${resample}, ${steps} steps: mean ${mean.toFixed(3)} of 0.9, variance ${variance.toFixed(3)} of 0.19`,
    );
    return { mean, variance, result };
  };

  it("are unchanged, and the others follow their conditional distribution if steps are repeated", async () => {
    const few = 1000;
    const once = await run(1, 30, undefined, "domainPreserving", few);
    const often = await run(10, 30, undefined, "domainPreserving", few);
    for (let i = 0; i < few; i++)
      expect(Number(often.result.samples.data[2 * i])).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
    expect(often.result.scoreEvaluations).toBe(300);
    // 1,000 samples: 3 standard errors are 0.041 of the mean, 0.025 of the variance.
    expect(Math.abs(often.mean - 0.9)).toBeLessThan(0.041);
    expect(Math.abs(often.variance - 0.19)).toBeLessThan(0.025);
    expect(Math.abs(once.mean - 0.9)).toBeGreaterThan(2 * Math.abs(often.mean - 0.9));
  });

  it("follow the forward process, and a repeated step goes back by its transition", async () => {
    // Nothing moves but by what is known: steps are still, and noise is given.
    const still: Process = {
      ...reverse(sde, exactScore(sde, data)),
      drift: (x) => mul(x, 0),
      diffusion: (x) => ({ kind: "scalar", value: fill([], 0, x.dtype) }),
    };
    const [from, to, x0] = [0.9, 0.4, 1.7];
    const distribution = (t: number) => {
      const m = Math.exp(-0.5 * (0.1 * t + 9.95 * t * t));
      return { m, variance: 1 - m * m };
    };
    const [[before, after], r] = [
      [distribution(from), distribution(to)],
      distribution(from).m / distribution(to).m,
    ];
    const seen: number[][] = [];
    await sample(still, {
      start: { shape: [1, 2], dtype: "float64", data: Float64Array.of(0.3, -0.8) },
      key: key(1),
      grid: [from, to],
      type: "float64",
      // Of a step: its own noise, that of what is known, and of the way back.
      noise: ({ index, shape }) =>
        new Float64Array(shape.reduce((a, b) => a * b, 1)).fill([0, 0.6, -1.1][index]),
      known: {
        mask: { shape: [2], dtype: "float64", data: Float64Array.of(1, 0) },
        value: { shape: [2], dtype: "float64", data: Float64Array.of(x0, 0) },
        resample: 2,
      },
      onStep: async ({ points }) => {
        seen.push(Array.from((await points()).data as Float64Array));
      },
    });
    expect(seen[0][0]).toBeCloseTo(after.m * x0 + Math.sqrt(after.variance) * 0.6, 12);
    expect(seen[0][1]).toBeCloseTo(
      r * -0.8 - 1.1 * Math.sqrt(before.variance - r * r * after.variance),
      12,
    );
  });

  it("may differ between samples and batches, and are kept by denoising", async () => {
    const value = {
      shape: [5, 2],
      dtype: "float64",
      data: Float64Array.from({ length: 10 }, (_, i) => 0.1 + 0.08 * i),
    } as const;
    const options = {
      count: 5,
      shape: [2],
      key: key(3),
      steps: 10,
      type: "float64",
      denoise: true,
    } as const;
    const whole = await sample(process, { ...options, known: { ...known(2), value } });
    const parts = await sample(process, { ...options, known: { ...known(2), value }, batch: 2 });
    for (let i = 0; i < 5; i++)
      expect(Number(whole.samples.data[2 * i])).toBeCloseTo(value.data[2 * i], 12);
    for (let i = 0; i < 10; i++)
      expect(Number(parts.samples.data[i])).toBeCloseTo(Number(whole.samples.data[i]), 12);
  });

  it("guide the others to their conditional distribution in one pass by the gradient of their likelihood", async () => {
    // Along (1, ±1)/√2 the data have variance λ = 1.9 and 0.1, so X₁ | x_t ~ N(½ Σ a (x₁ ± x₂), ½ Σ
    // b),
    // a = mλ/(m²λ + σ²), b = λσ²/(m²λ + σ²).
    const likelihood = (x: Tensor, t: Tensor, { points }: KnownPoints): Tensor => {
      const { meanFactor, std } = sde.transition;
      const [m, noise] = [meanFactor(t), square(std(t))];
      const over = (lambda: number): Tensor => add(mul(square(m), lambda), noise);
      const [x1, x2] = [at(x, 0, -1), at(x, 1, -1)];
      const along = (lambda: number, u: Tensor): Tensor =>
        mul(div(mul(m, lambda), over(lambda)), u);
      const mean = mul(add(along(1.9, add(x1, x2)), along(0.1, sub(x1, x2))), 0.5);
      const variance = mul(
        add(div(mul(noise, 1.9), over(1.9)), div(mul(noise, 0.1), over(0.1))),
        0.5,
      );
      return div(square(sub(at(points, 0, -1), mean)), mul(variance, -2));
    };
    const { mean, variance, result } = await run(1, 100, likelihood);
    expect(result.scoreEvaluations).toBe(100);
    // 2,000 samples: 3 standard errors are 0.03 of the mean, 0.018 of the variance.
    expect(Math.abs(mean - 0.9)).toBeLessThan(0.03);
    expect(Math.abs(variance - 0.19)).toBeLessThan(0.02);
    // Exponential steps, which look back at the last one, come as near in two fifths of the steps.
    const few = await run(1, 40, likelihood, "dpmSolver2MSde");
    expect(Math.abs(few.mean - 0.9)).toBeLessThan(0.03);
    expect(Math.abs(few.variance - 0.19)).toBeLessThan(0.02);
    const often = await run(10, 30, undefined, "dpmSolver2MSde", 1000);
    expect(Math.abs(often.mean - 0.9)).toBeLessThan(0.05);
  });

  it("guide in proportion to their strength", async () => {
    const of = async (by: number, strength: number): Promise<number[]> => {
      const { samples } = await sample(process, {
        ...({ count: 3, shape: [2], key: key(3), steps: 20, type: "float64", threads: 1 } as const),
        known: { ...known(1), strength },
        likelihood: (x, _, { points }) => mul(square(sub(at(points, 0, -1), at(x, 1, -1))), -by),
      });
      return Array.from(samples.data as Float64Array);
    };
    const [half, same, whole] = [await of(0.1, 0.5), await of(0.05, 1), await of(0.1, 1)];
    half.forEach((v, i) => {
      expect(v).toBeCloseTo(same[i], 12);
    });
    expect(Math.abs(half[1] - whole[1])).toBeGreaterThan(1e-3);
  });

  it("may be different coordinates in each sample", async () => {
    const options = { count: 2, shape: [2], key: key(3), steps: 10, type: "float64" } as const;
    const value = { shape: [2], dtype: "float64", data: Float64Array.of(0.3, 0.6) } as const;
    const given = (mask: number[], shape: number[]) =>
      sample(process, {
        ...options,
        known: {
          value,
          mask: { shape, dtype: "float64", data: Float64Array.from(mask) },
          resample: 2,
        },
      });
    const both = (await given([1, 0, 0, 1], [2, 2])).samples.data;
    const first = (await given([1, 0], [2])).samples.data;
    const second = (await given([0, 1], [2])).samples.data;
    expect([...(both as Float64Array)]).toEqual([first[0], first[1], second[2], second[3]]);
    expect(both[0]).toBeCloseTo(0.3, 12);
    expect(both[3]).toBeCloseTo(0.6, 12);
    await expect(given([1, 0, 0], [3])).rejects.toThrow("known: `mask` has shape [3]");
  });

  it("must not depend on unknown ones", async () => {
    const mixed = reversePush(sde, additiveLogistic(), exactScore(sde, data));
    await expect(
      sample(mixed, {
        count: 4,
        shape: [2],
        key: key(1),
        known: {
          mask: { shape: [2], dtype: "float32", data: Float32Array.of(1, 0) },
          value: { shape: [2], dtype: "float32", data: Float32Array.of(0.3, 0.3) },
        },
      }),
    ).rejects.toThrow(/mixes known and unknown coordinates/);
  });
});
