/** Learned projections: the marginals of v(X), and their limits. */
import { describe, expect, it } from "vitest";
import { gaussian, mixture, sampleFrom } from "../../src/distribution/index.ts";
import { compile } from "../../src/engine/index.ts";
import {
  add,
  expandDims,
  mul,
  type NdArray,
  slice,
  square,
  squaredNorm,
  type Tensor,
} from "../../src/graph/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { dampedLangevin, forward, learnProjection, vp } from "../../src/sde/index.ts";
import { energyDistance } from "../../src/two-sample/index.ts";
import { at } from "./table.ts";

const engine = { device: "wasm", type: "float64" } as const;
const part = (x: Tensor, i: number): Tensor =>
  slice(x, ...x.shape.slice(0, -1).map(() => null), [i, i + 1]);
const run = async (f: (x: Tensor) => Tensor, x: NdArray): Promise<NdArray> => {
  const map = compile(f, [x.shape], engine);
  const found = await map(x);
  await map.dispose();
  return found;
};

describe("a learned projection", () => {
  it("has the marginals of v(X) without a closed form", async () => {
    const sde = vp();
    const data = mixture([
      { weight: 0.5, distribution: gaussian({ mean: [1.5, -1], covariance: 0.1 }) },
      { weight: 0.5, distribution: gaussian({ mean: [-1, 1.2], covariance: 0.1 }) },
    ]);
    const v = (x: Tensor): Tensor => add(part(x, 0), mul(square(part(x, 1)), 0.5));
    const [rows, horizon] = [8000, 0.5];
    const stateAt = (t: number, own: string): NdArray => {
      const [m] = at((s) => sde.transition.meanFactor(s), [[1], [t]]);
      const [sigma] = at((s) => sde.transition.std(s), [[1], [t]]);
      const x0 = sampleFrom(data, fold(key(1), own), rows, "float64");
      const noise = normal(fold(key(2), own), [rows, 2], { dtype: "float64" }).data;
      return { ...x0, data: (x0.data as Float64Array).map((x, i) => m * x + sigma * noise[i]) };
    };
    const times = [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
    const states = times.map((t) => stateAt(t, `states ${t}`));
    const seen = await learnProjection(sde, v, states, { times });
    const count = 1500;
    const some = (a: NdArray): NdArray => ({
      ...a,
      shape: [count, 1],
      data: (a.data as Float64Array).slice(0, count),
    });
    const { samples } = await sample(
      { ...forward(seen), horizon },
      {
        ...engine,
        ...{ start: some(await run(v, stateAt(0, "start"))), shape: [1], count, steps: 100 },
        ...{ key: key(3), solver: "eulerMaruyama" },
      },
    );
    const wanted = some(await run(v, stateAt(horizon, "end")));
    expect(Math.abs(energyDistance(samples, wanted, { key: key(4) }).excess)).toBeLessThan(4);
    const before = some(await run(v, stateAt(0, "start")));
    expect(energyDistance(samples, before, { key: key(4) }).excess).toBeGreaterThan(20);
  });

  it("equals the closed form if there is one", async () => {
    const v = (x: Tensor): Tensor => expandDims(squaredNorm(x), -1);
    const states = [normal(key(5), [20_000, 3], { dtype: "float64" })];
    const t = 0.4;
    const sde = vp();
    const seen = await learnProjection(sde, v, states, { times: [t], knots: 60 });
    const beta = at((s) => square(sde.diffusion(expandDims(s, -1), s).value), [[1], [t]])[0];
    // d|X|² = β(3 − Y) dt + 2√(βY) dW
    const y = [
      [3, 1],
      [1.5, 3, 5],
    ] as const;
    const drift = at(seen.drift, y, [[3], [t, t, t]]);
    const noise = at((p, s) => seen.diffusion(p, s).value, y, [[3], [t, t, t]]);
    y[1].forEach((value, i) => {
      expect(Math.abs(drift[i] / beta - (3 - value))).toBeLessThan(0.1);
      expect(noise[i] / (2 * Math.sqrt(beta * value))).toBeCloseTo(1, 1);
    });
  });

  it("is constant for the moving position of a stationary Langevin diffusion", async () => {
    const { sde } = dampedLangevin({ mass: 0.25 });
    // Stationary: x ~ N(0, 1) and v ~ N(0, M), so E[v | x] = 0, and noise enters v alone.
    const state = normal(key(6), [20_000, 2], { dtype: "float64" });
    state.data.forEach((value, i) => {
      if (i % 2 === 1) state.data[i] = value / 2;
    });
    const seen = await learnProjection(sde, (z) => part(z, 0), [state], { times: [0], knots: 20 });
    const y = [
      [3, 1],
      [-1, 0, 1],
    ] as const;
    // x moves at v β/M = 16 v, whose standard deviation is 8.
    for (const drift of at(seen.drift, y, [[3], [0, 0, 0]]))
      expect(Math.abs(drift)).toBeLessThan(1.5);
    for (const noise of at((p, s) => seen.diffusion(p, s).value, y, [[3], [0, 0, 0]]))
      expect(noise).toBe(0);
  });

  it("rejects states that do not match its times", async () => {
    const states = [normal(key(5), [10, 2])];
    await expect(
      learnProjection(vp(), (x) => part(x, 0), states, { times: [0, 1] }),
    ).rejects.toThrow(/one array of states per time/);
  });
});
