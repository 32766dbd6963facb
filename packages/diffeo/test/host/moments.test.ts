import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mean, sumOfSquares, transposed } from "../../src/host/index.ts";

const numbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 40 });

describe("moments", () => {
  it("of numbers shifted by c: the mean shifts by c, the sum of squares stays", () => {
    expect([mean([1, 2, 6]), sumOfSquares([1, 2, 6])]).toEqual([3, 14]);
    expect(mean([])).toBeNaN();
    fc.assert(
      fc.property(numbers, fc.integer({ min: -1000, max: 1000 }), (values, c) => {
        const shifted = values.map((v) => v + c);
        expect(mean(shifted)).toBeCloseTo(mean(values) + c, 9);
        // Σ (x − x̄)² = Σ x² − n x̄²
        const squares = values.reduce((total, v) => total + v * v, 0);
        const centred = squares - values.length * mean(values) ** 2;
        expect(Math.abs(sumOfSquares(values) - centred)).toBeLessThan(1e-9 * (1 + squares));
        expect(Math.abs(sumOfSquares(shifted) - centred)).toBeLessThan(1e-8 * (1 + squares));
      }),
    );
  });
});

describe("a transpose", () => {
  it("has entry (i, j) at (j, i), and undoes itself", () => {
    expect([...transposed([1, 2, 3, 4, 5, 6], 2, 3)]).toEqual([1, 4, 2, 5, 3, 6]);
    const matrix = Float64Array.from({ length: 35 }, (_, i) => Math.sin(i));
    expect(transposed(transposed(matrix, 5, 7), 7, 5)).toEqual(matrix);
  });
});
