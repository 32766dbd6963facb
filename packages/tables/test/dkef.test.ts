/**
 * Deep kernel exponential families: closed forms against autodiff, and α against the loss it
 * minimises.
 */

import { evaluate } from "diffeo/engine";
import {
  add,
  concat,
  dot,
  exp,
  expandDims,
  eye,
  grad,
  matmul,
  matvec,
  mean,
  mul,
  type NdArray,
  neg,
  reshape,
  slice,
  solve,
  squaredNorm,
  squeeze,
  sub,
  type Tensor,
} from "diffeo/graph";
import { mapValues } from "diffeo/host";
import {
  curvature,
  type Draws,
  fourierSlices,
  gssm,
  gssmVr,
  lossOf,
  networkSlices,
  normalisedGssm,
  type Objective,
  objectives,
  quadraticSlices,
  ssmVr,
  withMonteCarlo,
} from "diffeo/matching";
import {
  type Dkef,
  dkefInit,
  dkefLogDensity,
  dkefScore,
  normalEquations,
  solveAlpha,
  trainedAlpha,
} from "diffeo/model";
import { fold, key, normal } from "diffeo/random";
import { flatten, unflatten } from "diffeo/train";
import { beforeAll, describe, expect, it } from "vitest";
import { drawn } from "../../diffeo/test/matching/support.ts";

const N = 3;
const L = 7;
const numbers = (name: string, shape: readonly number[]): NdArray =>
  normal(fold(key("dkef"), name), shape, { dtype: "float64" });

const like = dkefInit(fold(key("dkef"), "parameters"), normal(fold(key("dkef"), "z"), [L, N]), {
  width: 5,
  logScales: [0, 0.5],
  logLambda: -1.3,
});
/** Parameters off their symmetric start, in float64. */
const theta: NdArray = {
  shape: [flatten(like).length],
  dtype: "float64",
  data: Float64Array.from(flatten(like), (v, i) => v + 0.1 * Math.sin(i)),
};
const model = (t: Tensor): Dkef<Tensor> => unflatten(t, like) as unknown as Dkef<Tensor>;
const alpha = numbers("alpha", [L]);

const largest = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((m, v) => Math.max(m, Math.abs(v)), 0);
const dataOf = (a: NdArray): Float64Array => a.data as Float64Array;

describe("the closed forms of the score's derivatives", () => {
  it.each([
    ["a few points", 4],
    ["more points than one part holds", 300],
  ])("agree with autodiff at %s", async (_, count) => {
    const { second, secondBare, trace, traceBare } = await evaluate(
      (t: Tensor, a: Tensor, x: Tensor, w: Tensor) => {
        const score = dkefScore(model(t), a);
        const bare = (y: Tensor): Tensor => score(y);
        return {
          second: curvature(score, x, w),
          secondBare: curvature(bare, x, w),
          trace: curvature(score, x),
          traceBare: curvature(bare, x),
        };
      },
      theta,
      alpha,
      numbers("x", [count, N]),
      numbers("w", [count, 2, N]),
    );
    expect(largest(dataOf(second).map((v, i) => v - dataOf(secondBare)[i]))).toBeLessThan(1e-12);
    expect(largest(dataOf(trace).map((v, i) => v - dataOf(traceBare)[i]))).toBeLessThan(1e-12);
    expect(largest(dataOf(trace))).toBeGreaterThan(0.1);
  });

  it("accept any batch shape", async () => {
    const { flat, deep } = await evaluate(
      (t: Tensor, a: Tensor, x: Tensor) => {
        const score = dkefScore(model(t), a);
        const both = (y: Tensor): Tensor =>
          add(lossOf(objectives.sm())(score, y, {}), dkefLogDensity(model(t), a, y));
        return { flat: both(x), deep: both(reshape(x, [2, 3, N])) };
      },
      theta,
      alpha,
      numbers("x", [6, N]),
    );
    expect(deep.shape).toEqual([2, 3]);
    expect(largest(dataOf(flat).map((v, i) => v - dataOf(deep)[i]))).toBeLessThan(1e-13);
  });
});

const cases: readonly Objective[] = [
  ...Object.values(objectives).map((make) => make()),
  {
    ...gssmVr(quadraticSlices({ varDiagonal: 1.7, varOffDiagonal: 0.4 })),
    name: "gssm-vr with a heavier diagonal",
  },
  {
    ...gssmVr(quadraticSlices({ varDiagonal: 0.1, varOffDiagonal: 0.6 })),
    name: "gssm-vr with a lighter diagonal",
  },
  { ...gssm(fourierSlices()), name: "gssm with Fourier slices" },
  { ...gssmVr(withMonteCarlo(networkSlices(3), 2)), name: "gssm-vr with a Monte-Carlo C" },
  { ...normalisedGssm(quadraticSlices()), name: "normalised gssm" },
  { ...ssmVr("rademacher", { slices: 3 }), name: "ssm-vr with three slices" },
];

describe.each(cases)("α for $name", (objective) => {
  const count = 12;
  const x = numbers("x", [count, N]);
  const draws = drawn(objective.draws(N), [count]);
  const bareLoss = (t: Tensor, a: Tensor, y: Tensor, d: Draws<Tensor>): Tensor => {
    const score = dkefScore(model(t), a);
    return mean(lossOf(objective)((z) => score(z), y, d));
  };

  const quadratic = (t: Tensor, a: Tensor, y: Tensor, d: Draws<Tensor>) => {
    const { g, b } = normalEquations(model(t), objective, y, d);
    return {
      rise: sub(bareLoss(t, a, y, d), bareLoss(t, mul(a, 0), y, d)),
      form: add(mul(dot(a, matvec(g, a)), 0.5), dot(b, a)),
    };
  };
  const minimum = (t: Tensor, y: Tensor, d: Draws<Tensor>) => {
    const p = model(t);
    const found = solveAlpha(normalEquations(p, objective, y, d), p.logLambda);
    const lambda = exp(mul(p.logLambda, Math.LN10));
    const whole = (a: Tensor): Tensor =>
      add(bareLoss(t, a, y, d), mul(mul(squaredNorm(a), lambda), 0.5));
    return { slope: grad(whole)(found), size: grad(whole)(mul(found, 0)) };
  };
  const derivative = (t: Tensor, a: Tensor, y: Tensor, d: Draws<Tensor>) => {
    const through = (solution: (p: Dkef<Tensor>) => Tensor) =>
      grad((s: Tensor) => dot(solution(model(s)), a))(t);
    const ours = (p: Dkef<Tensor>): Tensor =>
      trainedAlpha(normalEquations(p, objective, y, d), p.logLambda);
    const direct = (p: Dkef<Tensor>): Tensor => {
      const { g, b } = normalEquations(p, objective, y, d);
      const whole = add(g, mul(eye(L, "float64"), exp(mul(p.logLambda, Math.LN10))));
      return neg(squeeze(solve(whole, expandDims(b, -1)), -1));
    };
    return {
      ours: through(ours),
      direct: through(direct),
      value: sub(ours(model(t)), direct(model(t))),
    };
  };
  // In one graph, for to open three takes far longer than to run them.
  const all = () =>
    evaluate(
      (t: Tensor, a: Tensor, y: Tensor, d: Draws<Tensor>) => ({
        quadratic: quadratic(t, a, y, d),
        minimum: minimum(t, y, d),
        derivative: derivative(t, a, y, d),
      }),
      theta,
      alpha,
      x,
      draws,
    );
  let found: Awaited<ReturnType<typeof all>>;
  beforeAll(async () => {
    found = await all();
  });

  it("comes from the loss's own quadratic ½αᵀGα + b·α", () => {
    const { rise, form } = found.quadratic;
    expect(dataOf(form)[0] / dataOf(rise)[0]).toBeCloseTo(1, 11);
  });

  it("has a zero gradient of the loss with its ridge", () => {
    const { slope, size } = found.minimum;
    expect(largest(dataOf(slope)) / largest(dataOf(size))).toBeLessThan(1e-12);
  });

  it("has the derivative of the inverse", () => {
    const { ours, direct, value } = found.derivative;
    expect(largest(dataOf(value))).toBeLessThan(1e-11);
    expect(
      largest(dataOf(ours).map((v, i) => v - dataOf(direct)[i])) / largest(dataOf(direct)),
    ).toBeLessThan(1e-9);
  });
});

it("sums normal equations over batches of the points", async () => {
  const objective = objectives["gssm-vr"]();
  const count = 700;
  const draws = drawn(objective.draws(N), [count]);
  const { whole, halves } = await evaluate(
    (t: Tensor, x: Tensor, all: Draws<Tensor>) => {
      const d = (from: number, to: number) => mapValues(all, (each) => slice(each, [from, to]));
      const of = (from: number, to: number) =>
        normalEquations(model(t), objective, slice(x, [from, to]), d(from, to));
      const join = ({ g, b }: { g: Tensor; b: Tensor }): Tensor => concat([reshape(g, [-1]), b], 0);
      return {
        whole: join(of(0, count)),
        halves: mul(add(join(of(0, 350)), join(of(350, 700))), 0.5),
      };
    },
    theta,
    numbers("x", [count, N]),
    draws,
  );
  expect(largest(dataOf(whole).map((v, i) => v - dataOf(halves)[i]))).toBeLessThan(1e-12);
});

it("solves for α to the last digits even for ill-conditioned G", async () => {
  // b = G·1 with Hilbert's G: α is near −1, but (G + λI)⁻¹ has entries of 1/λ, whose roundings one
  // refinement takes back.
  const [size, logLambda] = [12, -9];
  const g = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => 1 / (i + j + 1)),
  );
  const b = g.map((row) => row.reduce((total, v) => total + v, 0));
  const found = await evaluate(
    (m: Tensor, c: Tensor, l: Tensor) => {
      const system = { g: m, b: c, times: (column: Tensor): Tensor => matmul(m, column) };
      return { solved: solveAlpha(system, l), trained: trainedAlpha(system, l) };
    },
    g,
    b,
    logLambda,
  );
  for (const { data } of Object.values(found)) {
    const a = data as Float64Array;
    const residual = g.map((row, i) =>
      row.reduce((t, v, j) => t + v * a[j], 10 ** logLambda * a[i] + b[i]),
    );
    expect(largest(residual)).toBeLessThan(1e-13);
  }
});
