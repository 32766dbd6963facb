import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { logValue, normalQuantileValue } from "../../src/graph/normal.ts";
import { unit } from "../../src/random/unit.ts";
import { normalCdf } from "./statistics.ts";

const word = fc.integer({ min: 0, max: 0xffffffff });
const grid = fc.tuple(word, word).map(([high, low]) => unit(high, low));
/** Numbers whose logarithm is uniform: tails as often as centres. */
const anyScale = fc.tuple(grid, fc.integer({ min: 0, max: 45 })).map(([u, e]) => u / 2 ** e);

describe("the uniform of two words", () => {
  it("is an odd multiple of 2⁻⁵³ strictly between 0 and 1", () => {
    expect(unit(0, 0)).toBe(2 ** -53);
    expect(unit(0xffffffff, 0xffffffff)).toBe(1 - 2 ** -53);
    fc.assert(fc.property(grid, (u) => (u * 2 ** 53) % 2 === 1));
  });

  it("is reflected about ½ if every bit is flipped", () => {
    fc.assert(fc.property(word, word, (high, low) => unit(~high, ~low) === 1 - unit(high, low)));
  });
});

describe("the logarithm", () => {
  it("agrees with Math.log to 10⁻¹⁵ of its size", () => {
    const agrees = (x: number): boolean =>
      Math.abs(logValue(x) - Math.log(x)) <= 1e-15 * -Math.log(x);
    fc.assert(fc.property(fc.oneof(grid, anyScale), agrees), { numRuns: 10_000 });
    for (const x of [5e-324, 1e-300, 2 ** -31, 2 ** -32, Math.SQRT1_2, 0.5, 1 - 2 ** -53])
      expect(agrees(x)).toBe(true);
  });

  it("is exact at 1, and accurate just below", () => {
    expect(logValue(1)).toBe(0);
    expect(logValue(1 - 2 ** -52)).toBe(-(2 ** -52) * (1 + 2 ** -52));
  });
});

describe("the normal quantile", () => {
  // By mpmath 1.3, as the root of ln(erfc(−z/√2)/2) = ln p.
  it.each([
    [1 / 4, -0.6744897501960817],
    [2 ** -4, -1.5341205443525463],
    [2 ** -5, -1.8627318674216515],
    [2 ** -10, -3.0972690781987846],
    [2 ** -20, -4.7630010342678135],
    [2 ** -30, -6.009353565530744],
    [2 ** -36, -6.651035379893011],
    [2 ** -37, -6.752300431407015],
    [2 ** -45, -7.515155294158908],
    [2 ** -53, -8.209536151601387],
  ])("of %d is %d to a part in 10¹⁵", (p, z) => {
    expect(Math.abs(normalQuantileValue(p) / z - 1)).toBeLessThan(1e-15);
  });

  it("inverts Φ", () => {
    fc.assert(
      fc.property(anyScale, (p) => Math.abs(normalCdf(normalQuantileValue(p)) / p - 1) < 1e-13),
      { numRuns: 5000 },
    );
  });

  it("is exactly odd about the median", () => {
    fc.assert(
      fc.property(grid, (p) => normalQuantileValue(1 - p) === -normalQuantileValue(p)),
      { numRuns: 5000 },
    );
    expect(normalQuantileValue(0.5)).toBe(0);
  });

  it("is monotone, also between its approximations", () => {
    for (const seam of [0.075, Math.exp(-25), 0.925, 0.5])
      for (let i = -200; i < 200; i++) {
        const p = seam * (1 + i * 2 ** -45);
        expect(normalQuantileValue(p)).toBeLessThanOrEqual(
          normalQuantileValue(seam * (1 + (i + 1) * 2 ** -45)),
        );
      }
  });
});
