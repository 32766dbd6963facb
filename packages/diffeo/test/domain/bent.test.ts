import {
  type Bend,
  bent,
  category,
  type Domain,
  domainOf,
  positive,
  real,
  simplex,
} from "diffeo/domain";
import { input, reference, type Tensor } from "diffeo/graph";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";

const sinh = (n: number): Bend => ({
  kind: "sinh",
  centre: Array.from({ length: n }, (_, i) => 0.3 - i),
  scale: Array.from({ length: n }, (_, i) => 0.5 + 0.2 * i),
});
const spline = (n: number): Bend => ({
  kind: "spline",
  low: Array.from({ length: n }, (_, i) => -2 - i),
  high: Array.from({ length: n }, (_, i) => 3 + i),
  heights: Array.from({ length: n }, () => [0.1, 0.45, 0.05, 0.4]),
  slopes: Array.from({ length: n }, () => [0.7, 0.3, 1.4]),
});

const evaluated = (x: Float64Array, n: number, f: (t: Tensor) => Tensor): Float64Array => {
  const t = input("x", [x.length / n, n], "float64");
  return reference([f(t)], new Map([[t, x]]))[0];
};

const cases: [string, Domain][] = [
  ["a number by sinh", bent(real(), sinh(1))],
  ["a positive number by a spline", bent(positive({ above: 1 }), spline(1))],
  ["parts by sinh", bent(simplex(3), sinh(2))],
  ["parts by a spline", bent(simplex(3), spline(2))],
];

describe.each(cases)("%s", (_, domain) => {
  const n = domain.dimension;
  // Far beyond the bounds of a spline too.
  const x = normal(key("bent"), [60, n], { dtype: "float64" }).data.map((v) => 1.2 * v);
  const y = evaluated(x, n, domain.map.forward);

  it("has an inverse", () => {
    evaluated(y, domain.size, domain.map.inverse).forEach((v, i) => {
      expect(v).toBeCloseTo(x[i], 7);
    });
  });

  it("has the right volume", () => {
    const h = 1e-6;
    const volume = evaluated(x, n, (p) => domain.map.logDet(p));
    const moved = (j: number, by: number): Float64Array =>
      evaluated(
        x.map((v, i) => (i % n === j ? v + by : v)),
        n,
        domain.map.forward,
      );
    const columns = Array.from({ length: n }, (_, j) => {
      const [a, b] = [moved(j, -h), moved(j, h)];
      return a.map((v, i) => (b[i] - v) / (2 * h));
    });
    for (let row = 0; row < 60; row++) {
      const at = (j: number, i: number): number => columns[j][n * row + i];
      const det = n === 1 ? at(0, 0) : at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
      expect(Math.log(Math.abs(det)) - volume[row]).toBeCloseTo(0, 4);
    }
  });

  it("is the same domain when read from JSON", () => {
    const again = domainOf(JSON.parse(JSON.stringify(domain.spec)));
    expect(again.kind).toBe(domain.kind);
    expect(evaluated(x, n, again.map.forward)).toEqual(y);
    expect(again.start).toEqual(domain.start);
  });
});

describe("a bend", () => {
  it("of sinh is linear in the middle and logarithmic far out", () => {
    const { map } = bent(real(), { kind: "sinh", centre: [10], scale: [4] });
    const x = evaluated(Float64Array.of(10, 10.004, 10 + 4e6), 1, map.inverse);
    expect(x[0]).toBe(0);
    expect(x[1]).toBeCloseTo(0.001, 8);
    expect(x[2]).toBeCloseTo(Math.log(2e6), 8);
  });

  it("passes through the heights of its bins, and continues with its mean slope", () => {
    const { map } = bent(real(), spline(1));
    const y = evaluated(Float64Array.of(-3, -1.5, 0, 1.5, 3, 4.5), 1, map.forward);
    [-2, -1.5, 0.75, 1, 3, 3 + (1.5 * 5) / 6].forEach((v, i) => {
      expect(y[i]).toBeCloseTo(v, 9);
    });
  });

  it("has the given slopes at the ends of its bins, in units of the mean slope", () => {
    const { map } = bent(real(), spline(1));
    const slopes = evaluated(Float64Array.of(-1.5, 0, 1.5), 1, (x) => map.logDet(x)).map(Math.exp);
    [0.7, 0.3, 1.4].forEach((slope, i) => {
      expect(slopes[i]).toBeCloseTo((slope * 5) / 6, 12);
    });
  });

  it("refuses parameters that do not fit", () => {
    expect(() => bent(simplex(4), sinh(2))).toThrow("2 numbers for 3 coordinates");
    expect(() => bent(category(["a", "b"]), sinh(1))).toThrow(
      "a domain of kind category cannot be bent",
    );
    expect(() => bent(bent(real(), sinh(1)), sinh(1))).toThrow(
      "a domain of kind bent cannot be bent",
    );
    expect(() => bent(real(), { ...spline(1), slopes: [[1]] } as Bend)).toThrow("do not match");
    expect(() =>
      domainOf({
        kind: "bent",
        domain: { kind: "real" },
        bend: { kind: "sinh", centre: [0], scale: [0] },
      }),
    ).toThrow("is not a domain");
  });
});
