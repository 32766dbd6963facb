/** Cells guessed from the nearest sample: by hand, of honest samples, and of copies. */
import { category, product, real } from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { attributesOf } from "../../src/measure/attributes.ts";
import { featuresOf } from "../../src/measure/features.ts";
import type { Cells } from "../../src/measure/table-distribution.ts";

describe("cells guessed from the nearest sample", () => {
  it("are the cells of the sample nearest in the other columns", () => {
    const domain = product({ a: real(), b: real(), c: category(["n", "s"]) });
    const samples: Cells[] = [
      [0, 0, "n"],
      [10, 10, "s"],
    ];
    // By a and b the first row is near the first sample and the second near the second; by b and
    // the label the first row is as well, so that a is guessed as 0.
    const training: Cells[] = [
      [1, 1, "n"],
      [9, 9, "s"],
    ];
    const fresh: Cells[] = [
      [1, 1, "s"],
      [9, 9, "n"],
    ];
    const found = attributesOf(
      domain,
      samples,
      fresh,
      training,
      featuresOf(domain, [...training, ...samples]),
    );
    const label = found?.columns.find(({ columns }) => columns[0] === "c");
    expect(label).toEqual({ columns: ["c"], training: 1, fresh: 0 });
    // One of two training rows lies between 0 and 1.5, which is more than a twentieth.
    expect(found?.columns.find(({ columns }) => columns[0] === "a")?.training).toBe(0.5);
    expect(found?.advantage.mean).toBeCloseTo((found?.training ?? 0) - (found?.fresh ?? 0), 12);
  });

  const domain = product({ a: real(), b: real(), c: real() });
  const rows = (count: number, seed: number): Cells[] => {
    const z = normal(key(seed), [count, 3], { dtype: "float64" }).data;
    return Array.from({ length: count }, (_, i) => {
      const [a, b, c] = z.subarray(3 * i, 3 * i + 3);
      return [a, 0.8 * a + 0.6 * b, c];
    });
  };
  const training = rows(500, 1);
  const features = featuresOf(domain, training);

  it("reveal nothing about training rows if samples are independent of them", () => {
    const found = attributesOf(domain, rows(800, 2), rows(500, 3), training, features);
    const { mean, error } = found?.advantage ?? { mean: 1, error: 0 };
    expect(Math.abs(mean)).toBeLessThan(4 * error);
    // Of an independent column a guess is right about as often as two ranks are within 1/20.
    const c = found?.columns.find(({ columns }) => columns[0] === "c");
    expect(Math.abs((c?.fresh ?? 0) - (1 - 0.95 ** 2))).toBeLessThan(0.05);
  });

  it("reveal training rows if samples are copies", () => {
    const copies = training.map(([a, b, c]): Cells => [a, Number(b) + 1e-3, c]);
    const found = attributesOf(domain, copies, rows(500, 3), training, features);
    expect(found?.training).toBeGreaterThan(0.95);
    expect(found?.advantage.mean).toBeGreaterThan(0.5);
  });

  it("are undefined for a table of one column", () => {
    const one = product({ a: real() });
    expect(attributesOf(one, [[1]], [[1]], [[1]], featuresOf(one, [[1], [2]]))).toBeUndefined();
  });
});
