import { category, ordered, product, real } from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { clusteredStandard } from "../../src/diffusion/encode/clusters.ts";
import { patternsOf } from "../../src/diffusion/encode/pattern.ts";

const reals = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, real()]));

describe("a wide table", () => {
  const domain = product({ ...reals(38), pair: ordered(["a", "b"]), k: category(["x", "y", "z"]) });
  const n = domain.dimension;
  // Numbers v_i and v_{i+19} are nearly equal; all others are independent.
  const z = normal(key(1), [600, n], { dtype: "float64" }).data.map((v, at, all) => {
    const i = at % n;
    return i >= 19 && i < 38 ? all[at - 19] + 0.2 * v : v;
  });
  const codes = [[n - 2, n]] as const;

  it("is whitened in clusters of dependent columns", () => {
    const standard = clusteredStandard(z, domain, String, codes);
    if (!standard) throw new Error("there are more coordinates than are whitened together");
    const { blocks } = patternsOf(domain, standard);
    expect(Math.max(...blocks.map(({ coordinates }) => coordinates.length))).toBeLessThan(25);
    for (let i = 0; i < 19; i++) {
      const own = blocks.find(({ coordinates }) => coordinates.includes(i));
      expect(own?.coordinates).toContain(i + 19);
    }
    expect(blocks.some(({ coordinates }) => coordinates.join() === `${n - 2},${n - 1}`)).toBe(true);
    expect(blocks.find(({ coordinates }) => coordinates.includes(38))?.coordinates).toContain(39);
    expect(blocks.flatMap(({ coordinates }) => coordinates).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: n }, (_, i) => i),
    );
  });

  it("has one cluster if there are few numbers", () => {
    const few = product(reals(20));
    const points = normal(key(2), [100, 20], { dtype: "float64" }).data;
    expect(clusteredStandard(points, few, String, [])).toBeUndefined();
  });

  it("has pieces whose size does not grow with the number of columns", () => {
    const wide = product(reals(400));
    const points = normal(key(3), [60, 400], { dtype: "float64" }).data;
    const standard = clusteredStandard(points, wide, String, []);
    if (!standard) throw new Error("there are more coordinates than are whitened together");
    const { pieces } = patternsOf(wide, standard).of(wide.parts.map((_, k) => k % 2));
    const numbers = pieces.reduce((s, { directions }) => s + directions.length, 0);
    expect(numbers).toBeLessThan(400 * 24);
  });
});
