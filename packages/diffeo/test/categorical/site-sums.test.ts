import { describe, expect, it } from "vitest";
import { categorical, type SiteSum, siteSum, standardise } from "../../src/categorical/index.ts";
import { evaluate } from "../../src/engine/index.ts";
import {
  add,
  constant,
  div,
  dot,
  exp,
  gradEach,
  log,
  logSoftmax,
  matmul,
  mul,
  reshape,
  square,
  sub,
  type Tensor,
  transpose,
} from "../../src/graph/index.ts";
import { fold, key, uniform } from "../../src/random/index.ts";
import { sample } from "../../src/sampler/index.ts";
import { reversePush, twist, vp } from "../../src/sde/index.ts";

const VALUES = [1, 3, -2, 0];

/** Class probabilities of 16 sites, [1, 4, 4, 4]; the sharper, the surer. */
function posterior(sharpness: number): { shape: number[]; dtype: "float64"; data: Float64Array } {
  const u = uniform(fold(key("sites"), String(sharpness)), [64], { dtype: "float64" })
    .data as Float64Array;
  const weights = u.map((v) => Math.exp(sharpness * v));
  const data = weights.map(
    (w, i) => w / weights.subarray(4 * (i >> 2), 4 * (i >> 2) + 4).reduce((a, b) => a + b),
  );
  return { shape: [1, 4, 4, 4], dtype: "float64", data };
}

/** The distribution of the sum of independent sites, by adding one site after another. */
function exactDistribution(data: Float64Array): Map<number, number> {
  let distribution = new Map([[0, 1]]);
  for (let site = 0; site < 16; site++) {
    const next = new Map<number, number>();
    for (const [sum, p] of distribution)
      VALUES.forEach((v, k) => {
        next.set(sum + v, (next.get(sum + v) ?? 0) + p * data[4 * site + k]);
      });
    distribution = next;
  }
  return distribution;
}

const asked = async (p: ReturnType<typeof posterior>, sum: SiteSum): Promise<number> =>
  Number((await evaluate((x: Tensor) => siteSum(log(x), sum), p)).data[0]);

/** log[Φ(b) − Φ(a)] to all digits by quadrature of the density. */
function interval(a: number, b: number): number {
  const n = 20_000;
  const [from, to] = [Math.max(a, -60), Math.min(b, 60)];
  const top = Math.min(Math.max(0, from), to) ** 2 / 2;
  let total = 0;
  for (let i = 0; i <= n; i++) {
    const z = from + ((to - from) * i) / n;
    total += (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2) * Math.exp(top - (z * z) / 2);
  }
  return Math.log((total * (to - from)) / n / 3 / Math.sqrt(2 * Math.PI)) - top;
}

describe("a process guided by a sum over sites", () => {
  // 12 sites of three classes, independent of each other, with the exact posterior of each.
  const shares = [0.2, 0.3, 0.5];
  const encoding = categorical(standardise(shares, { grid: [12] }));
  const sde = vp({ eventRank: 2 });
  const logPosterior = (x: Tensor, t: Tensor): Tensor => {
    const codes = constant({ shape: [3, 2], dtype: "float64", data: encoding.points }, x.dtype);
    const [m, sigma] = [sde.transition.meanFactor(t), sde.transition.std(t)].map((v) =>
      reshape(v, [x.shape[0], 1, 1]),
    );
    const near = sub(
      mul(matmul(x, transpose(codes)), m),
      mul(mul(square(m), 0.5), dot(codes, codes)),
    );
    return logSoftmax(add(div(near, square(sigma)), constant(shares.map(Math.log), x.dtype)));
  };
  const score = (x: Tensor, t: Tensor): Tensor => {
    const codes = constant({ shape: [3, 2], dtype: "float64", data: encoding.points }, x.dtype);
    const [m, sigma] = [sde.transition.meanFactor(t), sde.transition.std(t)].map((v) =>
      reshape(v, [x.shape[0], 1, 1]),
    );
    return div(sub(mul(matmul(exp(logPosterior(x, t)), codes), m), x), square(sigma));
  };

  it("gives grids with the requested sum, and sites with their conditional distribution", async () => {
    // How many of the first class: 2.4 in the mean, and 6, which 1.6 % have, requested; each site
    // then has it half of the time.
    const sum: SiteSum = { values: [1, 0, 0], least: 6, most: 6 };
    const process = reversePush(sde, encoding.phi, score);
    const led = twist(process, (x, t) => siteSum(logPosterior(x, t), sum));
    const count = 600;
    const { samples } = await sample(led, {
      shape: [12, 2],
      count,
      steps: 120,
      key: key("led"),
      denoise: true,
      threads: 1,
    });
    const classes = encoding.decodeSimplex(samples.data);
    const sums = Array.from(
      { length: count },
      (_, i) => classes.subarray(12 * i, 12 * i + 12).filter((k) => k === 0).length,
    );
    expect(sums.filter((s) => s === 6).length / count).toBeGreaterThan(0.8);
    // Of the others 3 of 8 are of the second class, whatever bound the first has.
    const others = classes.filter((k) => k > 0);
    const second = others.filter((k) => k === 1).length / others.length;
    expect(Math.abs(second - 0.375)).toBeLessThan(4 * Math.sqrt((0.375 * 0.625) / others.length));
    for (const site of [0, 5, 11]) {
      const share =
        Array.from({ length: count }, (_, i) => classes[12 * i + site]).filter((k) => k === 0)
          .length / count;
      expect(Math.abs(share - 0.5), `site ${site}`).toBeLessThan(4 * Math.sqrt(0.25 / count));
    }
  });
});

describe("a sum over sites", () => {
  const cases: [string, SiteSum][] = [
    ["is one number", { values: VALUES, least: 6, most: 6 }],
    ["is within two", { values: VALUES, least: 2, most: 9 }],
    ["is at least", { values: VALUES, least: 12 }],
    ["is at most", { values: VALUES, most: 3 }],
    ["is far above what is likely", { values: VALUES, least: 30, most: 31 }],
    ["is beyond what is possible", { values: VALUES, least: 400 }],
  ];

  it.each(cases)(
    "that %s has the likelihood of the normal distribution with its mean and variance",
    async (_, sum) => {
      for (const sharpness of [0.5, 8]) {
        const p = posterior(sharpness);
        const distribution = [...exactDistribution(p.data)];
        const mean = distribution.reduce((s, [v, q]) => s + v * q, 0);
        const variance = distribution.reduce((s, [v, q]) => s + (v - mean) ** 2 * q, 0);
        const u = Math.sqrt(variance + 0.04);
        const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = sum;
        const [a, b] = [(least - 0.5 - mean) / u, (most + 0.5 - mean) / u];
        // Far out, where quadrature over 60 deviations ends, the tail's own series.
        const z = Math.max(a, -b);
        const want =
          z > 40
            ? -(z * z) / 2 - Math.log(z * Math.sqrt(2 * Math.PI)) - 1 / (z * z)
            : interval(a, b);
        const got = await asked(p, sum);
        expect(
          Math.abs(got - want) / Math.max(1, Math.abs(want)),
          `${got} for ${want}`,
        ).toBeLessThan(2e-6);
      }
    },
  );

  it("has the likelihood log Φ for certain sites, also in its tail", async () => {
    // One site of class 1 alone: S = 3 with a spread of 0.2. From 60 digits.
    const sure = { shape: [1, 1, 4], dtype: "float64" as const, data: Float64Array.of(0, 1, 0, 0) };
    for (const [z, value] of [
      [-10.5, -58.40418706107324],
      [-12.5, -81.57596787074388],
    ])
      expect(await asked(sure, { values: VALUES, most: 2.5 + 0.2 * z })).toBeCloseTo(value, 5);
  });

  it("has nearly the likelihood of the sum of independent sites", async () => {
    const p = posterior(0.5);
    const distribution = exactDistribution(p.data);
    for (const n of [0, 4, 8]) {
      const exact = Math.log(distribution.get(n) as number);
      expect(
        Math.abs((await asked(p, { values: VALUES, least: n, most: n })) - exact),
      ).toBeLessThan(0.05);
    }
  });

  it("has a gradient towards the bounds that is finite everywhere", async () => {
    for (const [, sum] of cases) {
      const p = posterior(8);
      const slope = await evaluate(
        (x: Tensor) => gradEach((z: Tensor) => siteSum(log(z), sum))(x),
        p,
      );
      expect((slope.data as Float64Array).every(Number.isFinite)).toBe(true);
    }
  });

  it("refuses values that do not fit the classes, and missing bounds", async () => {
    const p = posterior(1);
    await expect(asked(p, { values: [1, 2], least: 1 })).rejects.toThrow(
      "Give 4 integers, one per class",
    );
    await expect(asked(p, { values: VALUES })).rejects.toThrow("Give `least`, `most` or both");
    await expect(asked(p, { values: VALUES, least: 3, most: 2 })).rejects.toThrow(
      "Give `least` below `most`",
    );
  });
});
