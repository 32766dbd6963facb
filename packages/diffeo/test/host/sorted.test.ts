/** Radix sort compared with a comparison sort. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { sortedWithOrder } from "../../src/host/index.ts";

it("sorts numbers of every size stably", () => {
  const odd = [
    0,
    -1,
    1,
    Number.MIN_VALUE,
    -Number.MIN_VALUE,
    Number.MAX_VALUE,
    -Infinity,
    Infinity,
    2 ** -1022,
    1e-300,
  ];
  const number = fc.oneof(
    fc.double({ noNaN: true }),
    fc.constantFrom(...odd),
    fc.integer({ min: -9, max: 9 }),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 300 }), (drawn) => {
      // Zeros of either sign are equal to a sort that compares, and not to one of digits.
      const x = Float64Array.from(drawn, (v) => v + 0);
      const { sorted, order } = sortedWithOrder(x);
      const wanted = Array.from(x.keys()).sort((i, j) =>
        x[i] < x[j] ? -1 : x[i] > x[j] ? 1 : i - j,
      );
      expect([...order]).toEqual(wanted);
      expect([...sorted]).toEqual(wanted.map((i) => x[i]));
    }),
  );
  expect([...sortedWithOrder(Float64Array.of(0, -0)).sorted]).toEqual([-0, 0]);
});
