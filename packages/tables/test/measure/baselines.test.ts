/**
 * Baselines against distributions whose density is known: where one of them is the truth it has its
 * log-likelihood.
 */
import {
  type Bend,
  bent,
  between,
  category,
  count,
  type Domain,
  ordered,
  positive,
  product,
  real,
  simplex,
} from "diffeo/domain";
import { normalShare } from "diffeo/host";
import { key, normal, uniform } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { tableBaselines } from "../../src/measure/baseline/baselines.ts";
import { numberDistribution } from "../../src/measure/baseline/discrete.ts";
import { gaussianOf } from "../../src/measure/baseline/gaussian.ts";
import { kernelMarginal } from "../../src/measure/baseline/marginal.ts";
import type { Cells, TableDistribution } from "../../src/measure/table-distribution.ts";

const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((s, v) => s + v, 0) / values.length;
const logNormal = (z: number): number => -(z * z + Math.log(2 * Math.PI)) / 2;

interface Known {
  readonly columns: Readonly<Record<string, Domain>>;
  /** A row out of normal and uniform numbers. */
  readonly row: (z: Float64Array, u: Float64Array) => Cells;
  readonly logDensity: (row: Cells) => number;
}

const rowsOf = ({ row }: Known, rows: number, seed: number): Cells[] => {
  const z = normal(key(seed), [rows, 4], { dtype: "float64" }).data;
  const u = uniform(key(seed), [rows, 4], { dtype: "float64" }).data;
  return Array.from({ length: rows }, (_, i) =>
    row(z.subarray(4 * i, 4 * i + 4), u.subarray(4 * i, 4 * i + 4)),
  );
};

/**
 * Log-likelihoods of fresh rows under each baseline, less those of the truth: their mean, and the
 * root of their mean square.
 */
async function gaps(
  known: Known,
  train = 4000,
): Promise<Record<string, number> & { rows: Record<string, number> }> {
  const distributions = tableBaselines(product(known.columns), rowsOf(known, train, 1));
  const fresh = rowsOf(known, 1000, 2);
  const found = await Promise.all(
    distributions.map(async (distribution: TableDistribution) => {
      const scores = await distribution.logLikelihood(fresh);
      return [distribution.name, fresh.map((row, i) => scores[i] - known.logDensity(row))] as const;
    }),
  );
  const rows = Object.fromEntries(
    found.map(([name, all]) => [name, Math.sqrt(mean(all.map((g) => g * g)))]),
  );
  return Object.assign(Object.fromEntries(found.map(([name, all]) => [name, mean(all)])), { rows });
}

const RHO = 0.8;
const HALF_LOG = Math.log(1 - RHO * RHO) / 2;
/** log of the density of a pair of correlated normal numbers. */
const logPair = (a: number, b: number): number =>
  logNormal(a) + logNormal((b - RHO * a) / Math.sqrt(1 - RHO ** 2)) - HALF_LOG;
const paired = (z: Float64Array): [number, number] => [
  z[0],
  RHO * z[0] + Math.sqrt(1 - RHO ** 2) * z[1],
];

const gaussian: Known = {
  columns: { a: real(), b: real() },
  row: (z) => {
    const [a, b] = paired(z);
    return [100 + 5 * a, 0.01 * b];
  },
  logDensity: ([a, b]) => logPair((Number(a) - 100) / 5, Number(b) / 0.01) - Math.log(5 * 0.01),
};

/**
 * A Gaussian in the isometric log-ratios of three parts of 100: the density in two of them is N ·
 * 1/(√3 Π shares · 100²).
 */
const composition: Known = {
  columns: { parts: simplex(["sand", "silt", "clay"], { total: 100, map: "isometricLogRatio" }) },
  row: (z) => {
    const [a, b] = paired(z);
    const logs = [
      a / Math.SQRT2 + b / Math.sqrt(6),
      -a / Math.SQRT2 + b / Math.sqrt(6),
      (-2 * b) / Math.sqrt(6),
    ];
    const total = logs.reduce((s, l) => s + Math.exp(l), 0);
    return logs.map((l) => (100 * Math.exp(l)) / total);
  },
  logDensity: (row) => {
    const [p, q, r] = row.map((v) => Math.log(Number(v) / 100));
    const pair = logPair((p - q) / Math.SQRT2, (p + q - 2 * r) / Math.sqrt(6));
    return pair - Math.log(3) / 2 - (p + q + r) - 2 * Math.log(100);
  },
};

/**
 * Waiting times and shares, neither of them normal after their domain's map, with normal
 * dependence.
 */
const copula: Known = {
  columns: { wait: positive(), share: between(0, 1) },
  row: (z) => {
    const [a, b] = paired(z);
    return [-Math.log(normalShare(-a)), normalShare(b)];
  },
  // log c = log N₂ − log N(a) − log N(b); the share is uniform, the time exponential.
  logDensity: ([wait, share]) => {
    const [a, b] = [-quantile(Math.exp(-Number(wait))), quantile(Number(share))];
    return logPair(a, b) - logNormal(a) - logNormal(b) - Number(wait);
  },
};

/** Φ⁻¹ by bisection. */
function quantile(p: number): number {
  let [low, high] = [-10, 10];
  while (high - low > 1e-12) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < p) low = middle;
    else high = middle;
  }
  return low;
}

const LABELS = ["north", "east", "west"];
/** A geometric number of visits, a label, and a logistic number: independent. */
const apart: Known = {
  columns: { visits: count(), ward: category(LABELS), x: real() },
  row: (_, u) => [
    Math.floor(Math.log(u[0]) / Math.log(0.7)),
    LABELS[u[1] < 0.5 ? 0 : u[1] < 0.8 ? 1 : 2],
    Math.log(u[2] / (1 - u[2])),
  ],
  logDensity: ([visits, ward, x]) =>
    Number(visits) * Math.log(0.7) +
    Math.log(0.3) +
    Math.log([0.5, 0.3, 0.2][LABELS.indexOf(String(ward))]) -
    Math.abs(Number(x)) -
    2 * Math.log1p(Math.exp(-Math.abs(Number(x)))),
};

describe("baselines", () => {
  it("have the log-likelihood of a Gaussian if that is the truth, in the table's units", async () => {
    const found = await gaps(gaussian);
    expect(Math.abs(found.Gaussian)).toBeLessThan(0.005);
    expect(Math.abs(found["Gaussian copula"])).toBeLessThan(0.03);
    // Row by row too: what is quadratic in a row has the mean 0 here, however often it is counted.
    expect(found.rows.Gaussian).toBeLessThan(0.08);
    expect(found.rows["Gaussian copula"]).toBeLessThan(0.2);
    // Independence loses the mutual information −½ log(1 − ρ²).
    expect(Math.abs(found["independent columns"] - HALF_LOG)).toBeLessThan(0.06);
  });

  it("have that of a Gaussian composition, with respect to all parts but one", async () => {
    const found = await gaps(composition);
    expect(Math.abs(found.Gaussian)).toBeLessThan(0.005);
    expect(Math.abs(found["Gaussian copula"])).toBeLessThan(0.03);
  });

  it("have that of a Gaussian copula with bounded and positive columns; a Gaussian of their coordinates has less", async () => {
    const found = await gaps(copula);
    expect(Math.abs(found["Gaussian copula"])).toBeLessThan(0.04);
    expect(found.Gaussian).toBeLessThan(-0.05);
    expect(Math.abs(found["independent columns"] - HALF_LOG)).toBeLessThan(0.06);
  });

  it("have that of independent labels, integers and numbers", async () => {
    const found = await gaps(apart);
    expect(Math.abs(found["independent columns"])).toBeLessThan(0.02);
    expect(Math.abs(found["Gaussian copula"])).toBeLessThan(0.02);
    expect(found.Gaussian).toBeLessThan(-0.05);
  });

  it("do not depend on the bends of a model's coordinates", async () => {
    const bend: Bend = { kind: "sinh", centre: [1], scale: [2] };
    const columns = {
      wait: bent(positive(), bend),
      share: bent(between(0, 1), bend),
      visits: bent(count(), bend),
    };
    const of = (rows: readonly Cells[]): Cells[] => rows.map((row, i) => [...row, i % 4]);
    const [rows, fresh] = [of(rowsOf(copula, 300, 1)), of(rowsOf(copula, 20, 2))];
    const plain = tableBaselines(product({ ...copula.columns, visits: count() }), rows);
    for (const [k, distribution] of tableBaselines(product(columns), rows).entries())
      expect(await distribution.logLikelihood(fresh)).toEqual(await plain[k].logLikelihood(fresh));
  });

  it("are distributions: probabilities of labels and integers sum to one", async () => {
    const known = { ...apart, columns: { visits: count(), ward: category(LABELS) } };
    const rows = rowsOf(known, 500, 3).map((row) => [
      row[0],
      LABELS[(LABELS.indexOf(String(row[1])) + Number(row[0])) % 3],
    ]);
    const all = Array.from({ length: 3 * 400 }, (_, i) => [Math.floor(i / 3), LABELS[i % 3]]);
    for (const distribution of tableBaselines(product(known.columns), rows)) {
      const total = (await distribution.logLikelihood(all)).reduce((s, v) => s + Math.exp(v), 0);
      expect(Math.abs(total - 1)).toBeLessThan(
        distribution.name === "independent columns" ? 2e-3 : 0.02,
      );
    }
  });

  it("average over draws within zeros, so that scores of equal rows differ less than with one draw", async () => {
    const zeros: Known = {
      ...composition,
      columns: { parts: simplex(["sand", "silt", "clay"], { total: 100, zeros: 0.05 }) },
    };
    const rows = rowsOf(zeros, 300, 1).map((row) => {
      const [a, b, c] = row.map((v) => (Number(v) < 10 ? 0 : Number(v)));
      return [a, b, c].map((v) => (100 * v) / (a + b + c));
    });
    const [, copula, independent] = tableBaselines(product(zeros.columns), rows);
    const same = Array.from({ length: 60 }, (): Cells => [0, 40, 60]);
    const spread = async (distribution: TableDistribution): Promise<number> => {
      const scores = Array.from(await distribution.logLikelihood(same));
      return Math.sqrt(mean(scores.map((v) => (v - mean(scores)) ** 2)));
    };
    // Scores of one draw each have a spread of 0.32; a mean over sixteen has a quarter of it.
    for (const distribution of [copula, independent])
      expect(await spread(distribution), distribution.name).toBeLessThan(0.12);
  });

  it("sample rows inside the domains, with the columns' distributions and the copula's dependence", async () => {
    const columns = {
      ...copula.columns,
      visits: count(),
      ward: category(LABELS),
      span: ordered(["from", "to"]),
    };
    const domain = product(columns);
    const one = (i: number): Cells => {
      const [z, u] = [
        normal(key(i), 4, { dtype: "float64" }).data,
        uniform(key(i), 4, { dtype: "float64" }).data,
      ];
      return [...copula.row(z, u), ...apart.row(z, u).slice(0, 2), z[2], z[2] + Math.exp(z[3])];
    };
    const rows = Array.from({ length: 1500 }, (_, i) => one(i));
    for (const distribution of tableBaselines(domain, rows)) {
      const drawn = await distribution.draw(800, 5);
      for (const row of drawn) expect(domain.fault(row)).toBeUndefined();
      expect(await distribution.draw(800, 5)).toEqual(drawn);
      const share = (of: readonly Cells[], test: (row: Cells) => boolean): number =>
        of.filter(test).length / of.length;
      for (const test of [
        (row: Cells) => Number(row[1]) < 0.3,
        (row: Cells) => row[3] === "north",
        (row: Cells) => Number(row[2]) < (distribution.name === "Gaussian" ? 3 : 1),
      ])
        expect(Math.abs(share(drawn, test) - share(rows, test))).toBeLessThan(0.06);
      const both = share(drawn, (row) => Number(row[0]) > Math.LN2 && Number(row[1]) > 0.5);
      // P(both above their medians) = ¼ + asin ρ/2π.
      const expected =
        distribution.name === "independent columns" ? 0.25 : 0.25 + Math.asin(RHO) / (2 * Math.PI);
      expect(Math.abs(both - expected)).toBeLessThan(0.05);
    }
  });
});

describe("a Gaussian of few rows", () => {
  it("has their variances, and correlations shrunk by (n + 1)/(N + n + 1)", () => {
    // Variances 5/4 and 5, covariance 2: of a correlation 0.8 four of seven parts are left.
    const { mean: centre, factor } = gaussianOf(Float64Array.of(0, 0, 1, 4, 2, 2, 3, 6), 2, String);
    expect(Array.from(centre)).toEqual([1.5, 3]);
    const [a, , c, d] = factor;
    expect([a * a, a * c, c * c + d * d]).toEqual(
      [1.25, (2 * 4) / 7, 5].map((v) => expect.closeTo(v, 12)),
    );
  });
});

describe("the distribution of a coordinate", () => {
  const values = normal(key(7), 300, { dtype: "float64" }).data.map((v) => Math.sign(v) * v * v);
  const distribution = kernelMarginal(values);

  it("is consistent: its density is the derivative of its distribution function, which goes from 0 to 1", () => {
    for (const z of [-30, -3, -0.5, 0, 0.1, 2, 40]) {
      const h = 1e-4;
      const slope = (distribution.tails(z + h)[0] - distribution.tails(z - h)[0]) / (2 * h);
      expect(Math.exp(distribution.logDensity(z)) / slope).toBeCloseTo(1, 4);
      const [below, above] = distribution.tails(z);
      expect(below + above).toBeCloseTo(1, 12);
    }
    expect(distribution.tails(-1e9)[0]).toBeLessThan(1e-10);
  });

  it("has kernels that are wider where values are rare, and a tail, as its formula says", () => {
    const few = [1000, 1001, 1004];
    // Quartiles are 1000.5 and 1002.5, nearer than the deviation has them: too few to try widths
    // on.
    const scale = 2 / 1.349;
    const width = (0.9 * scale * 3 ** -0.2 * Math.sqrt(3)) / Math.PI;
    const kernel = (t: number): number => 1 / (2 * Math.cosh(t / 2)) ** 2;
    const pilot = few.map((c) =>
      few.reduce((s, d) => s + kernel((c - d) / width) / (3 * width), 0),
    );
    const typical = Math.cbrt(pilot[0] * pilot[1] * pilot[2]);
    const widths = pilot.map((p) => width * Math.sqrt(typical / p));
    const found = kernelMarginal(Float64Array.from(few));
    for (const z of [990, 1000, 1000.7, 1002.5, 1004, 1030]) {
      const smooth = few.reduce((s, c, i) => s + kernel((z - c) / widths[i]) / (3 * widths[i]), 0);
      const tail = 1 / (Math.PI * scale * (1 + ((z - 1001) / scale) ** 2));
      expect(Math.exp(found.logDensity(z)) / (0.75 * smooth + 0.25 * tail)).toBeCloseTo(1, 9);
    }
  });

  it("has an inverse of its distribution function, also outside of the values", () => {
    for (const p of [1e-6, 0.01, 0.3, 0.5, 0.9, 0.999999])
      expect(distribution.tails(distribution.quantile(p))[0] / p).toBeCloseTo(1, 4);
  });

  it("gives an outlier a low density, but not 0", () => {
    // ε · scale/(π d²) for a value of 10⁶.
    expect(distribution.logDensity(1e6)).toBeGreaterThan(-40);
  });
});

describe("the distribution of integers", () => {
  it("follows its smooth distribution if every number occurs once: numbers between them are as likely", () => {
    const even = Array.from({ length: 100 }, (_, i) => 2 * i);
    const distribution = numberDistribution(even, uniform(key(1), 100, { dtype: "float64" }).data, {
      least: 0,
    });
    expect(
      Math.exp(distribution.logProbability(101) - distribution.logProbability(100)),
    ).toBeCloseTo(1, 1);
  });

  it("has accurate probabilities in both tails", () => {
    const distribution = numberDistribution(
      [1, 2, 2, 3, 6],
      uniform(key(1), 5, { dtype: "float64" }).data,
      {},
    );
    for (const side of [1, -1])
      expect(
        Math.exp(distribution.logProbability(side * 2e9) - distribution.logProbability(side * 1e9)),
      ).toBeCloseTo(0.25, 4);
  });

  it("has an inverse of its distribution function within its bounds", () => {
    const values = Array.from({ length: 200 }, (_, i) => [1, 2, 2, 3, 6][i % 5]);
    const distribution = numberDistribution(
      values,
      uniform(key(1), 200, { dtype: "float64" }).data,
      {
        least: 1,
        most: 6,
      },
    );
    const total = [1, 2, 3, 4, 5, 6].reduce(
      (s, k) => s + Math.exp(distribution.logProbability(k)),
      0,
    );
    expect(total).toBeCloseTo(1, 10);
    expect(Math.exp(distribution.logProbability(2))).toBeCloseTo(0.4, 1);
    for (const k of [1, 2, 3, 4, 5, 6]) {
      const [below, above] = distribution.tails(k);
      expect(below + Math.exp(distribution.logProbability(k)) + above).toBeCloseTo(1, 10);
      expect(distribution.quantile(below + Math.exp(distribution.logProbability(k)) / 2)).toBe(k);
    }
  });
});
