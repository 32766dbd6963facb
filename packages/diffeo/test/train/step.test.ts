/**
 * One training step and the learning rate compared with the formulas in plain numbers; and a run
 * that becomes NaN.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mul, type NdArray, sum, type Tensor } from "../../src/graph/index.ts";
import { RunFolder } from "../../src/node/index.ts";
import {
  compileStep,
  initialState,
  rateAt,
  type StepResult,
  train,
} from "../../src/train/index.ts";

const SIZE = 3;
const norm = (g: readonly number[]): number => Math.hypot(...g);
const scalar = (value: number): NdArray => ({
  shape: [],
  dtype: "float32",
  data: Float32Array.of(value),
});

describe("a step", () => {
  // (1 + s)/(10 + s) is 0.18 … 0.33 in these steps: below the first decay always, above the second
  // from the third step on.
  it.each([0.9995, 0.28])(
    "is AdamW of the clipped gradient and the average of the new θ, decay %d",
    async (emaDecay) => {
      const [b1, b2, epsilon, weightDecay, clip, rate] = [0.9, 0.999, 1e-8, 0.1, 0.9, 0.02];
      const parameters = {
        w: { shape: [SIZE], dtype: "float32", data: Float32Array.of(1, -2, 0.5) },
      } as const;
      // The gradient of Σ w g is g.
      const step = compileStep(
        (p: { w: Tensor }, g: Tensor) => sum(mul(p.w, g)),
        parameters,
        [[SIZE]],
        {
          device: "reference",
          type: "float64",
          clip,
          weightDecay,
          emaDecay,
        },
      );
      const gradients = [
        [3, -4, 12],
        [0.1, 0.2, -0.3],
        [-5, 0.01, 0],
        [0.5, 0.5, 0.5],
        [1e3, 1, -1e3],
      ];
      expect(gradients.map((g) => norm(g) > clip)).toEqual([true, false, true, false, true]);
      let theta = [1, -2, 0.5];
      let [m, v, ema] = [theta.map(() => 0), theta.map(() => 0), theta];
      for (const [i, gradient] of gradients.entries()) {
        const s = i + 1;
        const result = await step({ theta, m, v, ema } as never, [gradient], s, rate);
        const loss = theta.reduce((all, w, j) => all + w * gradient[j], 0);
        const g = gradient.map((x) => x * Math.min(1, clip / (norm(gradient) + 1e-6)));
        m = m.map((old, j) => b1 * old + (1 - b1) * g[j]);
        v = v.map((old, j) => b2 * old + (1 - b2) * g[j] ** 2);
        theta = theta.map((w, j) => {
          const [mHat, vHat] = [m[j] / (1 - b1 ** s), v[j] / (1 - b2 ** s)];
          return w - rate * weightDecay * w - (rate * mHat) / (Math.sqrt(vHat) + epsilon);
        });
        const d = Math.min(emaDecay, (1 + s) / (10 + s));
        ema = ema.map((old, j) => d * old + (1 - d) * theta[j]);
        for (const [name, values] of Object.entries({ theta, m, v, ema }))
          values.forEach((value, j) => {
            const got = Number(result.state[name as "theta"].data[j]);
            expect(Math.abs(got - value), `${name} after step ${s}`).toBeLessThan(1e-12);
          });
        expect(Number(result.loss.data[0])).toBeCloseTo(loss, 12);
        expect(Number(result.norm.data[0])).toBeCloseTo(norm(gradient), 10);
      }
      await step.dispose();
    },
  );

  it("clips at 1 and averages with a final decay of 0.9995 by default", async () => {
    const parameters = { w: { shape: [1], dtype: "float32", data: Float32Array.of(1) } } as const;
    const step = compileStep((p: { w: Tensor }, g: Tensor) => sum(mul(p.w, g)), parameters, [[1]], {
      device: "reference",
      type: "float64",
    });
    const { state } = await step({ theta: [1], m: [0], v: [0], ema: [3] } as never, [[5]], 1e6, 0);
    expect(Number(state.m.data[0])).toBeCloseTo((0.1 * 5) / (5 + 1e-6), 14);
    expect(Number(state.ema.data[0])).toBeCloseTo(1 + 0.9995 * 2, 12);
    await step.dispose();
  });
});

describe("the rate", () => {
  it("rises linearly to its peak, and falls along half a cosine to zero", () => {
    const schedule = { peak: 3, warmup: 20, steps: 100 };
    // Of the way down a quarter, a third, a half, three quarters, and the end.
    const [quarter, third] = [(3 * (1 + Math.SQRT1_2)) / 2, (3 * 3) / 4];
    const expected = [
      [1, 0.15],
      [10, 1.5],
      [20, 3],
      [40, quarter],
      [20 + 80 / 3, third],
      [60, 1.5],
      [80, 3 - quarter],
      [100, 0],
    ];
    for (const [step, rate] of expected)
      expect(rateAt(step, schedule), `step ${step}`).toBeCloseTo(rate, 12);
  });

  it("with `fall`, stays at its peak for any `steps`, and falls linearly to zero", () => {
    const schedule = { peak: 3, warmup: 20, steps: 100, fall: 30 };
    const expected = [
      [10, 1.5],
      [20, 3],
      [70, 3],
      [71, 2.9],
      [85, 1.5],
      [100, 0],
    ];
    for (const [step, rate] of expected)
      expect(rateAt(step, schedule), `step ${step}`).toBeCloseTo(rate, 12);
    for (let step = 1; step <= 70; step++)
      expect(rateAt(step, { ...schedule, steps: 1000 })).toBe(rateAt(step, schedule));
  });
});

describe("a run with numbers that are not finite", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "diffeo-lost-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = initialState({ w: { shape: [2], dtype: "float32", data: Float32Array.of(1, 2) } });
  const lost = { ...start, m: { ...start.m, data: Float32Array.of(1, Number.NaN) } };
  const good: StepResult<NdArray> = { state: start, loss: scalar(1), norm: scalar(1) };

  it.each<[string, number, Partial<StepResult<NdArray>>, string]>([
    [
      "loss",
      3,
      { loss: scalar(Number.NaN) },
      "the loss became NaN at step 3; no checkpoint has been saved. Start",
    ],
    [
      "early",
      6,
      { loss: scalar(Number.NaN) },
      "the loss became NaN at step 6; the newest checkpoint is that of step 4.",
    ],
    [
      "norm",
      5,
      { norm: scalar(Number.POSITIVE_INFINITY) },
      "the norm of the gradient became Infinity at step 5; the newest",
    ],
    [
      "state",
      8,
      { state: lost },
      "m is not finite after step 8; the newest checkpoint is that of step 4.",
    ],
  ])("ends before it is saved: %s", async (name, at, odd, message) => {
    const path = join(folder, name);
    const run = train(start, {
      from: 0,
      steps: 20,
      batchSize: 1,
      run: async (_, step) => (step === at ? { ...good, ...odd } : good),
      rate: () => 1,
      reportEvery: 10,
      saveEvery: 4,
      store: await RunFolder.create(path, {}),
      metadata: {},
    });
    await expect(run).rejects.toThrow(message);
    await expect(run).rejects.toThrow(/another run with a smaller learning rate/);
    // Advice that can be followed: from weights that are there.
    if (at > 4) await expect(run).rejects.toThrow(/from that checkpoint's averaged weights/);
    else await expect(run).rejects.not.toThrow("averaged weights");
    expect(existsSync(join(path, "step-8.safetensors"))).toBe(false);
    expect((await (await RunFolder.open(path, {})).latest())?.step).toBe(at > 4 ? 4 : undefined);
  });
});
