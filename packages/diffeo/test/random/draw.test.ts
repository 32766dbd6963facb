import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { NdArray } from "../../src/graph/ndarray.ts";
import {
  bits,
  fold,
  integers,
  type Key,
  type Keys,
  key,
  normal,
  rademacher,
  sampleKeys,
  uniform,
} from "../../src/random/index.ts";

type Draw = (
  source: Key | Keys,
  shape: number | readonly number[],
) => Pick<NdArray, "shape"> & { data: ArrayLike<number> };
const DRAWS: readonly (readonly [string, Draw])[] = [
  ["bits", bits],
  ["uniform", uniform],
  [
    "uniform in float64",
    (source, shape) => uniform(source, shape, { low: -3, high: 5, dtype: "float64" }),
  ],
  ["normal", normal],
  ["normal in float64", (source, shape) => normal(source, shape, { dtype: "float64" })],
  ["rademacher", rademacher],
  ["integers", (source, shape) => integers(source, shape, -2, 3 * 2 ** 29)],
];

const smallShape = fc.array(fc.nat(5), { maxLength: 3 });
const size = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1);

describe.each(DRAWS)("%s", (_, draw) => {
  it("has the given shape; [] is one number", () => {
    expect(draw(key(1), 7).shape).toEqual([7]);
    expect(draw(key(1), [2, 3, 4])).toMatchObject({ shape: [2, 3, 4], data: { length: 24 } });
    expect(draw(key(1), [])).toMatchObject({ shape: [], data: { length: 1 } });
    expect(draw(key(1), [3, 0])).toMatchObject({ shape: [3, 0], data: { length: 0 } });
    expect(draw(sampleKeys(key(1), 6), [2, 3])).toMatchObject({
      shape: [6, 2, 3],
      data: { length: 36 },
    });
    expect(draw(sampleKeys(key(1), 0), [2]).shape).toEqual([0, 2]);
  });

  it("gives sample i the same numbers in a batch of any size", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        smallShape,
        fc.nat(20),
        fc.nat(20),
        fc.nat(9),
        (seed, shape, i, more, step) => {
          const row = draw(fold(fold(key(seed), i), step), shape).data;
          const whole = draw(fold(sampleKeys(key(seed), i + 1 + more), step), shape).data;
          const alone = draw(fold(sampleKeys(key(seed), 1, i), step), shape).data;
          expect(Array.from(whole).slice(i * size(shape), (i + 1) * size(shape))).toEqual(
            Array.from(row),
          );
          expect(alone).toEqual(row);
        },
      ),
    );
  });

  it("is the beginning of a longer draw, also across internal chunks", () => {
    const long = Array.from(draw(key(4), 70_000).data);
    for (const n of [1, 2, 3, 5, 127, 129, 1023, 1024, 1025, 2047, 4097, 65_537])
      expect(Array.from(draw(key(4), n).data)).toEqual(long.slice(0, n));
  });

  it("does not depend on the shape of the same elements", () => {
    expect(draw(key(4), [6, 4]).data).toEqual(draw(key(4), 24).data);
  });

  it("refuses an invalid shape with the shape and the remedy", () => {
    expect(() => draw(key(1), [2, -1])).toThrow(
      "the shape [2, -1] is not a list of natural numbers. Use a length such as 8",
    );
    for (const bad of [-1, 1.5, Number.NaN])
      expect(() => draw(key(1), bad)).toThrow(`the shape [${bad}]`);
  });
});

describe("the two types", () => {
  it("agree: a float32 is the float64 of the same key, rounded", () => {
    for (const draw of [normal, rademacher] as const)
      expect(draw(key(2), 20_000).data).toEqual(
        Float32Array.from(draw(key(2), 20_000, { dtype: "float64" }).data),
      );
    const options = { low: -1, high: 3 };
    const wide = uniform(key(2), 20_000, { ...options, dtype: "float64" }).data;
    expect(uniform(key(2), 20_000, options).data).toEqual(Float32Array.from(wide));
  });

  it("are known to the compiler", () => {
    expectTypeOf(normal(key(1), 3).data).toEqualTypeOf<Float32Array>();
    expectTypeOf(normal(key(1), 3, { dtype: "float64" }).data).toEqualTypeOf<Float64Array>();
    expectTypeOf(normal(key(1), 3)).toExtend<NdArray>();
  });

  it("are the only types", () => {
    expect(() => normal(key(1), 3, { dtype: "int32" as "float32" })).toThrow(
      'normal: unknown type "int32"',
    );
  });
});

describe("a uniform number", () => {
  it("is strictly inside its interval, also if that contains few numbers", () => {
    const inside = 1 + 2 ** -23;
    const { data } = uniform(key(1), 1000, { low: 1, high: 1 + 2 ** -22 });
    expect(new Set(data)).toEqual(new Set([inside]));
    const wide = uniform(key(1), 1000, { low: -1, high: -1 + 2 ** -52, dtype: "float64" });
    expect(new Set(wide.data)).toEqual(new Set([-1 + 2 ** -53]));
    const tiny = uniform(key(1), 1000, { low: 0, high: 2e-45 });
    expect(new Set(tiny.data)).toEqual(new Set([Math.fround(1.4e-45)]));
  });

  it("never becomes 1 by rounding to float32", () => {
    // The first seed whose first number is that close to 1.
    const near = key(23_450_275);
    expect(Math.fround(uniform(near, [], { dtype: "float64" }).data[0])).toBe(1);
    expect(uniform(near, []).data[0]).toBe(1 - 2 ** -24);
  });

  it.each([
    [1, 1],
    [2, 1],
    [Number.NaN, 1],
    [0, Infinity],
    [-1.7e308, 1.7e308],
    [1, 1 + 2 ** -30],
  ])("between %d and %d is refused with both ends", (low, high) => {
    expect(() => uniform(key(1), 3, { low, high })).toThrow(
      `uniform: low ${low} and high ${high} are not the ends`,
    );
  });
});

it("a sign is one bit: 32 of them a word, from its lowest", () => {
  const [words, signs] = [bits(key(3), 6).data, rademacher(key(3), 180).data];
  signs.forEach((sign, j) => {
    expect(sign).toBe(((words[j >>> 5] >>> (j & 31)) & 1) * 2 - 1);
  });
});

describe("the stream", () => {
  const sha256 = (data: Float64Array): string =>
    createHash("sha256")
      .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
      .digest("hex");

  // A change of these hashes is a change of every result that names a seed: say so in the
  // CHANGELOG.
  it("is the one of all committed results", () => {
    expect(sha256(normal(key(0), 4096, { dtype: "float64" }).data)).toMatchInlineSnapshot(
      `"9051448441ee9ccd937195d19f572a10d579a8fc3b369823b789b5c1a9b1cd54"`,
    );
    const rows = normal(fold(sampleKeys(key("diffeo"), 64), 3), [64], { dtype: "float64" });
    expect(sha256(rows.data)).toMatchInlineSnapshot(
      `"e2cbe3e7315859a7e1a0febcd620599e56c910c9d570c28a47c2c64b4c15815b"`,
    );
    expect(sha256(uniform(key(0), 4096, { dtype: "float64" }).data)).toMatchInlineSnapshot(
      `"e9fc21cf15ff48867f629d9767ec45082a5148b299efbead99f021c64c17568c"`,
    );
  });
});
