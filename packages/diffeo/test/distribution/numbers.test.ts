/** Distributions of single numbers, compared with SciPy (make_scipy.py) and for consistency. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  bernoulli,
  binomial,
  type Distribution,
  gamma,
  normal,
  poisson,
  sampleFrom,
} from "../../src/distribution/index.ts";
import type { Domain } from "../../src/domain/index.ts";
import {
  constant,
  expandDims,
  input,
  reference,
  squeeze,
  type Tensor,
} from "../../src/graph/index.ts";
import { key, sampleKeys } from "../../src/random/index.ts";
import { catalogue } from "./catalogue.ts";

interface Known {
  readonly x: readonly number[];
  readonly logDensity: readonly number[];
  readonly cdf: readonly number[];
  readonly mean: number | null;
  readonly variance: number | null;
}

const scipy = JSON.parse(readFileSync(new URL("scipy.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Known>
>;

const numbersOf = (t: Tensor): number[] => Array.from(reference([t], new Map())[0]);
const at = (f: (x: Tensor) => Tensor, x: readonly number[]): number[] =>
  numbersOf(f(constant([...x], "float64")));

/** Numbers of a list that agree to so many roundings, relative to 1 or to their size. */
function expectClose(found: readonly number[], wanted: readonly number[], tolerance: number): void {
  expect(found.length).toBe(wanted.length);
  found.forEach((v, i) => {
    if (!(Math.abs(v - wanted[i]) <= tolerance * Math.max(1, Math.abs(wanted[i]))))
      expect.fail(`entry ${i}: ${v}, not ${wanted[i]}`);
  });
}

/**
 * ∫ p over the support by the trapezoidal rule, on x = m + w sinh u of the free coordinates of its
 * map, m and w from two points of its middle.
 */
function integral({ support, logDensity }: Distribution, low: number, high: number): number {
  if (support.kind === "bounds") throw new Error("bounds that depend on parameters");
  const { map, fault } = support as Domain;
  const t = constant(0, "float64");
  const [m, w] = at((y) => map.inverse(expandDims(y, -1), t), [low, high]);
  const [n, step] = [10000, 2.5e-3];
  const u = Array.from({ length: 2 * n + 1 }, (_, i) => (i - n) * step);
  const x = expandDims(
    constant(
      u.map((v) => m + (w - m) * Math.sinh(v)),
      "float64",
    ),
    -1,
  );
  const y = map.forward(x, t);
  const parts = [y, logDensity(squeeze(y, -1)), map.logDet(x, t)];
  const [values, p, det] = reference(parts, new Map());
  return u.reduce((s, v, i) => {
    if (fault([values[i]]) !== undefined) return s;
    return s + Math.exp(p[i] + det[i]) * (w - m) * Math.cosh(v) * step;
  }, 0);
}

/** Mass nearer to 1 than a float64 can be. */
const unrepresentable: Readonly<Record<string, number>> = { "beta, of small counts": 1e-4 };

const COUNT = 20000;

describe.each(Object.entries(catalogue))("%s", (name, distribution) => {
  const known = scipy[name];
  const { discrete, mean, variance, cdf, quantile } = distribution;

  it("has SciPy's density and moments", () => {
    expectClose(at(distribution.logDensity, known.x), known.logDensity, 2e-12);
    if (mean && known.mean !== null) expectClose(numbersOf(mean()), [known.mean], 1e-12);
    if (variance && known.variance !== null)
      expectClose(numbersOf(variance()), [known.variance], 1e-12);
  });

  it.runIf(cdf)("has SciPy's distribution function, and its inverse", () => {
    expectClose(
      at((x) => (cdf as NonNullable<typeof cdf>)(x), known.x),
      known.cdf,
      // Logarithms of Γ(1,000) cancel.
      name.includes("of many") ? 1e-12 : 1e-13,
    );
    if (quantile)
      expectClose(
        at((u) => quantile(u), known.cdf),
        known.x,
        1e-9,
      );
  });

  it("sums to 1", () => {
    if (!discrete) {
      const total = integral(distribution, known.x[3], known.x[4]);
      expect(Math.abs(total - 1)).toBeLessThan(unrepresentable[name] ?? 1e-6);
      return;
    }
    const all = Array.from({ length: 2000 }, (_, x) => x).filter(
      (x) => !("fault" in distribution.support && distribution.support.fault([x])),
    );
    const total = at(distribution.logDensity, all).reduce((s, v) => s + Math.exp(v), 0);
    expect(total).toBeCloseTo(1, 11);
  });

  // Pearson's χ² of counts between the points, whose shares are SciPy's: 1 in 10⁶ is beyond.
  it("has samples with its distribution function", () => {
    const { data } = sampleFrom(distribution, key(name), COUNT, "float64");
    const edges = [...known.x, Number.POSITIVE_INFINITY];
    const upTo = [...known.cdf, 1];
    const counts = edges.map(() => 0);
    for (const v of data as Float64Array) counts[edges.findIndex((edge) => v <= edge)]++;
    const cells = counts.flatMap((found, i) => {
      const share = COUNT * (upTo[i] - (upTo[i - 1] ?? 0));
      return share > 0 ? [{ found, share }] : [];
    });
    for (const { found, share } of cells) if (share < 1e-6) expect(found).toBe(0);
    const chi2 = cells.reduce((s, { found, share }) => s + (found - share) ** 2 / share, 0);
    expect(chi2).toBeLessThan(45);
  });

  it.runIf(!discrete)("has the score of differences of its density", () => {
    const h = known.x.map((x) => 1e-6 * Math.max(1e-3, Math.abs(x)));
    const score = at(distribution.score, known.x);
    const up = at(
      distribution.logDensity,
      known.x.map((x, i) => x + h[i]),
    );
    const down = at(
      distribution.logDensity,
      known.x.map((x, i) => x - h[i]),
    );
    score.slice(1, -1).forEach((s, k) => {
      const i = k + 1;
      const d = (up[i] - down[i]) / (2 * h[i]);
      if (!(Math.abs(s - d) <= 1e-5 * Math.abs(d) + 1e-4))
        expect.fail(`at ${known.x[i]}: ${s}, not ${d}`);
    });
  });
});

describe("parameters", () => {
  it("broadcast to independent values", () => {
    const many = normal([0, 10, 20], [[1], [2]]);
    expect([many.batch, many.event, many.dimension]).toEqual([[2, 3], [], 6]);
    const x = constant([1, 10, 18], "float64");
    const alone = [
      normal(0, 1),
      normal(10, 1),
      normal(20, 1),
      normal(0, 2),
      normal(10, 2),
      normal(20, 2),
    ];
    expect(numbersOf(many.logDensity(x))).toEqual(
      alone.flatMap((d, i) => numbersOf(d.logDensity(constant([1, 10, 18][i % 3], "float64")))),
    );
    const { shape, data } = sampleFrom(many, key(1), 4000);
    expect(shape).toEqual([4000, 2, 3]);
    const means = [0, 0, 0, 0, 0, 0];
    data.forEach((v, i) => {
      means[i % 6] += Number(v) / 4000;
    });
    means.forEach((mean, i) => {
      expect(Math.abs(mean - 10 * (i % 3))).toBeLessThan(0.2);
    });
  });

  it("may be tensors, and are then sampled given their numbers", () => {
    const mean = input("mean", [2], "float64");
    const d = normal(mean, 1);
    expect(() => sampleFrom(d, key(1), 3)).toThrow("normal: its parameters are not constants");
    const rows = d.drawFrom(sampleKeys(key(1), 3), (row) => [
      Float64Array.of(row * 100, -row * 100),
      Float64Array.of(0),
    ]);
    expect(Array.from(rows)).toEqual([0, 0, 100, -100, 200, -200].map((v) => v + 0));
  });

  it("that are out of range or do not broadcast are named in errors", () => {
    expect(() => normal(0, -1)).toThrow("normal: sd is -1. Give a number above 0.");
    expect(() => bernoulli(1.5)).toThrow("bernoulli: probability is 1.5");
    expect(() => binomial(2.5, 0.5)).toThrow("binomial: trials is 2.5");
    expect(() => normal([1, 2, 3], [1, 2])).toThrow("normal: mean [3], sd [2] do not broadcast");
    expect(() => gamma(undefined as never)).toThrow("gamma: shape is missing");
    expect(() => poisson(3).score(constant(2, "float64"))).toThrow("no score");
  });
});
