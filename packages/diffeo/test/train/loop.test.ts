import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/folder.ts";
import { compile } from "../../src/engine/index.ts";
import { matmul, mean, type NdArray, square, sub, type Tensor } from "../../src/graph/index.ts";
import { RunFolder } from "../../src/node/index.ts";
import { fold, key, normal } from "../../src/random/index.ts";
import {
  adam,
  compileStep,
  initialState,
  rateAt,
  stateOf,
  type TrainState,
  train,
} from "../../src/train/index.ts";

const { folder } = testFolder("loop");

const truth = normal(key("truth"), [4, 2]);
const parameters = { w: normal(key("start"), [4, 2]) };
const STEPS = 40;
const schedule = { peak: 0.1, warmup: 5, steps: STEPS };

const compiled = () =>
  compileStep(
    (p: { w: Tensor }, x: Tensor, y: Tensor) => mean(square(sub(matmul(x, p.w), y))),
    parameters,
    [
      [null, 4],
      [null, 2],
    ],
    { threads: 1, emaDecay: 0.9, weightDecay: 0.01 },
  );

const product = compile(
  (x: Tensor, w: Tensor) => matmul(x, w),
  [
    [null, 4],
    [4, 2],
  ],
  { threads: 1 },
);
afterAll(() => product.dispose());

async function batch(step: number): Promise<readonly [NdArray, NdArray]> {
  const x = normal(fold(key("data"), step), [16, 4]);
  return [x, await product(x, truth)];
}

/** Trains to `until` in a folder, from what the folder holds. */
async function runTo(
  name: string,
  until: number,
  resume: boolean,
  signal?: AbortSignal,
): Promise<TrainState<NdArray>> {
  const run = resume
    ? await RunFolder.open(join(folder, name), { seed: 1 })
    : await RunFolder.create(join(folder, name), { seed: 1 });
  const checkpoint = await run.latest();
  const step = compiled();
  const { state } = await train(
    checkpoint ? stateOf(checkpoint, 8, name) : initialState(parameters),
    {
      from: checkpoint?.step ?? 0,
      steps: until,
      batchSize: 16,
      run: async (s, i) => step(s, await batch(i), i, rateAt(i, schedule)),
      rate: (i) => rateAt(i, schedule),
      reportEvery: 10,
      saveEvery: 7,
      store: run,
      metadata: {},
      signal,
    },
  );
  await step.dispose();
  return state;
}

describe("training", () => {
  it("finds the weights that made the data", async () => {
    const { theta } = await runTo("whole", STEPS, false);
    const error = Math.max(
      ...(theta.data as Float32Array).map((v, i) => Math.abs(v - truth.data[i])),
    );
    expect(error).toBeLessThan(0.3);
  });

  it("continues an interrupted run with the same bits", async () => {
    const whole = await runTo("uninterrupted", STEPS, false);
    await runTo("interrupted", 17, false);
    const resumed = await runTo("interrupted", STEPS, true);
    for (const name of ["theta", "m", "v", "ema"] as const)
      expect([...(resumed[name].data as Float32Array)]).toEqual([
        ...(whole[name].data as Float32Array),
      ]);
    const reports = readFileSync(join(folder, "interrupted", "metrics.jsonl"), "utf8")
      .trim()
      .split("\n");
    const averaged = reports
      .map((line) => JSON.parse(line))
      .map(({ step, steps }) => [step, steps]);
    expect(averaged).toEqual([10, 17, 20, 30, 40].map((step, i) => [step, [10, 7, 3, 10, 10][i]]));
  });

  it("stops on a signal with a checkpoint from which it can continue", async () => {
    const stopped = new AbortController();
    stopped.abort();
    await runTo("aborted", STEPS, false, stopped.signal);
    const resumed = await runTo("aborted", STEPS, true);
    const whole = (await (
      await RunFolder.open(join(folder, "uninterrupted"), { seed: 1 })
    ).latest())!;
    expect([...(resumed.theta.data as Float32Array)]).toEqual([
      ...(whole.arrays.theta.data as Float32Array),
    ]);
  });

  it("refuses a checkpoint of another architecture", async () => {
    const run = await RunFolder.open(join(folder, "whole"), { seed: 1 });
    const checkpoint = await run.latest();
    expect(() => stateOf(checkpoint as NonNullable<typeof checkpoint>, 9, "whole")).toThrow(
      /theta has 8 numbers, this architecture has 9/,
    );
  });
});

describe("Adam", () => {
  it("is the published update", async () => {
    const f = compile(
      (theta: Tensor, m: Tensor, v: Tensor, g: Tensor, step: Tensor, rate: Tensor) =>
        adam({ theta, m, v }, g, step, rate),
      [[3], [3], [3], [3], [], []],
      { device: "reference" },
    );
    const [b1, b2, rate] = [0.9, 0.999, 0.01];
    let [theta, m, v] = [
      [1, 2, 3],
      [0, 0, 0],
      [0, 0, 0],
    ];
    let state = { theta, m, v } as {
      theta: readonly number[];
      m: readonly number[];
      v: readonly number[];
    };
    for (let step = 1; step <= 5; step++) {
      const g = [Math.sin(step), -0.3 * step, 1e-4];
      const result = await f(state.theta, state.m, state.v, g, step, rate);
      m = m.map((old, i) => b1 * old + (1 - b1) * g[i]);
      v = v.map((old, i) => b2 * old + (1 - b2) * g[i] ** 2);
      theta = theta.map(
        (t, i) =>
          t - (rate * m[i]) / (1 - b1 ** step) / (Math.sqrt(v[i] / (1 - b2 ** step)) + 1e-8),
      );
      const got = [...(result.theta.data as Float64Array)];
      got.forEach((t, i) => {
        expect(Math.abs(t - theta[i])).toBeLessThan(1e-12);
      });
      state = {
        theta: got,
        m: [...(result.m.data as Float64Array)],
        v: [...(result.v.data as Float64Array)],
      };
    }
    await f.dispose();
  });

  it("warms up linearly and ends at zero", () => {
    expect([1, 5, STEPS].map((s) => rateAt(s, schedule))).toEqual([0.02, 0.1, 0]);
  });
});
