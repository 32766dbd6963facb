/** Processes through maps that are not invertible: drift, covariance, reversal and distribution. */
import { describe, expect, it } from "vitest";
import { expMap, invert } from "../../src/bijector/index.ts";
import {
  add,
  div,
  erf as erfOf,
  expandDims,
  gradEach,
  jvp,
  log,
  logSumExp,
  mul,
  ndarray,
  square,
  squaredNorm,
  stack,
  sub,
  sum,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, normal } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { projectionIntegrand, pushedScore } from "../../src/score/index.ts";
import {
  absoluteValues,
  applyCovariance,
  linearStatistic,
  multipliedOut,
  orderStatistics,
  ornsteinUhlenbeck,
  project,
  projectAt,
  push,
  radius,
  reverse,
  type Statistic,
  squaredRadius,
  vp,
} from "../../src/sde/index.ts";
import { at, draws, gaussianSdes, relativeError } from "./table.ts";

const n = 4;
const rows = [
  [1, 1, 1, 1],
  [0.5, -1, 0.3, 2],
];
const statistics: readonly Statistic[] = [
  squaredRadius(n),
  radius(n),
  linearStatistic(rows),
  absoluteValues(),
  orderStatistics(),
];
const batch = 5;
const x = draws("points", [batch, n]);
const times = [0.1, 0.3, 0.5, 0.7, 0.9];
const points = [
  [[batch, n], x],
  [[batch], times],
] as const;

describe("the process of a statistic", () => {
  it.each(statistics.map((v) => [v.name, v] as const))(
    "%s has at v(x) the drift and covariance that Itô's lemma gives at x",
    (_, v) => {
      for (const make of Object.values(gaussianSdes)) {
        const sde = make();
        const seen = project(sde, v);
        const drift = at((p, t) => seen.drift(v.value(p), t), ...points);
        const found = at((p, t) => projectAt(sde, v.value, p, t).drift, ...points);
        expect(relativeError(drift, found), sde.name).toBeLessThan(1e-12);
        const k = drift.length / batch;
        const spread = at(
          (p, t) => {
            const y = v.value(p);
            const g = seen.diffusion(y, t);
            const unit = (i: number): Tensor =>
              add(
                mul(y, 0),
                ndarray(
                  Array.from({ length: k }, (__, j) => +(i === j)),
                  "float64",
                ),
              );
            return stack(
              Array.from({ length: k }, (__, i) => applyCovariance(g, unit(i), [k])),
              -2,
            );
          },
          ...points,
        );
        const covariance = at((p, t) => projectAt(sde, v.value, p, t).covariance, ...points);
        expect(relativeError(spread, covariance), sde.name).toBeLessThan(1e-12);
      }
    },
  );

  it("of an Ornstein–Uhlenbeck process is that of Cox, Ingersoll and Ross", () => {
    const [rate, noise] = [0.7, 0.9];
    const seen = project(ornsteinUhlenbeck({ rate, noise }), squaredRadius(3));
    const y = [[3, 1], [0.2, 1, 5]] as const; // biome-ignore format: a column
    const t = [[3], [0.1, 0.2, 0.3]] as const;
    // dY = κ(θ − Y) dt + σ √Y dW with κ = 2·rate, κθ = n·noise², σ = 2·noise
    const drift = [0.2, 1, 5].map((v) => 3 * noise ** 2 - 2 * rate * v);
    expect(relativeError(at(seen.drift, y, t), drift)).toBeLessThan(1e-14);
    const diffusion = at((p, s) => multipliedOut(seen.diffusion(p, s)).value, y, t);
    const wanted = [0.2, 1, 5].map((v) => 2 * noise * Math.sqrt(v));
    expect(relativeError(diffusion, wanted)).toBeLessThan(1e-14);
  });
});

/** X₀ in 3 dimensions: N(0, s² I) with one of two s. Then |X_t|² is a mixture of gammas. */
const [spreads, shares] = [
  [0.3, 1.6],
  [0.4, 0.6],
];
const sde = vp();
const scale = (t: Tensor, s: number): Tensor =>
  add(mul(square(sde.transition.meanFactor(t)), s * s), square(sde.transition.std(t)));

/** ∇ log q_t(y), y = |x|²: log q = ½ log y + log Σ wₖ vₖ^{−3/2} e^{−y/2vₖ}, vₖ = m² sₖ² + σ². */
const scoreOfY = (y: Tensor, t: Tensor): Tensor =>
  gradEach((p: Tensor) => {
    const terms = spreads.map((s, k) => {
      const v = expandDims(scale(t, s), -1);
      return add(sub(mul(log(v), -1.5), div(p, mul(v, 2))), Math.log(shares[k]));
    });
    return sum(add(mul(log(p), 0.5), logSumExp(stack(terms, -1), -1)), -1);
  })(y);

/** ∇ log p_t(x) of the same mixture in three dimensions. */
const scoreOfX = (x: Tensor, t: Tensor): Tensor =>
  gradEach((p: Tensor) => {
    const terms = spreads.map((s, k) => {
      const v = scale(t, s);
      return add(sub(mul(log(v), -1.5), div(squaredNorm(p), mul(v, 2))), Math.log(shares[k]));
    });
    return logSumExp(stack(terms, -1), -1);
  })(x);

/** P(|X₀|² ≤ y) of data that carry noise of variance `noise`. */
const distribution = (y: number, noise: number): number =>
  spreads.reduce((total, s, k) => {
    const u = y / (s * s + noise);
    const one = erf(Math.sqrt(u / 2)) - Math.sqrt((2 * u) / Math.PI) * Math.exp(-u / 2);
    return total + shares[k] * one;
  }, 0);
const erf = (u: number): number => at((p) => erfOf(p), [[1], [u]])[0];

describe("the reverse of a projected process", () => {
  it("has the score that the corollary Rⁿ → R gives, at every point of a level", () => {
    const state = [[batch, 3], draws("points", [batch, 3])] as const;
    const one = at((p, t) => projectionIntegrand(squaredNorm, p, scoreOfX(p, t)), state, [
      [batch],
      times,
    ]);
    const other = at((p, t) => scoreOfY(squaredRadius(3).value(p), t), state, [[batch], times]);
    expect(relativeError(one, other)).toBeLessThan(1e-12);
  });

  it("has a flow from a Cox–Ingersoll–Ross process back to |X₀|²", async () => {
    const toLog = invert(expMap());
    const seen = project(sde, squaredRadius(3));
    const process = reverse(push(seen, toLog), (z, t) =>
      pushedScore(toLog, (y, s) => scoreOfY(y, s as Tensor))(z, t),
    );
    const count = 2000;
    const x = normal(key("start"), [count, 3], { dtype: "float64" }).data;
    const start = Array.from({ length: count }, (_, i) => [
      Math.log(x[3 * i] ** 2 + x[3 * i + 1] ** 2 + x[3 * i + 2] ** 2),
    ]);
    const { samples } = await sample(process, {
      start: ndarray(start, "float64"),
      key: key(2),
      solver: "rungeKutta",
      type: "float64",
    });
    const y = Array.from(samples.data as Float64Array, Math.exp).sort((a, b) => a - b);
    const [noise] = at((t) => square(sde.transition.std(t)), [[1], [sde.horizon / 1000]]);
    const distance = Math.max(
      ...y.map((v, i) => Math.abs(distribution(v, noise) - (i + 0.5) / count)),
    );
    console.log(`Kolmogorov–Smirnov distance of the reversed flow: ${distance.toFixed(4)}`);
    // 5 % of samples of the distribution itself exceed 1.36/√n = 0.030.
    expect(distance).toBeLessThan(0.03);
  });

  it.each([absoluteValues(), orderStatistics()])(
    "of a quotient is that of X with the lifted score: $name",
    (v) => {
      // The distribution of X is invariant under the group: one score in y, transformed back in x.
      const even = (y: Tensor, t: Tensor): Tensor =>
        gradEach((p: Tensor) => sum(log(add(square(square(sub(p, 0.3))), 1)), -1))(
          mul(y, expandDims(add(t, 1), -1)),
        );
      const invariant = (p: Tensor, t: Tensor): Tensor => v.lift!((y) => even(y, t), p);
      const seen = reverse(project(sde, v), even);
      const inX = reverse(sde, invariant);
      const one = at((p, t) => seen.drift(v.value(p), t), ...points);
      const pushed = at((p, t) => jvp(v.value, p, inX.drift(p, t))[1], ...points);
      expect(relativeError(one, pushed)).toBeLessThan(1e-12);
    },
  );
});
