/** One leapfrog step is the Metropolis-adjusted Langevin algorithm, from its own formulas. */

import { evaluate } from "diffeo/engine";
import type { NdArray, Tensor } from "diffeo/graph";
import { BASE_VARIANCE, type Dkef, dkefInit, dkefLogDensity, dkefScore } from "diffeo/model";
import { fold, type Key, key, normal, uniform } from "diffeo/random";
import { flatten } from "diffeo/train";
import { expect, it } from "vitest";
import type { Fitted } from "../src/dkef/fitted.ts";
import { localMixture } from "../src/dkef/mixture.ts";
import { openPath, pathWeights } from "../src/dkef/path.ts";
import { sampleRows } from "../src/dkef/sample.ts";

const [n, count] = [2, 60];
const parameters = dkefInit(key("walk"), normal(key("z"), [3, n]), { width: 4 });
const fitted: Fitted = {
  step: 0,
  parameters,
  theta: flatten(parameters),
  alpha: Float64Array.of(5, -4, 3),
};

/** log p_β and its gradient at rows x, where the other end of the path is N(0, 4I). */
async function density(
  x: Float64Array,
  beta: number,
): Promise<{ value: Float64Array; slope: Float64Array }> {
  const { value, slope } = await evaluate(
    (p: Dkef<Tensor>, a: Tensor, y: Tensor) => ({
      value: dkefLogDensity(p, a, y),
      slope: dkefScore(p, a)(y),
    }),
    parameters,
    fitted.alpha,
    { shape: [count, n], dtype: "float64", data: x } as NdArray,
  );
  const size = (i: number): number => x[n * i] ** 2 + x[n * i + 1] ** 2;
  return {
    value: (value.data as Float64Array).map(
      (v, i) => beta * v - ((1 - beta) * size(i)) / (2 * BASE_VARIANCE),
    ),
    slope: (slope.data as Float64Array).map(
      (v, i) => beta * v - ((1 - beta) * x[i]) / BASE_VARIANCE,
    ),
  };
}

/**
 * x′ = x + ½ε²∇log p(x) + εv, accepted with probability p(x′)q(x | x′)/(p(x)q(x′ | x)), q(y | x) =
 * N(x + ½ε²∇log p(x), ε²I).
 */
async function langevin(x: Float64Array, beta: number, size: number, from: Key) {
  const v = normal(fold(from, "momentum"), [count, n]).data;
  const u = uniform(fold(from, "accept"), [count]).data;
  const here = await density(x, beta);
  const ahead = (y: Float64Array, slope: Float64Array): Float64Array =>
    y.map((w, i) => w + 0.5 * size ** 2 * slope[i]);
  const proposed = ahead(x, here.slope).map((w, i) => w + size * v[i]);
  const there = await density(proposed, beta);
  const logQ = (y: Float64Array, mean: Float64Array, i: number): number =>
    -((y[n * i] - mean[n * i]) ** 2 + (y[n * i + 1] - mean[n * i + 1]) ** 2) / (2 * size ** 2);
  const accepted = Array.from(u, (draw, i) => {
    const back = logQ(x, ahead(proposed, there.slope), i) - logQ(proposed, ahead(x, here.slope), i);
    return draw < Math.exp(there.value[i] - here.value[i] + back);
  });
  return { x: x.map((w, i) => (accepted[Math.floor(i / n)] ? proposed[i] : w)), accepted };
}

const expectSame = (found: ArrayLike<number>, expected: Float64Array): void =>
  expected.forEach((v, i) => {
    expect(found[i]).toBeCloseTo(v, 5);
  });

it.each([1, 0.3])("moves and accepts like Langevin's algorithm at β = %d", async (beta) => {
  const starts = normal(key("starts"), [count, n]).data;
  const walk = openPath(fitted, localMixture(new Float32Array(0), [], n, BASE_VARIANCE), 1);
  const moved = await walk.move(await walk.start(starts), {
    stepSize: 1.1,
    weights: pathWeights(beta),
    key: key("move"),
  });
  await walk.dispose();
  const expected = await langevin(Float64Array.from(starts), beta, 1.1, key("move"));
  const share = expected.accepted.filter(Boolean).length / count;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.9);
  expect(moved.share).toBeCloseTo(share, 12);
  expectSame(moved.chains.x.data as Float32Array, expected.x);
});

it("generates the samples of mala", async () => {
  const whitening = { mean: [0, 0], matrix: [1, 0, 0, 1], logDet: 0 };
  const model = { fitted, spec: { loss: "ssm", seed: 1, columns: ["x", "y"], whitening } } as const;
  const after = async (steps: number): Promise<Float64Array> =>
    (await sampleRows(model, count, { method: "mala", steps, key: key("samples") })).values;
  const from = fold(fold(key("samples"), "move"), 0);
  expectSame(await after(1), (await langevin(await after(0), 1, 0.2, from)).x);
});
