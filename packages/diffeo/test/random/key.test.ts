import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bits, fold, type Key, key, sampleKeys, split } from "../../src/random/index.ts";

const seed = fc.oneof(fc.maxSafeNat(), fc.bigInt(0n, (1n << 64n) - 1n), fc.string());
const name = ({ words }: Key): string => words.join();

describe("a key", () => {
  it("keeps all 64 bits of a seed", () => {
    expect(key(5)).toEqual(key(5n));
    expect(key(2 ** 53 - 1)).toEqual(key(2n ** 53n - 1n));
    const seeds = [0n, 1n, 1n << 31n, 1n << 32n, 1n << 63n, (1n << 64n) - 1n];
    expect(new Set(seeds.map((s) => name(key(s)))).size).toBe(seeds.length);
  });

  it("survives JSON, so that a run can store it", () => {
    fc.assert(fc.property(seed, (s) => name(JSON.parse(JSON.stringify(key(s)))) === name(key(s))));
  });

  it("distinguishes similar strings", () => {
    const texts = [
      "",
      "\0",
      "\0\0",
      "a",
      "a\0",
      "ab",
      "ba",
      "a".repeat(8),
      "a".repeat(9),
      "a".repeat(16),
      "é",
      "e\u0301",
    ];
    expect(new Set(texts.map((text) => name(key(text)))).size).toBe(texts.length);
    expect(key("0")).not.toEqual(key(0));
  });

  it("has the same words on every machine", () => {
    expect(key("diffeo").words).toMatchInlineSnapshot(`
      [
        2381146948,
        1214607950,
        2628025715,
        3134265665,
      ]
    `);
    expect(fold(key(0), 1).words).toMatchInlineSnapshot(`
      [
        4250384534,
        3468657224,
        236873737,
        2350742546,
      ]
    `);
    expect(split(key(0), 2)[1].words).toMatchInlineSnapshot(`
      [
        3386895725,
        3761587855,
        335776165,
        1567316190,
      ]
    `);
  });

  it("folds in a number as large as 2⁵³ − 1", () => {
    const indices = [0, 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1];
    expect(new Set(indices.map((i) => name(fold(key(1), i)))).size).toBe(indices.length);
  });

  it("gives split, fold and draws different words", () => {
    const parent = key(3);
    const drawn = bits(parent, [50, 4]).data;
    const rows = Array.from({ length: 50 }, (_, i) => drawn.slice(4 * i, 4 * i + 4).join());
    const folded = Array.from({ length: 50 }, (_, i) => name(fold(parent, i)));
    const named = Array.from({ length: 50 }, (_, i) => name(fold(parent, String(i))));
    const all = [...rows, ...folded, ...named, ...split(parent, 50).map(name)];
    expect(new Set(all).size).toBe(200);
  });

  it("splits into children that do not depend on their number", () => {
    expect(split(key(1), 9).slice(0, 4)).toEqual(split(key(1), 4));
  });

  it("depends on the order of folded values", () => {
    expect(fold(fold(key(1), 2), 3)).not.toEqual(fold(fold(key(1), 3), 2));
  });
});

describe("sample keys", () => {
  const wordsAt = (words: Uint32Array, i: number): number[] =>
    Array.from(words.subarray(4 * i, 4 * i + 4));

  it("are the parent folded with each sample's index", () => {
    const first = 2 ** 32 - 2;
    const keys = sampleKeys(key(8), 4, first);
    for (let i = 0; i < 4; i++)
      expect(wordsAt(keys.words, i)).toEqual(fold(key(8), first + i).words);
  });

  it("fold one by one, with numbers and with strings", () => {
    const keys = sampleKeys(key(8), 5);
    for (const data of [0, 12345, "", "noise at this step"])
      for (let i = 0; i < 5; i++)
        expect(wordsAt(fold(keys, data).words, i)).toEqual(fold(fold(key(8), i), data).words);
  });

  it("are not changed by fold", () => {
    const keys = sampleKeys(key(8), 5);
    fold(keys, 1);
    expect(keys).toEqual(sampleKeys(key(8), 5));
  });
});

describe("an invalid seed or index", () => {
  it.each([Number.NaN, -1, 0.5, Infinity, 2 ** 53, -1n, 1n << 64n])(
    "%s is named, with what to use instead",
    (bad) => {
      expect(() => key(bad)).toThrow(`the seed ${String(bad)}`);
      expect(() => key(bad)).toThrow("Use an integer such as 42");
    },
  );

  it("is named by fold, split and sampleKeys", () => {
    expect(() => fold(key(0), -1)).toThrow(
      "fold: -1 is not a natural number below 2⁵³. Use 0, 1, 2, … or a string.",
    );
    expect(() => split(key(0), 1.5)).toThrow("split: the count 1.5 is not a natural number");
    expect(() => sampleKeys(key(0), -3)).toThrow("sampleKeys: samples 0 to 0 + -3");
  });

  it("instead of a key is refused with how to make a key", () => {
    expect(() => bits(42 as unknown as Key, 3)).toThrow(
      "bits: 42 is not a key. Make a key with key(seed).",
    );
  });
});
