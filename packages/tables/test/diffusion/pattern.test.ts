import { category, ordered, product, real } from "diffeo/domain";
import { input, reference } from "diffeo/graph";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import {
  addProduct,
  DRAWN,
  GIVEN,
  HIDDEN,
  patternsOf,
} from "../../src/diffusion/encode/pattern.ts";
import { standardOf } from "../../src/diffusion/encode/standard.ts";
import { headOf } from "../../src/diffusion/network/head.ts";

const domain = product({
  a: real(),
  pair: ordered(["b", "c"]),
  k: category(["x", "y", "z"]),
  d: real(),
});
const n = domain.dimension;

/** Points of columns that depend on each other, 6 numbers each. */
const z = normal(key(1), [500, n], { dtype: "float64" }).data.map(
  (v, i, all) => v + 0.8 * all[i - (i % n)] + (i % n),
);
const standard = standardOf(z, n, String, [[3, 5]]);

const times = (v: ArrayLike<number>, a: Float64Array, on?: readonly boolean[]): Float64Array => {
  const out = new Float64Array(n);
  addProduct(out, 0, v, 0, a, n, on && { on });
  return out;
};
const close = (a: Float64Array, b: ArrayLike<number>): void =>
  a.forEach((v, i) => {
    expect(v).toBeCloseTo(b[i], 9);
  });

describe("a pattern", () => {
  const x = normal(key(2), n, { dtype: "float64" }).data;
  const centred = times(x, Float64Array.from(standard.matrix));
  const patternOf = patternsOf(domain, standard);

  it("knows of x what the given parts of z say, and leaves the rest free", () => {
    const { given, free, isGiven, flags } = patternOf([DRAWN, GIVEN, DRAWN, GIVEN]);
    expect(flags).toEqual([0, 1, 0, 1, 0, 0, 0, 0]);
    expect(isGiven).toEqual([false, true, true, false, false, true]);
    const known = times(centred, given, isGiven);
    const rest = times(x, free);
    close(
      known.map((v, i) => v + rest[i]),
      x,
    );
    close(times(rest, free), rest);
    expect(known.reduce((s, v, i) => s + v * rest[i], 0)).toBeCloseTo(0, 9);
    // What is free does not move what is given.
    const moved = times(
      times(normal(key(3), n, { dtype: "float64" }).data, free),
      Float64Array.from(standard.matrix),
    );
    for (const i of [1, 2, 5]) expect(moved[i]).toBeCloseTo(0, 9);
    expect(Math.abs(moved[0])).toBeGreaterThan(1e-3);
  });

  it("says nothing of hidden parts", () => {
    const { known, free, isKnown } = patternOf([HIDDEN, DRAWN, HIDDEN, GIVEN]);
    const other = centred.slice();
    other[0] += 5;
    close(times(other, known, isKnown), times(centred, known, isKnown));
    const rank = Array.from({ length: n }, (_, i) => free[i * (n + 1)]).reduce((s, v) => s + v, 0);
    expect(rank).toBeCloseTo(2, 9);
    close(times(times(x, free), free), times(x, free));
  });

  it("leaves categories to themselves", () => {
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++)
        if ((i === 3 || i === 4) !== (j === 3 || j === 4))
          expect(standard.matrix[i * n + j]).toBeCloseTo(0, 12);
  });
});

describe("a head", () => {
  it("is Bayes' rule for a class whose chances the network knows", () => {
    const { outputs, blocks, velocity } = headOf({ domain, standard });
    expect(outputs).toBe(n + 3);
    const [{ from, to, codes }] = blocks;
    expect([from, to, codes.shape]).toEqual([3, 5, [3, 2]]);
    const chances = [0.2, 0.5, 0.3];
    const x = [0.3, -0.2, 0.1, 0.4, -0.7, 1.1];
    const free = [1, 2, 3, 0, 0, 4];
    for (const level of [-3, 0, 1.5, 8]) {
      const [out, point, lambda] = [
        input("out", [1, outputs], "float64"),
        input("x", [1, n], "float64"),
        input("lambda", [], "float64"),
      ];
      const values = new Map([
        [out, Float64Array.from([...free, ...chances.map(Math.log)])],
        [point, Float64Array.from(x)],
        [lambda, Float64Array.of(level)],
      ]);
      const [found] = reference([velocity(out, point, lambda)], values);
      const [m, sigma] = [1 / Math.sqrt(1 + Math.exp(-level)), 1 / Math.sqrt(1 + Math.exp(level))];
      const distance = (k: number): number =>
        [0, 1].reduce((s, i) => s + (x[from + i] - m * Number(codes.data[2 * k + i])) ** 2, 0);
      const least = Math.min(...[0, 1, 2].map(distance));
      const weights = chances.map(
        (p, k) => p * Math.exp(-(distance(k) - least) / (2 * sigma ** 2)),
      );
      const total = weights.reduce((s, w) => s + w, 0);
      for (const i of [0, 1]) {
        const mean = weights.reduce(
          (s, w, k) => s + (w / total) * Number(codes.data[2 * k + i]),
          0,
        );
        expect(found[from + i]).toBeCloseTo((m * x[from + i] - mean) / sigma, 8);
      }
      for (const i of [0, 1, 2, 5]) expect(found[i]).toBe(free[i]);
    }
  });
});
