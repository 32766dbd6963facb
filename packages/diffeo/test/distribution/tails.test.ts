/**
 * Distribution functions by incomplete integrals: relative errors in the tails, values at the ends,
 * truncation, and derivatives by shapes, compared with SciPy (make_tails.py).
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  bernoulli,
  beta,
  binomial,
  censored,
  type Distribution,
  gamma,
  geometric,
  negativeBinomial,
  poisson,
  studentT,
  truncated,
} from "../../src/distribution/index.ts";
import { constant, grad, reference, sum, type Tensor } from "../../src/graph/index.ts";

interface Tails {
  readonly x: readonly number[];
  readonly cdf: readonly number[];
  readonly survival: readonly number[];
}

const scipy = JSON.parse(readFileSync(new URL("tails.json", import.meta.url), "utf8")) as {
  readonly far: Readonly<Record<string, Tails>>;
  readonly ends: Readonly<Record<string, Tails>>;
  readonly cut: Readonly<Record<string, number>>;
};

const numbersOf = (t: Tensor): number[] => Array.from(reference([t], new Map())[0]);
const of = (name: string): Distribution => {
  const [family, ...p] = name.split(" ");
  const [a, b] = p.map(Number);
  if (family === "gamma") return gamma(a);
  if (family === "beta") return beta(a, b);
  if (family === "student") return studentT(a);
  if (family === "poisson") return poisson(a);
  if (family === "binomial") return binomial(a, b);
  return negativeBinomial({ successes: a, probability: b });
};
const at = (d: Distribution, f: "cdf" | "survival" | "quantile", x: readonly number[]) =>
  numbersOf((d[f] as NonNullable<Distribution["cdf"]>)(constant([...x], "float64")));

describe.each(Object.entries(scipy.far))("%s, far out", (name, { x, cdf, survival }) => {
  it("has accurate tails on both sides", () => {
    // Logarithms of Γ(3,000) cancel to 10⁻¹² or so.
    const digits = name === "gamma 3000" || name === "beta 400 900" ? 1e-10 : 5e-12;
    for (const [f, known] of [
      ["cdf", cdf],
      ["survival", survival],
    ] as const)
      at(of(name), f, x).forEach((v, i) => {
        expect(Math.abs(v / known[i] - 1), `${f} at ${x[i]}`).toBeLessThan(digits);
      });
  });

  it("is inverted by its quantile", () => {
    const inner = cdf.filter((u) => u < 1 - 1e-9);
    at(of(name), "quantile", inner).forEach((v, i) => {
      expect(Math.abs(v / x[i] - 1)).toBeLessThan(1e-8);
    });
  });
});

it.each(Object.entries(scipy.ends))("%s has 0 and 1 at its ends", (name, known) => {
  at(of(name), "cdf", known.x).forEach((v, i) => {
    expect(v).toBeCloseTo(known.cdf[i], 12);
  });
  at(of(name), "survival", known.x).forEach((v, i) => {
    expect(v).toBeCloseTo(known.survival[i], 12);
  });
});

it("quantiles at 0 and 1 are the ends of the support", () => {
  expect(at(gamma(2.5), "quantile", [0, 1])).toEqual([0, Number.POSITIVE_INFINITY]);
  expect(at(beta(2.5, 0.7), "quantile", [0, 1])).toEqual([0, 1]);
  const [low, middle, high] = at(studentT(3.5), "quantile", [0, 0.5, 1]);
  expect([low, middle + 0, high]).toEqual([Number.NEGATIVE_INFINITY, 0, Number.POSITIVE_INFINITY]);
});

describe("the quantile of counts", () => {
  const families = {
    bernoulli: bernoulli(0.3),
    "bernoulli of a logit": bernoulli({ logit: -1 }),
    binomial: binomial(12, 0.3),
    "binomial of a logit": binomial(400, { logit: 2 }),
    poisson: poisson(3.7),
    "poisson of a large rate": poisson({ logRate: 11 }),
    "poisson of a small rate": poisson(1e-6),
    successes: negativeBinomial({ successes: 3.5, probability: 0.01 }),
    dispersion: negativeBinomial({ mean: 40, dispersion: 0.2 }),
    geometric: geometric(0.03),
  };

  it.each(Object.entries(families))("%s: is the least k with P(X ≤ k) ≥ u", (_, family) => {
    const low = [1e-12, 1e-3, 0.2, 0.45];
    const high = [0.55, 0.9, 0.999, 1 - 1e-9];
    const found = at(family, "quantile", [...low, ...high]);
    expect(found.every((k) => Number.isInteger(k) && k >= 0)).toBe(true);
    const tails = (f: "cdf" | "survival", less: number, from: number, to?: number) =>
      at(
        family,
        f,
        found.slice(from, to).map((k) => k - less),
      );
    low.forEach((u, i) => {
      expect(tails("cdf", 0, 0)[i]).toBeGreaterThanOrEqual(u);
      expect(tails("cdf", 1, 0)[i]).toBeLessThan(u);
    });
    high.forEach((u, i) => {
      expect(tails("survival", 0, low.length)[i]).toBeLessThanOrEqual(1 - u);
      expect(tails("survival", 1, low.length)[i]).toBeGreaterThan(1 - u);
    });
  });

  it.each(Object.entries(families))("%s: inverts the distribution function", (_, family) => {
    const counts = at(family, "quantile", [0.01, 0.3, 0.6, 0.97]);
    const below = counts.filter((k) => at(family, "cdf", [k])[0] < 1);
    expect(at(family, "quantile", at(family, "cdf", below))).toEqual(below);
  });

  it("is at 0 and 1 the end of the support", () => {
    expect(at(poisson(3.7), "quantile", [0, 1])).toEqual([0, Number.POSITIVE_INFINITY]);
    expect(at(binomial(12, 0.3), "quantile", [0, 1])).toEqual([0, 12]);
    expect(at(geometric(0.2), "quantile", [0, 1])).toEqual([0, Number.POSITIVE_INFINITY]);
  });
});

it("distributions are truncated and censored by them", () => {
  const value = (d: Distribution, x: number): number =>
    numbersOf(d.logDensity(constant(x, "float64")))[0];
  const g = gamma(2.5, 4);
  const found = {
    "gamma between": value(truncated(g, { above: 0.3, below: 1 }), 0.7),
    "gamma above": value(truncated(g, { above: 5 }), 6),
    "beta below": value(truncated(beta(2.5, 0.7), { below: 0.3 }), 0.2),
    "student above": value(truncated(studentT(3.5, 1, 2), { above: 0 }), 2),
    "gamma censored": value(censored(g, { below: 1.5 }), 1.5),
  };
  for (const [name, v] of Object.entries(found)) expect(v, name).toBeCloseTo(scipy.cut[name], 10);
});

describe("derivatives", () => {
  const cases: Readonly<Record<string, (p: Tensor) => Tensor>> = {
    "of gamma by its shape, below": (a) => cdf(gamma(a, 1), 1.1),
    "of gamma by its shape, above": (a) => cdf(gamma(a, 1), 6),
    "of gamma by its rate": (b) => cdf(gamma(2.5, b), 1.1),
    "of beta by a": (a) => cdf(beta(a, 0.7), 0.9),
    "of beta by b": (b) => cdf(beta(2.5, b), 0.2),
    "of t by its degrees": (v) => cdf(studentT(v, 0, 1), -1.4),
    "of t by its scale": (s) => cdf(studentT(3, 0.2, s), 1.4),
    "of a count by its rate": (r) => cdf(poisson(r), 2),
    "of successes by their probability": (p) => cdf(binomial(9, { logit: p }), 7),
    "of the quantile of gamma by its shape": (a) => quantile(gamma(a, 2), 0.3),
    "of the quantile of beta by b": (b) => quantile(beta(1.2, b), 0.8),
  };
  const cdf = (d: Distribution, x: number): Tensor =>
    (d.cdf as NonNullable<Distribution["cdf"]>)(constant(x, "float64"));
  const quantile = (d: Distribution, u: number): Tensor =>
    (d.quantile as NonNullable<Distribution["quantile"]>)(constant(u, "float64"));

  it.each(Object.entries(cases))("%s equal differences", (_, f) => {
    const [p, h] = [2.3, 1e-5];
    const scalar = (v: number): number => numbersOf(f(constant(v, "float64")))[0];
    const slope = numbersOf(grad((t: Tensor) => sum(f(t)))(constant(p, "float64")))[0];
    expect(slope).toBeCloseTo((scalar(p + h) - scalar(p - h)) / (2 * h), 7);
    expect(Math.abs(slope)).toBeGreaterThan(1e-3);
  });

  it("at the ends are 0 and finite", () => {
    for (const x of [-1, 0, 1e300]) {
      const slope = grad((a: Tensor) => sum(cdf(gamma(a, 1), x)))(constant(2, "float64"));
      expect(numbersOf(slope)).toEqual([expect.closeTo(0, 15)]);
    }
  });
});
