/**
 * A sampler that is opened once: calls do not compile again, and give the bits of fresh samplers.
 */
import { describe, expect, it } from "vitest";
import { additiveLogistic, alignToEvent, sigmoidMap } from "../../src/bijector/index.ts";
import { gaussian } from "../../src/distribution/index.ts";
import {
  at,
  mul,
  type NdArray,
  square,
  sub,
  sum,
  type Tensor,
  where,
} from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import {
  type DrawOptions,
  type KnownPoints,
  openSampler,
  type SolverName,
  sample,
  solvers,
} from "../../src/sampler/index.ts";
import { guide, type MarginalScore, reversePush, vp } from "../../src/sde/index.ts";
import { clusters, exactScore } from "./tools.ts";

const sde = vp();

/**
 * A score that counts how often it is traced: a graph with it in cannot be compiled without that.
 */
function counted(score: MarginalScore): { score: MarginalScore; traced: () => number } {
  let n = 0;
  return {
    score: (x, t) => {
      n++;
      return score(x, t);
    },
    traced: () => n,
  };
}

describe.each(Object.keys(solvers) as SolverName[])("an open %s", (solver) => {
  const { score, traced } = counted(exactScore(sde, clusters(2)));
  const process = reversePush(sde, sigmoidMap(), score);
  const scalable = solver !== "predictorCorrector";
  const shared = {
    solver: { ...solvers[solver](), onExit: "hold" },
    shape: [2],
    threads: 1,
    denoise: true,
  } as const;
  const calls: readonly DrawOptions[] = [
    { key: key(1), count: 6, steps: 12, driftScale: 1 },
    { key: key(2), count: 6, first: 3, grid: [1, 0.6, 0.3, 0.1, 0.02] },
    { key: key(3), count: 12, batch: 6, steps: 5, grid: "quadratic", tEnd: 0.01 },
    ...(scalable
      ? [0.9, 1.05].map((driftScale) => ({ key: key(4), count: 6, steps: 9, driftScale }))
      : []),
  ];

  it("does not compile again for another key, grid, scale or first sample, and samples as a fresh one does", async () => {
    const draw = await openSampler(process, shared);
    // One call for each of the two graphs there are: the process as it is, and with its drift
    // scaled.
    await draw(calls[0]);
    if (scalable) await draw({ ...calls[0], driftScale: 0.8 });
    const compiled = traced();
    const found = [];
    for (const call of calls) found.push(await draw(call));
    expect(traced()).toBe(compiled);
    await draw.dispose();
    await expect(draw(calls[0])).rejects.toThrow(/is disposed/);
    for (const [i, call] of calls.entries()) {
      const { samples, ...report } = await sample(process, { ...shared, ...call });
      const { samples: same, ...again } = found[i];
      expect(same.data).toEqual(samples.data);
      expect(again).toEqual(report);
    }
  });
});

describe("an open sampler", () => {
  it("compiles once per batch size and set of controls, ahead of the first step if asked", async () => {
    const { score, traced } = counted(exactScore(sde, clusters(2)));
    const draw = await openSampler(reversePush(sde, sigmoidMap(), score), {
      shape: [2],
      threads: 1,
    });
    const compiles = async (options: Partial<DrawOptions>): Promise<boolean> => {
      const before = traced();
      await draw({ key: key(1), count: 4, steps: 3, ...options });
      return traced() > before;
    };
    const calls: readonly (readonly [Partial<DrawOptions>, boolean])[] = [
      [{ steps: 1, tEnd: 0.99 }, true],
      [{}, false],
      [{ count: 6 }, true],
      [{ count: 4 }, false],
      [{ count: 6, steps: 5 }, false],
      [{ count: 10, batch: 6 }, false],
      [{ count: 64, batch: 4 }, false],
      [{ driftScale: 1.1 }, true],
      [{ driftScale: 0.9 }, false],
      [{ timeDilation: 2 }, true],
      [{ timeDilation: 2, driftScale: 0.9 }, true],
      [{ timeDilation: 3, driftScale: 1.2 }, false],
      [{ driftScale: 1.1, count: 6 }, true],
    ];
    for (const [options, expected] of calls)
      expect(await compiles(options), JSON.stringify(options)).toBe(expected);
    await draw.dispose();
  });

  it("refuses an energy or a likelihood that is not one number per event", async () => {
    const process = reversePush(sde, sigmoidMap(), exactScore(sde, clusters(2)));
    const call = { key: key(1), count: 4, steps: 2, shape: [2] } as const;
    await expect(sample(process, { ...call, energy: square })).rejects.toThrow(
      /the energy of a batch \[4\] has shape \[4, 2\].*one number per event/,
    );
    const event: NdArray = { shape: [2], dtype: "float32", data: Float32Array.of(0, 1) };
    const known = { mask: event, value: { ...event, data: Float32Array.of(0.5, 0.5) } };
    await expect(sample(process, { ...call, known, likelihood: (x) => square(x) })).rejects.toThrow(
      /the likelihood of a batch \[4\] has shape \[4, 2\]/,
    );
    await expect(
      sample(process, { ...call, aims: { there: 1 }, aim: (x) => square(x) }),
    ).rejects.toThrow(/the aim of a batch \[4\] has shape \[4, 2\]/);
  });

  it("refuses an energy, a likelihood or a target that mixes events but has the right shape", async () => {
    const process = reversePush(sde, sigmoidMap(), exactScore(sde, clusters(2)));
    const call = { key: key(1), count: 4, steps: 2, shape: [2] } as const;
    const event: NdArray = { shape: [2], dtype: "float32", data: Float32Array.of(0, 1) };
    const known = { mask: event, value: { ...event, data: Float32Array.of(0.5, 0.5) } };
    const own = (x: Tensor): Tensor => mul(sum(square(x), -1), -1);
    const mixed = (x: Tensor): Tensor => sub(own(x), sum(square(x)));
    const aims = { there: 1 };
    await expect(sample(process, { ...call, energy: mixed })).rejects.toThrow(
      /the energy mixes events: for event 0/,
    );
    // What is known has the size of the batch: the look is taken on as many events.
    const apart = (x: Tensor, of: typeof own, { points, mask }: KnownPoints): Tensor =>
      of(sub(where(mask, points, x), x));
    await expect(
      sample(process, { ...call, known, likelihood: (x, _, seen) => apart(x, mixed, seen) }),
    ).rejects.toThrow(/the likelihood mixes events: for event 0 .*sum\(x, -1\)/);
    await expect(
      sample(process, { ...call, aims, aim: (x, _, { there }) => mul(mixed(x), there) }),
    ).rejects.toThrow(/the aim mixes events: for event 0 .*sum\(x, -1\)/);
    const both = {
      known,
      aims,
      likelihood: (x: Tensor, _: Tensor, seen: KnownPoints) => apart(x, own, seen),
      aim: (x: Tensor, _: Tensor, { there }: Readonly<Record<string, Tensor>>) =>
        mul(own(x), there),
    };
    expect((await sample(process, { ...call, ...both })).samples.shape).toEqual([4, 2]);
  });

  it("takes strengths of guidance as inputs", async () => {
    const { score, traced } = counted(exactScore(sde, clusters(2)));
    const process = reversePush(sde, additiveLogistic(), score);
    const energy = (y: Tensor): Tensor => mul(square(sub(at(y, 0, -1), 0.5)), 4);
    const draw = await openSampler(process, { shape: [2], energy, type: "float64", threads: 1 });
    const call = { key: key(1), count: 8, steps: 10 } as const;
    const first = await draw(call);
    const compiled = traced();
    for (const guidance of [0, 0.5, 1, 3]) {
      const { samples } = await draw({ ...call, guidance });
      const fresh = await sample(guide(process, energy, guidance), {
        ...call,
        shape: [2],
        type: "float64",
        threads: 1,
      });
      samples.data.forEach((v, i) => {
        expect(v).toBeCloseTo(fresh.samples.data[i], 12);
      });
      if (guidance === 1) expect(samples.data).toEqual(first.samples.data);
    }
    // The fresh ones trace, the open one does not.
    const before = traced();
    await draw({ ...call, guidance: 2, key: key(9) });
    expect(traced()).toBe(before);
    expect(before).toBeGreaterThan(compiled);
    await draw.dispose();
    await expect(sample(process, { ...call, shape: [2], guidance: 2 })).rejects.toThrow(
      /no energy/,
    );
  });

  it("takes known values and the strength of their likelihood as inputs", async () => {
    const data = gaussian({ mean: [0.2, -0.3], covariance: 0.7 });
    const { score, traced } = counted(exactScore(sde, data));
    const process = reversePush(sde, sigmoidMap(), score);
    const likelihood = (x: Tensor, t: Tensor, { points }: KnownPoints): Tensor =>
      mul(square(sub(at(points, 0, -1), mul(at(x, 1, -1), sde.transition.meanFactor(t)))), -0.5);
    const shared = { shape: [2], likelihood, threads: 1 } as const;
    const event = (...values: number[]): NdArray => ({
      shape: [2],
      dtype: "float32",
      data: Float32Array.from(values),
    });
    const call = (
      value: number,
      mask: readonly [number, number],
      strength: number,
    ): DrawOptions => ({
      key: key(value * 100),
      count: 5,
      steps: 8,
      known: { mask: event(...mask), value: event(value, value), strength, resample: 1 },
    });
    const draw = await openSampler(process, shared);
    await draw(call(0.3, [1, 0], 1));
    const compiled = traced();
    const calls = [call(0.6, [1, 0], 1), call(0.2, [0, 1], 2.5), call(0.4, [1, 1], 1)];
    const found = [];
    for (const one of calls) found.push(await draw(one));
    expect(traced()).toBe(compiled);
    await draw.dispose();
    for (const [i, one] of calls.entries())
      expect((await sample(process, { ...shared, ...one })).samples.data).toEqual(
        found[i].samples.data,
      );
  });

  it("returns the requested kind of array", async () => {
    const process = reversePush(sde, sigmoidMap(), (x, t) => mul(x, alignToEvent(mul(t, -1), 1)));
    const call = { key: key(1), count: 1, steps: 1 } as const;
    const narrow: Float32Array = (await sample(process, { ...call, shape: [1] })).samples.data;
    const wide: Float64Array = (await sample(process, { ...call, shape: [1], type: "float64" }))
      .samples.data;
    const exact: Float64Array = (
      await sample(process, { ...call, shape: [1], device: "reference" })
    ).samples.data;
    const draw = await openSampler(process, { shape: [1], type: "float64" });
    const opened: Float64Array = (await draw(call)).samples.data;
    await draw.dispose();
    expect([narrow, wide, exact, opened].map((a) => a.constructor.name)).toEqual([
      "Float32Array",
      ...new Array(3).fill("Float64Array"),
    ]);
  });
});
