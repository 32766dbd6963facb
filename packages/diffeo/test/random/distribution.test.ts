/**
 * The distributions of random numbers. Each test computes the p-value of a hypothesis; the last
 * ones test whether the p-values of many keys are uniform, which a stream that is too even would
 * fail as well.
 */
import { describe, expect, it } from "vitest";
import {
  bits,
  fold,
  type Key,
  key,
  normal,
  rademacher,
  sampleKeys,
  split,
  uniform,
} from "../../src/random/index.ts";
import {
  ALPHA,
  correlationZ,
  counted,
  countsP,
  evenly,
  normalCdf,
  uniformP,
  zScoresP,
} from "./statistics.ts";

const wide = { dtype: "float64" } as const;
const normals = (source: Key, n: number): Float64Array => normal(source, n, wide).data;

describe("uniform numbers", () => {
  const { data } = uniform(key(11), 100_000, wide);

  it("are uniform by the Kolmogorov–Smirnov test", () => {
    expect(uniformP(data)).toBeGreaterThan(ALPHA);
  });

  it("are uniform in their last bits too", () => {
    expect(uniformP(data.map((u) => (u * 2 ** 30) % 1))).toBeGreaterThan(ALPHA);
  });

  it("are uniform on the square in pairs", () => {
    const cell = (_: number, i: number): number =>
      16 * Math.floor(16 * data[2 * i]) + Math.floor(16 * data[2 * i + 1]);
    expect(countsP(counted(data.subarray(0, 50_000), 256, cell), evenly(256))).toBeGreaterThan(
      ALPHA,
    );
  });
});

describe("normal numbers", () => {
  it("are normal by the Kolmogorov–Smirnov test", () => {
    expect(uniformP(normals(key(12), 100_000).map(normalCdf))).toBeGreaterThan(ALPHA);
  });

  it("have the moments 0, 1, 0 and 3", () => {
    const n = 1_000_000;
    const z = normals(key(13), n);
    // The first four Hermite polynomials: uncorrelated, of mean 0 and variance k!. Their means
    // times √n are z-scores.
    const score = (f: (z: number) => number): number =>
      z.reduce((sum, x) => sum + f(x), 0) / Math.sqrt(n);
    const scores = [
      score((x) => x),
      score((x) => x ** 2 - 1) / Math.sqrt(2),
      score((x) => x ** 3 - 3 * x) / Math.sqrt(6),
      score((x) => x ** 4 - 6 * x ** 2 + 3) / Math.sqrt(24),
    ];
    expect(zScoresP(scores)).toBeGreaterThan(ALPHA);
  });

  it("have the right tails: counts between integer standard deviations, beyond ±4", () => {
    const bin = (z: number): number => Math.min(9, Math.max(0, Math.floor(z) + 5));
    const edges = [0, ...[-4, -3, -2, -1, 0, 1, 2, 3, 4].map(normalCdf), 1];
    const expected = edges.slice(1).map((p, i) => p - edges[i]);
    expect(countsP(counted(normals(key(14), 1_000_000), 10, bin), expected)).toBeGreaterThan(ALPHA);
  });

  it("have the right far tails: squares of pairs are exponential", () => {
    const z = normals(key(15), 200_000);
    const radius = Float64Array.from({ length: 100_000 }, (_, i) =>
      Math.exp(-(z[2 * i] ** 2 + z[2 * i + 1] ** 2) / 2),
    );
    expect(uniformP(radius)).toBeGreaterThan(ALPHA);
  });
});

describe("Rademacher numbers", () => {
  it("are ±1, and each of the 128 bits of a block is fair", () => {
    const blocks = 2000;
    const { data } = rademacher(key(16), [blocks, 128]);
    expect(new Set(data)).toEqual(new Set([-1, 1]));
    const sums = Array.from({ length: 128 }, (_, lane) => {
      let sum = 0;
      for (let i = 0; i < blocks; i++) sum += data[128 * i + lane];
      return sum / Math.sqrt(blocks);
    });
    expect(zScoresP(sums)).toBeGreaterThan(ALPHA);
  });
});

describe("independence", () => {
  const n = 20_000;
  /** p-value of all correlations between neighbours of a family of keys. */
  const neighboursP = (keys: readonly Key[]): number => {
    const draws = keys.map((k) => normals(k, n));
    return zScoresP(draws.slice(1).map((draw, i) => correlationZ(draws[i], draw)));
  };
  const range = Array.from({ length: 50 }, (_, i) => i);

  it.each([
    ["seeds", range.map((i) => key(i))],
    ["folded indices", range.map((i) => fold(key(0), i))],
    ["folded names", range.map((i) => fold(key(0), `layer ${i}`))],
    ["split keys", split(key(0), 50)],
    [
      "a parent and its descendants",
      range.reduce<Key[]>((line) => [...line, fold(line[line.length - 1], 0)], [key(0)]),
    ],
  ])("holds between neighbouring %s", (_, keys) => {
    expect(neighboursP(keys)).toBeGreaterThan(ALPHA);
  });

  it("holds between neighbouring counters, up to a distance of 64", () => {
    const z = normals(key(17), 200_000);
    const scores = Array.from({ length: 64 }, (_, lag) => correlationZ(z, z.subarray(lag + 1)));
    expect(zScoresP(scores)).toBeGreaterThan(ALPHA);
  });

  it("holds between the samples of a batch, and between its steps", () => {
    const keys = sampleKeys(key(18), 40_000);
    const [before, after] = [1, 2].map((step) => normal(fold(keys, step), [3], wide).data);
    const scores = [
      correlationZ(before, after),
      ...[1, 2, 3, 6].map((lag) => correlationZ(before, before.subarray(lag))),
    ];
    expect(zScoresP(scores)).toBeGreaterThan(ALPHA);
  });

  it("holds between squares, which would reveal a changing scale", () => {
    const square = normals(key(19), 200_000).map((z) => (z * z - 1) / Math.sqrt(2));
    const scores = Array.from({ length: 32 }, (_, lag) =>
      correlationZ(square, square.subarray(lag + 1)),
    );
    expect(zScoresP(scores)).toBeGreaterThan(ALPHA);
  });

  it("means that flipping one bit of a seed flips half of the bits drawn", () => {
    const ones = (n: number): number => n.toString(2).replaceAll("0", "").length;
    const plain = bits(key(0n), 1000).data;
    const scores = Array.from({ length: 64 }, (_, bit) => {
      const flipped = bits(key(1n << BigInt(bit)), 1000).data;
      const changed = plain.reduce((sum, word, i) => sum + ones((word ^ flipped[i]) >>> 0), 0);
      return (changed - 16_000) / Math.sqrt(8000);
    });
    expect(zScoresP(scores)).toBeGreaterThan(ALPHA);
  });
});

describe("over many keys the p-values are uniform", () => {
  const overKeys = (name: string, p: (k: Key) => number): number =>
    uniformP(split(key(name), 400).map(p));

  it("of uniform numbers", () => {
    expect(overKeys("uniform", (k) => uniformP(uniform(k, 1000, wide).data))).toBeGreaterThan(
      ALPHA,
    );
  });

  it("of normal numbers", () => {
    expect(overKeys("normal", (k) => uniformP(normals(k, 1000).map(normalCdf)))).toBeGreaterThan(
      ALPHA,
    );
  });

  it("of the leading bits of words", () => {
    const leading = (k: Key): number[] => counted(bits(k, 4096).data, 32, (word) => word >>> 27);
    expect(overKeys("bits", (k) => countsP(leading(k), evenly(32)))).toBeGreaterThan(ALPHA);
  });
});
