/**
 * Steps in a module have the bits of steps taken call by call: every solver and SDE, with the same
 * noise, and every option of a call. The float64 reference is near.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { additiveLogistic } from "../../src/bijector/index.ts";
import {
  add,
  div,
  expandDims,
  mul,
  ndarray,
  square,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key } from "../../src/random/index.ts";
import {
  clampToSimplex,
  type DrawOptions,
  eulerMaruyama,
  heun,
  milstein,
  type OpenOptions,
  openSampler,
  predictorCorrector,
  type Solver,
  type SolverName,
  solvers,
} from "../../src/sampler/index.ts";
import { independentNoise } from "../../src/sampler/noise.ts";
import { StepsSession } from "../../src/sampler/steps-session.ts";
import { forward, type Process, reverse, reversePush, vp } from "../../src/sde/index.ts";
import { gaussianSdes, relativeError, stateDependent } from "../sde/table.ts";
import { clusters, exactScore } from "./tools.ts";

const call: DrawOptions = { key: key("steps"), count: 7, steps: 12 };
const own = vi.spyOn(StepsSession.prototype, "run");
afterEach(() => own.mockClear());

/** Results by a module, and by one call a step with the same noise given. */
async function both(process: Process, opening: OpenOptions, more: Partial<DrawOptions> = {}) {
  const draw = await openSampler(process, { device: "wasm", threads: 1, ...opening });
  const options = { ...call, ...more };
  const inside = await draw(options);
  expect(own).toHaveBeenCalled();
  own.mockClear();
  const outside = await draw({ ...options, noise: independentNoise(options.key) });
  expect(own).not.toHaveBeenCalled();
  await draw.dispose();
  return { inside, outside };
}

const sde = vp();
const process = reversePush(sde, additiveLogistic(), exactScore(sde, clusters(2)));
const clamped = { onExit: clampToSimplex(1e-3) };
/** Solvers that step in y are kept inside. */
const inY: Partial<Record<SolverName, Solver>> = {
  eulerMaruyama: eulerMaruyama(clamped),
  milstein: milstein(clamped),
};
const names = Object.keys(solvers) as SolverName[];

describe.each(names)("%s", (name) => {
  it.each(["float32", "float64"] as const)("on the simplex in %s", async (type) => {
    const opening = { shape: [2], solver: inY[name] ?? name, type, denoise: true };
    const { inside, outside } = await both(process, opening);
    expect(inside).toEqual(outside);
    if (type === "float32") return;
    const draw = await openSampler(process, { ...opening, device: "reference" });
    const { samples } = await draw(call);
    await draw.dispose();
    expect(relativeError(inside.samples.data, samples.data)).toBeLessThan(1e-9);
  });

  it.each(Object.entries(gaussianSdes))("of the reverse of %s", async (_, make) => {
    const given = make();
    const backwards = reverse(given, exactScore(given, clusters(3)));
    // An end away from 0: by so few steps none of them is to overflow.
    const { inside, outside } = await both(
      backwards,
      { shape: [3], solver: name, type: "float64" },
      { tEnd: given.horizon / 5 },
    );
    expect(inside).toEqual(outside);
  });
});

it.each(stateDependent.map((make) => [make().name, make] as const))(
  "of %s, whose noise depends on the point",
  async (_, make) => {
    for (const solver of ["eulerMaruyama", "milstein"] as const) {
      const start = ndarray([[0.3, -0.7, 1], [1, 2, 3]], "float64"); // biome-ignore format: rows
      const opening = { shape: [3], solver, type: "float64" } as const;
      const { inside, outside } = await both(forward(make()), opening, { start, count: 2 });
      expect(inside).toEqual(outside);
    }
  },
);

describe("options of a call", () => {
  const target = [0.5, 0.2];
  const energy = (y: Tensor): Tensor => mul(sum(square(sub(y, target)), -1), -1);

  it("has scaled drift, time and guidance", async () => {
    const { inside, outside } = await both(
      process,
      { shape: [2], energy },
      { driftScale: 1.1, timeDilation: 1.2, guidance: 2, first: 40 },
    );
    expect(inside).toEqual(outside);
  });

  it("has churn and Langevin steps", async () => {
    for (const solver of [heun({ churn: 0.2 }), predictorCorrector({ steps: 2 })]) {
      const { inside, outside } = await both(process, { shape: [2], solver });
      expect(inside).toEqual(outside);
    }
  });

  it("has known coordinates with steps taken once", async () => {
    const known = {
      mask: ndarray([1, 0, 0], "float32"),
      value: ndarray([0.4, 0, 0], "float32"),
      resample: 1,
    };
    const data = reverse(sde, exactScore(sde, clusters(3)));
    const { inside, outside } = await both(data, { shape: [3] }, { known });
    expect(inside).toEqual(outside);
    expect(inside.samples.data[0]).toBe(Math.fround(0.4));
  });

  it("counts exits and clamps, and holds points", async () => {
    const wide = { steps: 30, count: 50 };
    for (const onExit of ["hold", clamped.onExit] as const) {
      const solver = eulerMaruyama({ onExit });
      const { inside, outside } = await both(process, { shape: [2], solver }, wide);
      expect(inside).toEqual(outside);
      expect(inside.exits).toBeGreaterThan(0);
      expect(inside.clamps).toBeGreaterThan(0);
    }
  });

  it("reports every step with its points", async () => {
    const seen: number[][] = [[], []];
    const draw = await openSampler(process, { shape: [2], device: "wasm" });
    for (const [i, noise] of [undefined, independentNoise(call.key)].entries())
      await draw({
        ...call,
        ...(noise && { noise }),
        onStep: async ({ step, t, points }) => {
          seen[i].push(step, t, ...((await points()).data as Float32Array));
        },
      });
    await draw.dispose();
    expect(seen[0].length).toBe(12 * 16);
    expect(seen[0]).toEqual(seen[1]);
  });

  it("names the step, the sample and the score of a NaN", async () => {
    const usual = exactScore(sde, clusters(2));
    // The score has a pole at t = ½, where the seventh step begins.
    const pole = (t: Tensor): Tensor => div(0, square(sub(t, 0.5)));
    const broken = reverse(sde, (x, t) => add(usual(x, t), expandDims(pole(t), -1)));
    const grid = [1, 0.9, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.3];
    const draw = await openSampler(broken, { shape: [2], device: "wasm", type: "float64" });
    const message = async (noise?: DrawOptions["noise"]): Promise<string> =>
      draw({ key: call.key, count: 7, grid, ...(noise && { noise }) }).then(
        () => "",
        (error: Error) => error.message,
      );
    const [inside, outside] = [await message(), await message(independentNoise(call.key))];
    await draw.dispose();
    expect(inside).toMatch(/the score is NaN for sample 0 .*step [67]/);
    expect(inside).toBe(outside);
  });

  it("counts the samples that left the domain", async () => {
    const draw = await openSampler(process, {
      shape: [2],
      device: "wasm",
      solver: "eulerMaruyama",
    });
    const run = (noise?: DrawOptions["noise"]) =>
      draw({ ...call, count: 300, ...(noise && { noise }) }).catch((e: Error) => e.message);
    const [inside, outside] = [await run(), await run(independentNoise(call.key))];
    await draw.dispose();
    expect(inside).toMatch(/samples left the domain/);
    expect(inside).toBe(outside);
  });

  it("may overlap with another call", async () => {
    const draw = await openSampler(process, { shape: [2], device: "wasm" });
    const keys = [key(1), key(2)];
    const together = await Promise.all(keys.map((k) => draw({ ...call, steps: 400, key: k })));
    const apart = [];
    for (const k of keys) apart.push(await draw({ ...call, steps: 400, key: k }));
    await draw.dispose();
    expect(together).toEqual(apart);
  });

  it("stops between two turns of the event loop", async () => {
    const stop = new AbortController();
    const draw = await openSampler(process, { shape: [2], device: "wasm" });
    setTimeout(() => stop.abort(new Error("enough")), 60);
    await expect(
      draw({ ...call, count: 2000, steps: 100_000, signal: stop.signal }),
    ).rejects.toThrow("enough");
    await draw.dispose();
    // A turn takes some 25 ms, so that there were a few, and not 100,000.
    expect(own.mock.calls.length).toBeLessThan(1000);
  });
});
