/**
 * The protocol of Song, Garg, Shi and Ermon (2019), number by number: the model, a step, validation
 * and the finish.
 */

import { evaluate } from "diffeo/engine";
import {
  add,
  DiffeoError,
  exp,
  expandDims,
  eye,
  grad,
  mean,
  mul,
  type NdArray,
  neg,
  solve,
  squeeze,
  type Tensor,
} from "diffeo/graph";
import { type Draws, drawArrays, lossOf, type Objective, objectives } from "diffeo/matching";
import { type Dkef, dkefInit, dkefLogDensity, dkefScore, normalEquations } from "diffeo/model";
import { choice, fold, key, normal, permutation } from "diffeo/random";
import { flatten, unflatten } from "diffeo/train";
import { describe, expect, it } from "vitest";
import { fitDensity } from "../src/dkef/fit.ts";
import { RIDGE_BATCH } from "../src/dkef/fitting.ts";
import { EXACT_EVERY } from "../src/dkef/search.ts";
import { type FitOptions, protocol } from "../src/dkef/settings.ts";
import { fitSteps } from "../src/dkef/steps.ts";
import { type Prepared, prepare } from "../src/table/prepare.ts";
import { generate } from "../src/table/synthetic.ts";

const tableOf = (rows: number): Prepared =>
  prepare(generate("two-moons", rows, key("protocol")), key(1), { validation: 0.05 });

const rowsOf = ({ shape: [, n], data }: NdArray, indices: ArrayLike<number>): NdArray => ({
  shape: [indices.length, n],
  dtype: "float32",
  data: Float32Array.from(
    { length: indices.length * n },
    (_, i) => data[indices[Math.floor(i / n)] * n + (i % n)] as number,
  ),
});

const largest = (values: Iterable<number>): number => Math.max(...Array.from(values, Math.abs));
const apart = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  largest(Array.from(a, (v, i) => v - b[i])) / largest(Array.from(b));

/** α = −(G + λI)⁻¹b by another solver, and without any shortcut for its derivative. */
function directAlpha(
  p: Dkef<Tensor>,
  logLambda: Tensor | number,
  objective: Objective,
  x: Tensor,
  draws: Draws<Tensor>,
): Tensor {
  const { g, b } = normalEquations(p, objective, x, draws);
  const whole = add(g, mul(eye(g.shape[0], g.dtype), exp(mul(logLambda, Math.LN10))));
  return neg(squeeze(solve(whole, expandDims(b, -1)), -1));
}

it("has these default values", () => {
  expect(protocol).toEqual({
    inducing: 200, // random training points
    batch: 200, // points a step: α from 100, the loss on the other 100
    points: 1000, // training points that give α for validation
    epochs: 500,
    patience: 200, // steps without a better validation loss
    leastSteps: 0,
    rate: 1e-2,
    clip: 100,
    ridgeSteps: 1000,
    ridgeRate: 1e-3,
  });
  expect(RIDGE_BATCH).toBe(100);
  expect(EXACT_EVERY).toBe(5);
});

it("uses the defaults: 500 epochs of ⌊N/200⌋ steps, α from 100 points, the loss on 100, α of validation from 1,000", async () => {
  const data = tableOf(1300);
  const [rows, seen] = [data.train.shape[0], data.validation.shape[0]];
  const sizes: number[] = [];
  const own: Objective = {
    ...objectives.ssm(),
    terms: (x, draws) => {
      sizes.push(x.shape[0]);
      return objectives.ssm().terms(x, draws);
    },
  };
  const stop = new AbortController();
  let most = 0;
  const fit = fitDensity(data, {
    loss: own,
    seed: 1,
    onStep: (progress) => {
      most = progress.most;
      stop.abort();
    },
    signal: stop.signal,
  });
  await expect(fit).rejects.toThrow(/abort/);
  expect(rows).toBe(1112);
  expect(most).toBe(500 * Math.floor(rows / 200));
  expect(sizes).toEqual([100, 100, 250, 250, 250, 250, seen]);
});

describe("the model", () => {
  const n = 2;
  const start = dkefInit(key("start"), normal(key("z"), [200, n]));

  it("starts with three kernels of width 30, ℓ = 0, 0.5185, 1, w = 0, λ = 10⁻² and weights of variance 1/30", () => {
    const { w1, b1, w2, b2, w3, skip, logScales } = start.features;
    expect([w1, b1, w2, b2, w3, skip].map(({ shape }) => shape)).toEqual([
      [3, n, 30],
      [3, 1, 30],
      [3, 30, 30],
      [3, 1, 30],
      [3, 30, 30],
      [3, n, 30],
    ]);
    expect(logScales.data).toEqual(Float32Array.of(0, 0.5185, 1));
    expect(start.mixture.data).toEqual(Float32Array.of(0, 0, 0));
    expect(start.logLambda.data).toEqual(Float32Array.of(-2));
    for (const { data } of [w1, b1, w2, b2, w3, skip]) {
      const squares = Array.from(data as Float32Array, (v) => 30 * v * v);
      // 30v² has mean 1 and variance 2.
      expect(Math.abs(squares.reduce((a, b) => a + b, 0) / squares.length - 1)).toBeLessThan(
        4 * Math.sqrt(2 / squares.length),
      );
    }
  });

  it("is log p̃ = Σ_l α_l Σ_r softmax(w)_r exp(−‖φ_r(x) − φ_r(z_l)‖²/(2·10^{ℓ_r})) − ‖x‖²/8, written out", async () => {
    const points = [
      [0.3, -1.1],
      [2, 0.7],
    ];
    const inducing = [
      [0.1, 0.4],
      [-0.8, 1.2],
    ];
    const alpha = [1.3, -0.6];
    const w = [0.25, -0.5, 0.875];
    const z: NdArray = {
      shape: [2, n],
      dtype: "float32",
      data: Float32Array.from(inducing.flat()),
    };
    const p = {
      ...dkefInit(key("start"), z),
      mixture: { shape: [3], dtype: "float32", data: Float32Array.from(w) } as const,
    };
    const { data } = await evaluate(
      (q: Dkef<Tensor>, a: Tensor, x: Tensor) => dkefLogDensity(q, a, x),
      p as unknown as Dkef<NdArray>,
      alpha,
      points,
    );

    const softplus = (t: number): number => Math.log(1 + Math.exp(t));
    const entry = (
      { shape: [, , columns], data: d }: NdArray,
      r: number,
      i: number,
      j: number,
    ): number => d[(r * (d.length / 3 / columns) + i) * columns + j] as number;
    const times = (v: readonly number[], m: NdArray, r: number): number[] =>
      Array.from({ length: m.shape[2] }, (_, j) =>
        v.reduce((total, c, i) => total + c * entry(m, r, i, j), 0),
      );
    const plus = (u: readonly number[], v: readonly number[]): number[] =>
      u.map((c, i) => c + v[i]);
    const bias = (b: NdArray, r: number): number[] => times([1], b, r);
    const phi = (x: readonly number[], r: number): number[] => {
      const { w1, b1, w2, b2, w3, skip } = p.features;
      const a1 = plus(times(x, w1, r), bias(b1, r)).map(softplus);
      const a2 = plus(times(a1, w2, r), bias(b2, r)).map(softplus);
      return plus(times(a2, w3, r), times(x, skip, r));
    };
    const rho = w.map((v) => Math.exp(v) / w.reduce((total, u) => total + Math.exp(u), 0));
    const scales = [0, Math.fround(0.5185), 1].map((l) => 10 ** l);
    const kernel = (x: readonly number[], y: readonly number[]): number =>
      rho.reduce((total, share, r) => {
        const fy = phi(y, r);
        const gap = phi(x, r).reduce((s, v, i) => s + (v - fy[i]) ** 2, 0);
        return total + share * Math.exp(-gap / (2 * scales[r]));
      }, 0);
    points.forEach((x, i) => {
      const f = alpha.reduce(
        (total, a, l) => total + a * kernel(x, inducing[l].map(Math.fround)),
        0,
      );
      expect(data[i]).toBeCloseTo(f - (x[0] ** 2 + x[1] ** 2) / 8, 12);
    });
  });
});

describe("the graphs of a fit", () => {
  const [n, batch, half, inducing] = [2, 12, 6, 3];
  const objective = objectives["gssm-vr"]();
  const start = dkefInit(key("small"), normal(key("z"), [inducing, n]), {
    width: 4,
    logLambda: -0.5,
  });
  const theta = flatten(start);
  const model = (t: Tensor): Dkef<Tensor> => unflatten(t, start) as unknown as Dkef<Tensor>;
  const x = normal(key("x"), [batch, n]);
  const drawn = (name: string) => drawArrays(objective.draws(n), [half], key(name));
  const [first, second] = [drawn("first"), drawn("second")];
  const [a, b] = [rowsOf(x, [0, 1, 2, 3, 4, 5]), rowsOf(x, [6, 7, 8, 9, 10, 11])];
  const sizes = { n, batch, points: half, validation: half, ridgeBatch: half };
  const direct = evaluate(
    (t: Tensor, xa: Tensor, da: Draws<Tensor>, xb: Tensor, db: Draws<Tensor>) => {
      const value = (s: Tensor): Tensor => {
        const p = model(s);
        return mean(
          lossOf(objective)(dkefScore(p, directAlpha(p, p.logLambda, objective, xa, da)), xb, db),
        );
      };
      return { loss: value(t), gradient: grad(value)(t) };
    },
    theta,
    a,
    first,
    b,
    second,
  );

  it("train on the second half with α from the first, with independent draws, and clip the gradient's norm", async () => {
    const { loss, gradient } = await direct;
    const g = gradient.data as Float64Array;
    const norm = Math.hypot(...g);
    for (const clip of [1e6, norm / 3]) {
      const steps = fitSteps(objective, start, sizes, { rate: 1e-2, clip, ridgeRate: 1 });
      const zero = new Float32Array(theta.length);
      const { state, loss: found } = await steps.train(
        { theta, m: zero, v: zero },
        x,
        first,
        second,
        1,
      );
      await steps.dispose();
      expect(apart(found.data as Float32Array, loss.data as Float64Array)).toBeLessThan(1e-5);
      // Adam's first m is a tenth of the gradient, and its first step is the rate whatever the
      // gradient's size.
      const clipped = g.map((v) => v * Math.min(1, clip / norm));
      expect(
        apart(
          (state.m.data as Float32Array).map((v) => 10 * v),
          clipped,
        ),
      ).toBeLessThan(1e-4);
      (state.theta.data as Float32Array).forEach((v, i) => {
        if (Math.abs(g[i]) > 1e-3 * norm)
          expect((v - theta[i]) / -1e-2 / Math.sign(g[i])).toBeCloseTo(1, 3);
      });
    }
  });

  it("validate on separate points with α from others, with independent draws", async () => {
    const steps = fitSteps(objective, start, sizes, { rate: 1, clip: 1, ridgeRate: 1 });
    const { loss } = await steps.validate(theta, a, first, b, second);
    await steps.dispose();
    expect(apart(loss.data as Float32Array, (await direct).loss.data as Float64Array)).toBeLessThan(
      1e-5,
    );
  });
});

it("take batches from one permutation per epoch, and new points and draws at every step", async () => {
  const data = tableOf(60);
  const { train, validation, n } = data;
  const [rows, seed, inducing, batch, points] = [train.shape[0], 7, 4, 12, 20];
  const model = { width: 3 };
  const objective = objectives["gssm-vr"]();
  const found = await fitDensity(data, {
    loss: "gssm-vr",
    seed,
    inducing,
    batch,
    points,
    epochs: 2,
    model,
    ridgeSteps: 0,
  });

  const root = key(seed);
  const chosen = (name: string, count: number, step?: number): NdArray => {
    const own = step === undefined ? fold(root, name) : fold(fold(root, name), step);
    return rowsOf(train, choice(own, rows, count, { replace: false }).data);
  };
  const drawn = (name: string, step: number, count: number) =>
    drawArrays(objective.draws(n), [count], fold(fold(root, name), step));
  const start = dkefInit(fold(root, "parameters"), chosen("inducing", inducing), model);
  const seen = validation.shape[0];
  const steps = fitSteps(
    objective,
    start,
    { n, batch, points, validation: seen, ridgeBatch: seen },
    { rate: 1e-2, clip: 100, ridgeRate: 1e-3 },
  );
  const perEpoch = Math.floor(rows / batch);
  const zero = new Float32Array(flatten(start).length);
  let state: {
    theta: Float32Array | NdArray;
    m: Float32Array | NdArray;
    v: Float32Array | NdArray;
  } = {
    theta: flatten(start),
    m: zero,
    v: zero,
  };
  const losses: number[] = [];
  const thetas: NdArray[] = [];
  for (let step = 1; step <= 2 * perEpoch; step++) {
    const order = permutation(
      fold(fold(root, "epoch"), Math.floor((step - 1) / perEpoch)),
      rows,
    ).data;
    const from = ((step - 1) % perEpoch) * batch;
    const x = rowsOf(train, order.slice(from, from + batch));
    const next = await steps.train(
      state,
      x,
      drawn("alpha", step, batch / 2),
      drawn("loss", step, batch / 2),
      step,
    );
    state = next.state;
    thetas.push(next.state.theta);
    const { loss } = await steps.validate(
      next.state.theta,
      chosen("points", points, step),
      drawn("validation alpha", step, points),
      validation,
      drawn("validation loss", step, seen),
    );
    losses.push(loss.data[0] as number);
  }
  await steps.dispose();
  expect(perEpoch).toBe(4);
  expect(found.curve.loss).toEqual(losses);
  const best = losses.indexOf(Math.min(...losses));
  expect(found.chosen.step).toBe(best + 1);
  expect(found.chosen.theta).toEqual(thetas[best].data);
});

describe("the finish", () => {
  const data = tableOf(400);
  const options = {
    loss: "sm",
    seed: 2,
    inducing: 6,
    batch: 100,
    epochs: 1,
    model: { logLambda: 0 },
  } as const;
  /**
   * α from all training points at 10^{log λ + shift}, and its exact score matching on the
   * validation set.
   */
  const direct = (p: Dkef<NdArray>, shift: number) =>
    evaluate(
      (q: Dkef<Tensor>, x: Tensor, y: Tensor) => {
        const alpha = directAlpha(q, add(q.logLambda, shift), objectives.sm(), x, {});
        return { alpha, loss: mean(lossOf(objectives.sm())(dkefScore(q, alpha), y, {})) };
      },
      p,
      data.train,
      data.validation,
    );

  it("solves for α on all training points", async () => {
    const { chosen } = await fitDensity(data, { ...options, epochs: 0, ridgeSteps: 0 });
    const { alpha } = await direct(chosen.parameters, 0);
    expect(apart(chosen.alpha, alpha.data as Float64Array)).toBeLessThan(1e-5);
  });

  it("moves only λ, to a smaller validation loss", async () => {
    expect(data.validation.shape[0]).toBeLessThan(RIDGE_BATCH);
    const { chosen } = await fitDensity(data, { ...options, ridgeSteps: 1, ridgeRate: 0.25 });
    const [less, more] = [
      await direct(chosen.parameters, -0.25),
      await direct(chosen.parameters, 0.25),
    ];
    const better = (less.loss.data[0] as number) < (more.loss.data[0] as number) ? less : more;
    const worse = better === less ? more : less;
    expect(apart(chosen.alpha, better.alpha.data as Float64Array)).toBeLessThan(1e-5);
    expect(apart(chosen.alpha, worse.alpha.data as Float64Array)).toBeGreaterThan(1e-2);

    const further = await fitDensity(data, { ...options, ridgeSteps: 3, ridgeRate: 0.25 });
    expect(further.chosen.theta).toEqual(chosen.theta);
    expect(apart(further.chosen.alpha, chosen.alpha)).toBeGreaterThan(1e-2);
  });
});

it("gives the state of the protocol if exact score matching was never evaluated", async () => {
  const options = {
    loss: "ssm",
    seed: 1,
    inducing: 4,
    batch: 12,
    epochs: 1,
    ridgeSteps: 0,
    both: true,
  } as const;
  const few = await fitDensity(tableOf(60), options);
  expect(few.steps).toBe(4);
  expect(few.curve.exact).toEqual([]);
  expect(few.chosen.step).toBeGreaterThan(0);
  expect(few.chosenByExact).toBe(few.chosen);
});

it.each<[Partial<FitOptions>, RegExp]>([
  [{ loss: "gsm" as "gssm" }, /unknown loss "gsm"\. Use one of sm, ssm, ssm-vr, gssm, gssm-vr/],
  [{ loss: "toString" as "gssm" }, /unknown loss "toString"/],
  [{ inducing: 0 }, /inducing is 0\. Give at least 1/],
  [{ batch: 0 }, /batch is 0\. Give at least 2/],
  [{ batch: 1 }, /batch is 1\. Give at least 2/],
  [{ batch: 3 }, /a batch of 3 cannot be halved/],
  [{ points: 0 }, /points is 0\. Give at least 1/],
  [{ rate: -1 }, /rate is -1\. Give at least 0/],
  [{ clip: Number.NaN }, /clip is NaN/],
  [{ epochs: -1 }, /epochs is -1/],
])("refuses %j", async (wrong, message) => {
  const fit = fitDensity(tableOf(60), { loss: "ssm", seed: 1, inducing: 4, batch: 12, ...wrong });
  await expect(fit).rejects.toThrow(message);
  await expect(fit).rejects.toThrow(DiffeoError);
});

it("refuses a model without inducing points", () => {
  expect(() =>
    dkefInit(key(1), { shape: [0, 2], dtype: "float32", data: new Float32Array(0) }),
  ).toThrow(/shape \[0,2\]/);
});
