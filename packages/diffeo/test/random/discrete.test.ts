import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  choice,
  fold,
  type IntArray,
  integers,
  type Key,
  type Keys,
  key,
  permutation,
  sampleKeys,
} from "../../src/random/index.ts";
import { ALPHA, counted, countsP, evenly } from "./statistics.ts";

describe("integers", () => {
  it("are uniform on their range", () => {
    const { data, dtype } = integers(key(1), 60_000, -2, 4);
    expect(dtype).toBe("int32");
    expect(
      countsP(
        counted(data, 6, (n) => n + 2),
        evenly(6),
      ),
    ).toBeGreaterThan(ALPHA);
  });

  it("have no bias if the range does not divide 2³²", () => {
    // A plain remainder mod 3·2³⁰ would put half of the numbers, not a third, below 2³⁰.
    const { data } = integers(key(2), 30_000, -(2 ** 31), 2 ** 30);
    expect(
      countsP(
        counted(data, 3, (n) => (n >> 30) + 2),
        evenly(3),
      ),
    ).toBeGreaterThan(ALPHA);
  });

  it("can be any of all 2³²", () => {
    const { data } = integers(key(3), 16_000, -(2 ** 31), 2 ** 31);
    expect(
      countsP(
        counted(data, 16, (n) => (n >> 28) + 8),
        evenly(16),
      ),
    ).toBeGreaterThan(ALPHA);
  });

  it.each([
    [3, 3],
    [0.5, 2],
    [Number.NaN, 2],
    [0, 2 ** 32],
  ])("from %d to %d are refused with both numbers", (low, high) => {
    expect(() => integers(key(1), 2, low, high)).toThrow(`integers: low ${low} and high ${high}`);
  });
});

describe("a permutation", () => {
  it("has every number once", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(200), (seed, n) => {
        expect(Array.from(permutation(key(seed), n).data.sort())).toEqual(
          Array.from({ length: n }, (_, i) => i),
        );
      }),
    );
  });

  it("refuses an invalid size", () => {
    for (const bad of [-1, 2.5, Number.NaN])
      expect(() => permutation(key(1), bad)).toThrow(
        `permutation: cannot take ${bad} of ${bad} indices`,
      );
  });

  it("is any of the 24 of four numbers equally often", () => {
    const names = new Map<string, number>();
    for (let i = 0; i < 24_000; i++) {
      const name = permutation(fold(key(5), i), 4).data.join();
      names.set(name, (names.get(name) ?? 0) + 1);
    }
    expect(names.size).toBe(24);
    expect(countsP([...names.values()], evenly(24))).toBeGreaterThan(ALPHA);
  });

  it("has a uniform position of 0 among a hundred", () => {
    const places = Array.from({ length: 20_000 }, (_, i) =>
      permutation(fold(key(6), i), 100).data.indexOf(0),
    );
    expect(countsP(counted(places, 100), evenly(100))).toBeGreaterThan(ALPHA);
  });
});

describe("from keys, one per row", () => {
  const parent = key("rows");
  it.each<[string, (source: Key | Keys) => IntArray]>([
    ["permutation", (source) => permutation(source, 5)],
    ["choice", (source) => choice(source, 5, 3)],
    ["choice without replacement", (source) => choice(source, 5, 3, { replace: false })],
    ["choice with weights", (source) => choice(source, 3, 7, { weights: [1, 2, 3] })],
    [
      "choice with weights, without replacement",
      (source) => choice(source, 3, 2, { weights: [1, 2, 3], replace: false }),
    ],
  ])("%s equals in each row that of its key", (_, draw) => {
    const alone = [0, 1, 2].map((i) => draw(fold(parent, i)));
    const { shape, data } = draw(sampleKeys(parent, 3));
    expect(shape).toEqual([3, ...alone[0].shape]);
    expect([...data]).toEqual(alone.flatMap((row) => [...row.data]));
  });
});

describe("a choice", () => {
  const weights = [1, 0, 5, 4];

  it("without weights has repetitions, or is the beginning of a permutation", () => {
    expect(countsP(counted(choice(key(1), 10, 20_000).data, 10), evenly(10))).toBeGreaterThan(
      ALPHA,
    );
    const dealt = choice(key(1), 50, 7, { replace: false }).data;
    expect(dealt).toEqual(permutation(key(1), 50).data.slice(0, 7));
  });

  it("with weights takes each index in proportion to its weight, and never one of weight 0", () => {
    const { data } = choice(key(2), 4, 50_000, { weights });
    const [a, b, c, d] = counted(data, 4);
    expect(b).toBe(0);
    expect(countsP([a, c, d], [0.1, 0.5, 0.4])).toBeGreaterThan(ALPHA);
  });

  it("with weights and without replacement is an urn: P(i, then j) = wᵢ wⱼ / (1 − wᵢ)", () => {
    const w = [0.1, 0.5, 0.4];
    const pairs = [0, 1, 2].flatMap((i) => [0, 1, 2].filter((j) => j !== i).map((j) => [i, j]));
    const chosen = Array.from({ length: 20_000 }, (_, n) =>
      choice(fold(key(3), n), 3, 2, { replace: false, weights: w }),
    );
    const counts = pairs.map(
      ([i, j]) => chosen.filter(({ data }) => data[0] === i && data[1] === j).length,
    );
    expect(
      countsP(
        counts,
        pairs.map(([i, j]) => (w[i] * w[j]) / (1 - w[i])),
      ),
    ).toBeGreaterThan(ALPHA);
  });

  it("takes the only index with a weight, however small that is", () => {
    for (const replace of [true, false])
      for (let i = 0; i < 100; i++)
        expect(choice(fold(key(4), i), 3, 1, { weights: [0, 5e-324, 0], replace }).data[0]).toBe(1);
  });

  it("of none from none is empty", () => {
    expect(choice(key(1), 0, 0)).toMatchObject({ shape: [0], dtype: "int32" });
  });

  it("that is impossible is refused with reason, place and remedy", () => {
    const remedy = "Give one finite weight of at least 0 per index, and at least one above 0.";
    const failing = (n: number, count: number, options: Parameters<typeof choice>[3]) => () =>
      choice(key(1), n, count, options);
    expect(failing(2, 1, { weights: [0, 0] })).toThrow(`choice: the weights sum to 0. ${remedy}`);
    expect(failing(3, 1, { weights: [1, 2, -1] })).toThrow(`choice: weights[2] is -1. ${remedy}`);
    expect(failing(2, 1, { weights: [1, Number.NaN] })).toThrow("choice: weights[1] is NaN");
    expect(failing(3, 1, { weights: [1, 2] })).toThrow("choice: 2 weights are given for 3 indices");
    expect(failing(4, 4, { weights, replace: false })).toThrow(
      "4 indices are requested without replacement, but 3 weights",
    );
    expect(failing(3, 4, { replace: false })).toThrow(
      "choice: cannot take 4 of 3 indices without replacement",
    );
    expect(failing(0, 1, {})).toThrow("choice: cannot choose 1 of 0 indices");
  });
});
