import { angle, category, integer, ordered, product, real, simplex } from "diffeo/domain";
import { describe, expect, it } from "vitest";
import { pointOf } from "../../src/diffusion/query/point.ts";

describe("a point", () => {
  const domain = product({
    a: real(),
    n: integer(),
    k: category(["x", "y", "z"]),
    pair: ordered(["low", "high"]),
    whole: simplex(["p", "q", "r"]),
    wind: angle({ period: 360 }),
  });
  const draws = [
    [5, 3, "y", 0, 9, 0.2, 0.3, 0.5, 359],
    [1, 3, "x", 1, 2, 0.1, 0.3, 0.6, 2],
    [2, 4, "y", 1, 3, 0.3, 0.3, 0.4, 1],
    [9, 1, "z", 1, 2.5, 0.2, 0.3, 0.5, 180],
    [3, 4, "y", 1.5, 8, 0.9, 0.05, 0.05, 4],
  ];

  it("is the median of numbers and the mode of labels", () => {
    expect(pointOf(domain.parts, draws).slice(0, 3)).toEqual([3, 3, "y"]);
  });

  it("is one of the draws if cells belong together or have no order", () => {
    const point = pointOf(domain.parts, draws);
    expect(point.slice(3, 5)).toEqual([1, 3]);
    expect(point.slice(5, 8)).toEqual([0.2, 0.3, 0.5]);
    // The mean of these angles is 109.
    expect([1, 2]).toContain(point[8]);
  });

  it("keeps given cells", () => {
    const given = draws.map((row) => row.with(0, 7.25).with(2, "z"));
    expect([0, 2].map((i) => pointOf(domain.parts, given)[i])).toEqual([7.25, "z"]);
  });
});
