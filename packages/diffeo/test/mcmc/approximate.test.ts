/** Gaussian approximations: exact on Gaussians, evaluated by k̂, and starting points of chains. */
import { describe, expect, it } from "vitest";
import { positive, real } from "../../src/domain/index.ts";
import {
  add,
  log,
  mul,
  neg,
  square,
  squaredNorm,
  sub,
  type Tensor,
} from "../../src/graph/index.ts";
import { cholesky } from "../../src/host/index.ts";
import {
  climbEvidence,
  covarianceOf,
  type Gaussian,
  matchBatch,
  matchEach,
  matchedNormals,
  pointFrom,
  timesVector,
} from "../../src/mcmc/gaussian-fit.ts";
import {
  approximate,
  fits,
  type PosteriorModel,
  paretoFit,
  paretoShape,
  samplePosterior,
} from "../../src/mcmc/index.ts";
import { fold, key, normal, uniform } from "../../src/random/index.ts";

const n = 4;
/** A Gaussian target: precision P = A Aᵀ + 1, mean μ. */
const a = normal(key("a"), [n, n], { dtype: "float64" }).data;
const precision = Float64Array.from({ length: n * n }, (_, at) => {
  const [i, j] = [Math.floor(at / n), at % n];
  return a.subarray(i * n, (i + 1) * n).reduce((t, v, k) => t + v * a[j * n + k], i === j ? 1 : 0);
});
const mu = Float64Array.of(3, -2, 0.5, 10);
const slopeAt = (x: Float64Array): Float64Array =>
  timesVector(
    precision,
    x.map((v, i) => v - mu[i]),
  ).map((v) => -v);
const unit: Gaussian = {
  mean: new Float64Array(n),
  factor: cholesky(
    Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
    n,
  ) as Float64Array,
};

/** The largest entry of PΣ − 1 and of m − μ. */
function distance(q: Gaussian): number {
  const covariance = covarianceOf(q);
  let worst = Math.max(...q.mean.map((m, i) => Math.abs(m - mu[i])));
  for (let i = 0; i < n; i++) {
    const column = covariance.filter((_, at) => at % n === i);
    timesVector(precision, column).forEach((v, j) => {
      worst = Math.max(worst, Math.abs(v - (i === j ? 1 : 0)));
    });
  }
  return worst;
}

const slopesOf = (q: Gaussian, t: number, count = 20) => {
  const z = matchedNormals(fold(key("z"), t), count, n);
  const x = z.map((each) => pointFrom(q, each));
  return { z, x, slope: x.map(slopeAt) };
};

describe("a step on a Gaussian", () => {
  it("has points whose mean is 0 and whose covariance is 1 to rounding", () => {
    const z = matchedNormals(key(1), 20, n);
    for (let i = 0; i < n; i++) {
      expect(Math.abs(z.reduce((t, v) => t + v[i], 0))).toBeLessThan(1e-13);
      for (let j = 0; j < n; j++)
        expect(z.reduce((t, v) => t + v[i] * v[j], 0) / 20).toBeCloseTo(i === j ? 1 : 0, 12);
    }
  });

  it("of batch and match is exact as λ grows without bound", () => {
    expect(distance(unit)).toBeGreaterThan(1);
    expect(distance(matchBatch(unit, slopesOf(unit, 0), 1e13) as Gaussian)).toBeLessThan(1e-9);
  });

  it("of batch and match solves Σ̃UΣ̃ + Σ̃ = V, and its mean is the weighted one", () => {
    const [lambda, slopes] = [0.7, slopesOf(unit, 3)];
    const found = matchBatch(unit, slopes, lambda) as Gaussian;
    const mean = (rows: readonly Float64Array[]): Float64Array =>
      rows[0].map((_, i) => rows.reduce((t, r) => t + r[i], 0) / rows.length);
    const [x, g] = [mean(slopes.x), mean(slopes.slope)];
    const covariance = (
      rows: readonly Float64Array[],
      centre: Float64Array,
      i: number,
      j: number,
    ): number =>
      rows.reduce((t, r) => t + (r[i] - centre[i]) * (r[j] - centre[j]), 0) / rows.length;
    const s = covarianceOf(found);
    const share = lambda / (1 + lambda);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        let left = s[i * n + j];
        for (let k = 0; k < n; k++)
          for (let l = 0; l < n; l++)
            left +=
              s[i * n + k] *
              (lambda * covariance(slopes.slope, g, k, l) + share * g[k] * g[l]) *
              s[l * n + j];
        const right =
          (i === j ? 1 : 0) + lambda * covariance(slopes.x, x, i, j) + share * x[i] * x[j];
        expect(left).toBeCloseTo(right, 9);
      }
      const pulled = timesVector(s, g);
      expect(found.mean[i]).toBeCloseTo((lambda * (pulled[i] + x[i])) / (1 + lambda), 10);
    }
  });

  it("of score matching gives the nearest distribution the score of the point, Σ̃g = m̃ − x", () => {
    const { z, x, slope } = slopesOf(unit, 1);
    const found = matchEach(unit, { z: [z[0]], x: [x[0]], slope: [slope[0]] }) as Gaussian;
    timesVector(covarianceOf(found), slope[0]).forEach((v, i) => {
      expect(v).toBeCloseTo(found.mean[i] - x[0][i], 10);
    });
    // Where the score is right already nothing moves.
    const right = matchEach(unit, {
      z: [z[0]],
      x: [x[0]],
      slope: [x[0].map((v) => -v)],
    }) as Gaussian;
    right.mean.forEach((m) => {
      expect(Math.abs(m)).toBeLessThan(1e-12);
    });
    covarianceOf(right).forEach((v, at) => {
      expect(v).toBeCloseTo(at % (n + 1) === 0 ? 1 : 0, 12);
    });
  });

  it("of the evidence bound is Newton's method for a root, with quadratic convergence", () => {
    let q = unit;
    const errors: number[] = [];
    for (let t = 0; t < 14; t++) {
      q = climbEvidence(q, slopesOf(q, t), 1) as Gaussian;
      errors.push(distance(q));
    }
    expect(errors.at(-1)).toBeLessThan(1e-10);
    const small = errors.findIndex((e) => e < 1e-2);
    expect(errors[small + 1]).toBeLessThan(10 * errors[small] ** 2);
  });
});

/** log y ~ N(1, 0.5²) and z | y ~ N(log y, 1), times e³: a Gaussian in free coordinates. */
const lognormal: PosteriorModel = {
  parameters: { y: positive(), z: real() },
  logDensity: ({ y, z }) =>
    add(sub(mul(square(sub(log(y), 1)), -2), log(y)), add(mul(square(sub(z, log(y))), -0.5), 3)),
};

describe("an approximation", () => {
  it.each(fits)("equals the posterior if that is Gaussian in x: %s", async (fit) => {
    const found = await approximate(lognormal, { key: key(1), fit });
    const exact = fit === "scoreMatching" ? 3 : 8;
    expect(found.mean[0]).toBeCloseTo(1, exact);
    expect(found.mean[1]).toBeCloseTo(1, exact);
    expect(found.covariance[0]).toBeCloseTo(0.25, exact);
    expect(found.covariance[1]).toBeCloseTo(0.25, exact);
    expect(found.covariance[3]).toBeCloseTo(1.25, exact);
    // ∫p = e³ · √(2π)/2 · √(2π)
    expect(found.evidence).toBeCloseTo(3 + Math.log(Math.PI), exact);
    expect(found.warnings()).toEqual([]);
    const { mean, meanError } = found.summary().y;
    expect(Math.abs(mean - Math.exp(1 + 0.125)) / meanError).toBeLessThan(4);
  });

  it("warns if the posterior has heavier tails", async () => {
    const cauchy: PosteriorModel = {
      parameters: { x: real() },
      logDensity: ({ x }) => neg(log(add(1, square(x)))),
    };
    const { khat, warnings, ...found } = await approximate(cauchy, { key: key(2) });
    // The mean of log p/q over its draws, and how far that is known.
    const [m, v] = [found.mean[0], found.covariance[0]];
    const ratios = Array.from(
      found.draws.x.data,
      (x) => -Math.log1p(x * x) + (x - m) ** 2 / (2 * v) + 0.5 * Math.log(2 * Math.PI * v),
    );
    const mean = ratios.reduce((a, b) => a + b) / 2000;
    const spread = Math.sqrt(ratios.reduce((s, r) => s + (r - mean) ** 2, 0) / 1999);
    expect(found.evidence).toBeCloseTo(mean, 10);
    expect(found.evidenceError).toBeCloseTo(spread / Math.sqrt(2000), 10);
    expect(khat).toBeGreaterThan(0.7);
    expect(warnings()[0]).toMatch(
      /^k̂ is [\d.]+, above 0\.70: .*samplePosterior\(model, \{ start: approximation \}\)/,
    );
  });

  it("starts chains near the posterior", async () => {
    // Far from the box where chains begin otherwise.
    const far: PosteriorModel = {
      parameters: { x: [real(), 3] },
      logDensity: ({ x }) => mul(squaredNorm(sub(x, [50, -80, 20])), -200),
    };
    const start = await approximate(far, { key: key(3) });
    const posterior = await samplePosterior(far, { key: key(4), start, warmup: 100, draws: 100 });
    const { chains } = await samplePosterior(far, { key: key(4), start, warmup: 0, draws: 1 });
    for (const { x } of chains) expect(Math.abs(x[0] - 50)).toBeLessThan(1);
    expect(Math.abs(posterior.summary()["x[2]"].mean + 80)).toBeLessThan(0.05);
  });

  it("rejects invalid options", async () => {
    await expect(approximate(lognormal, { key: key(1), fit: "laplace" as never })).rejects.toThrow(
      /unknown `fit` "laplace"/,
    );
    await expect(approximate(lognormal, { key: key(1), batch: 5 })).rejects.toThrow(
      /`batch` is 5 for 2 coordinates/,
    );
    const nowhere: PosteriorModel = {
      parameters: { x: real() },
      logDensity: ({ x }: Readonly<Record<string, Tensor>>) => log(neg(square(x))),
    };
    await expect(approximate(nowhere, { key: key(1) })).rejects.toThrow(
      /the fit failed after \d+ iterations: .*around x = 0/,
    );
  });
});

describe("k̂", () => {
  const quantiles = (k: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => (2 * ((1 - (i + 0.5) / count) ** -k - 1)) / k);

  // Zhang and Stephens' estimator in extended precision, on the quantiles of distributions of scale
  // 2.
  it.each([
    [-0.3, 40, -0.23037891808604952, 1.8648837968576968],
    [-0.3, 400, -0.2919460614726921, 1.9830709344056634],
    [0.2, 40, 0.2368214202006455, 1.9102997197859253],
    [0.2, 400, 0.20365848653728635, 1.9906592395955995],
    [0.7, 40, 0.697582190413385, 1.9756316449686517],
    [0.7, 400, 0.6993266642421829, 1.9984014073378729],
    [1.5, 40, 1.4351494851774897, 2.0883880641478276],
    [1.5, 400, 1.4920447983610683, 2.011615756996157],
  ])("of quantiles with k = %s, %s of them: shape %s, scale %s", (k, count, shape, scale) => {
    const found = paretoFit(quantiles(k, count));
    expect(Math.abs(found.k - shape)).toBeLessThan(1e-11);
    expect(Math.abs(found.sigma / scale - 1)).toBeLessThan(1e-11);
  });

  it("is the shape of importance ratios with a Pareto tail, shrunk by a prior of ten draws", () => {
    // r = u^{−k} has the tail x^{−1/k}.
    for (const k of [0.3, 0.7, 1.2]) {
      const u = uniform(fold(key("ratios"), 10 * k), [40_000], { dtype: "float64" }).data;
      const found = paretoShape(u.map((v) => -k * Math.log(v)));
      const tail = 600;
      expect(Math.abs(found - (k * tail + 5) / (tail + 10))).toBeLessThan(
        (4 * (1 + k)) / Math.sqrt(tail),
      );
    }
    // Of 100 ratios the tail is the largest 20, beyond the next one; a prior of ½ counts for half
    // as many.
    const logs = Float64Array.from({ length: 100 }, (_, i) => -0.8 * Math.log((i + 0.5) / 100));
    const beyond = logs
      .subarray(0, 20)
      .map((r) => Math.exp(r - logs[0]) - Math.exp(logs[20] - logs[0]));
    expect(paretoShape(logs)).toBeCloseTo((20 * paretoFit(beyond).k + 5) / 30, 12);
    expect(paretoShape(new Float64Array(1000))).toBe(Number.NEGATIVE_INFINITY);
    expect(paretoShape(Float64Array.of(1, 2, 3))).toBe(Number.POSITIVE_INFINITY);
  });
});
