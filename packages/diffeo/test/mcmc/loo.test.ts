/** Cross-validation compared with the R package loo (make_loo.R, loo 2.5.1). */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { normalQuantileValue } from "../../src/graph/normal.ts";
import { compare, loo, type PosteriorDraws } from "../../src/mcmc/index.ts";

interface Known {
  readonly elpd: number;
  readonly elpdError: number;
  readonly parameters: number;
  readonly parametersError: number;
  readonly pointwise: readonly number[];
  readonly shapes: readonly number[];
}

const known = JSON.parse(readFileSync(new URL("loo.json", import.meta.url), "utf8")) as Readonly<
  Record<"normal" | "shifted" | "cauchy" | "slow", Known>
> & {
  readonly compare: {
    readonly names: readonly string[];
    readonly difference: readonly number[];
    readonly differenceError: readonly number[];
  };
};

const y = [-1.2, 0.3, 0.5, 1.1, -0.4, 2.2, 0.1, -0.9, 4.5, 0.8];
const COUNT = 1000;
const quantileAt = (step: number, s: number): number => normalQuantileValue((s * step) % 1);

function draws(density: (y: number, mu: number, sigma: number) => number): PosteriorDraws {
  const data = new Float64Array(COUNT * y.length);
  for (let s = 0; s < COUNT; s++) {
    const mu = 0.3 * quantileAt(0.6180339887498949, s + 1);
    const sigma = Math.exp(0.2 * quantileAt(0.7548776662466927, s + 1));
    y.forEach((v, i) => {
      data[s * y.length + i] = density(v, mu, sigma);
    });
  }
  return { shape: [4, COUNT / 4, y.length], data };
}

const normal = (v: number, mu: number, sigma: number): number =>
  -0.5 * ((v - mu) / sigma) ** 2 - Math.log(sigma) - 0.5 * Math.log(2 * Math.PI);
const likelihoods = {
  normal: draws(normal),
  shifted: draws((v, mu, sigma) => normal(v, mu + 0.5, sigma)),
  cauchy: draws((v, mu, sigma) => -Math.log(Math.PI * sigma * (1 + ((v - mu) / sigma) ** 2))),
};

describe("loo", () => {
  it.each([
    ["normal", likelihoods.normal, 1],
    ["shifted", likelihoods.shifted, 1],
    ["cauchy", likelihoods.cauchy, 1],
    ["slow", likelihoods.normal, 0.3],
  ] as const)("is that of R's package: %s", (name, likelihood, efficiency) => {
    const found = loo(likelihood, { efficiency });
    const wanted = known[name];
    for (const key of ["elpd", "elpdError", "parameters", "parametersError"] as const)
      expect(found[key]).toBeCloseTo(wanted[key], 8);
    found.pointwise.forEach(({ elpd, shape }, i) => {
      expect(elpd).toBeCloseTo(wanted.pointwise[i], 8);
      expect(shape).toBeCloseTo(wanted.shapes[i], 8);
    });
    expect(found.unreliable).toBe(wanted.shapes.filter((k) => k > 0.7).length);
  });

  it("compares models by the differences of observations, like the R package", () => {
    const models = Object.fromEntries(
      Object.entries(likelihoods).map(([name, each]) => [name, loo(each, { efficiency: 1 })]),
    );
    const rows = compare(models);
    expect(rows.map(({ name }) => name)).toEqual(known.compare.names);
    rows.forEach(({ difference, differenceError }, i) => {
      expect(difference).toBeCloseTo(known.compare.difference[i], 8);
      expect(differenceError).toBeCloseTo(known.compare.differenceError[i], 8);
    });
  });

  it("rejects observations it cannot leave out", () => {
    const one = { shape: [4, 10], data: new Float64Array(40) };
    expect(() => loo(one)).toThrow("1 independent observation");
    const bad = { shape: [1, 10, 2], data: new Float64Array(20).fill(Number.NEGATIVE_INFINITY) };
    expect(() => loo(bad)).toThrow("the log-likelihood of y[1] is -Infinity");
    const [a, b] = [
      loo(likelihoods.normal),
      loo({ shape: [4, 250, 9], data: likelihoods.normal.data }),
    ];
    expect(() => compare({ a, b })).toThrow("observations");
  });
});
