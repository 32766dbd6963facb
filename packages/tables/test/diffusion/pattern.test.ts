import { category, ordered, product, real } from "diffeo/domain";
import { input, reference } from "diffeo/graph";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import {
  DRAWN,
  GIVEN,
  HIDDEN,
  type Pattern,
  patternsOf,
} from "../../src/diffusion/encode/pattern.ts";
import {
  addFree,
  addKnown,
  freedomOf,
  freeLayoutOf,
  logVolumeOf,
  writeBasis,
  writeFree,
} from "../../src/diffusion/encode/pattern-points.ts";
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

const partPlaces = [[0], [1, 2], [3, 4], [5]];
const columnDot = (j: number, k: number): number =>
  Array.from(
    { length: n },
    (_, i) => standard.matrix[i * n + j] * standard.matrix[i * n + k],
  ).reduce((s, value) => s + value, 0);

/** The solution of linear equations, each its coefficients and the right side, by elimination. */
function solved(system: readonly (readonly number[])[]): number[] {
  const rows = system.map((row) => [...row]);
  const size = rows.length;
  for (let k = 0; k < size; k++)
    for (let i = 0; i < size; i++) {
      if (i === k) continue;
      const weight = rows[i][k] / rows[k][k];
      rows[i] = rows[i].map((value, j) => value - weight * rows[k][j]);
    }
  return rows.map((row, k) => row[size] / row[k]);
}

/** A determinant by its first row. */
function determinant(rows: readonly (readonly number[])[]): number {
  if (rows.length === 1) return rows[0][0];
  return rows[0].reduce(
    (sum, value, j) =>
      sum + (-1) ** j * value * determinant(rows.slice(1).map((row) => row.toSpliced(j, 1))),
    0,
  );
}

const times = (v: ArrayLike<number>, a: ArrayLike<number>): Float64Array =>
  Float64Array.from({ length: n }, (_, j) =>
    Array.from(v).reduce((sum, value, i) => sum + value * a[i * n + j], 0),
  );
const close = (a: Float64Array, b: ArrayLike<number>): void =>
  a.forEach((v, i) => {
    expect(v).toBeCloseTo(b[i], 9);
  });
/** v P */
const freePart = (v: ArrayLike<number>, pattern: Pattern): Float64Array => {
  const out = new Float64Array(n);
  addFree(out, v, pattern);
  return out;
};
/** x P_S and x P of a point by z − mean. */
const knownParts = (centred: ArrayLike<number>, pattern: Pattern) => {
  const [given, drawn] = [new Float64Array(n), new Float64Array(n)];
  addKnown(pattern, centred, { given, drawn });
  return { given, drawn };
};

describe("a pattern", () => {
  const x = normal(key(2), n, { dtype: "float64" }).data;
  const centred = times(x, standard.matrix);
  const patterns = patternsOf(domain, standard);

  it("determines the part of x that the given parts of z imply, and leaves the rest free", () => {
    const pattern = patterns.of([DRAWN, GIVEN, DRAWN, GIVEN]);
    expect(pattern.flags).toEqual([0, 1, 0, 1, 0, 0, 0, 0]);
    expect(pattern.isGiven).toEqual([false, true, true, false, false, true]);
    const { given, drawn } = knownParts(centred, pattern);
    close(
      given.map((v, i) => v + drawn[i]),
      x,
    );
    close(freePart(x, pattern), drawn);
    close(freePart(drawn, pattern), drawn);
    expect(given.reduce((s, v, i) => s + v * drawn[i], 0)).toBeCloseTo(0, 9);
    // What is free does not move what is given.
    const moved = times(
      freePart(normal(key(3), n, { dtype: "float64" }).data, pattern),
      standard.matrix,
    );
    for (const i of [1, 2, 5]) expect(moved[i]).toBeCloseTo(0, 9);
    expect(Math.abs(moved[0])).toBeGreaterThan(1e-3);
  });

  it("contains nothing about hidden parts", () => {
    const pattern = patterns.of([HIDDEN, DRAWN, HIDDEN, GIVEN]);
    const other = centred.slice();
    other[0] += 5;
    other[3] = Number.NaN;
    const [a, b] = [knownParts(other, pattern), knownParts(centred, pattern)];
    close(a.given, b.given);
    close(a.drawn, b.drawn);
    expect(freedomOf(pattern)).toBe(2);
    const basis = new Float64Array(n * n);
    writeBasis(pattern, n, basis, 0);
    const rank = basis.reduce((s, v) => s + v * v, 0);
    expect(rank).toBeCloseTo(2, 9);
    for (const from of [0, n]) {
      const direction = basis.slice(from, from + n);
      close(freePart(direction, pattern), direction);
    }
    close(basis.slice(2 * n), new Float64Array(basis.length - 2 * n));
  });

  it("is the projection of linear algebra, also in the arrays of training", () => {
    const layout = freeLayoutOf(patterns.blocks, n);
    expect(layout.masked).toEqual([3, 4]);
    expect(layout.gathered).toEqual([[0, 1, 2, 5]]);
    const v = normal(key(4), n, { dtype: "float64" }).data;
    for (const states of [
      [DRAWN, DRAWN, GIVEN, HIDDEN],
      [GIVEN, DRAWN, DRAWN, GIVEN],
      [HIDDEN, GIVEN, DRAWN, DRAWN],
    ]) {
      const pattern = patterns.of(states);
      // P_O − P_S by A(AᵀA)⁻¹Aᵀ of whole columns of M.
      const projected = (least: readonly number[]): Float64Array => {
        const places = states.flatMap((state, k) => (least.includes(state) ? partPlaces[k] : []));
        const system = places.map((j) => [
          ...places.map((k) => columnDot(j, k)),
          Array.from(v).reduce((s, value, i) => s + value * standard.matrix[i * n + j], 0),
        ]);
        const weights = solved(system);
        return Float64Array.from({ length: n }, (_, i) =>
          places.reduce((s, j, k) => s + weights[k] * standard.matrix[i * n + j], 0),
        );
      };
      const [known, given] = [projected([GIVEN, DRAWN]), projected([GIVEN])];
      const free = freePart(v, pattern);
      close(
        free,
        known.map((value, i) => value - given[i]),
      );
      const [mask, q] = [new Float64Array(2), new Float64Array(16)];
      writeFree(pattern, layout, 0, mask, q);
      const along = [0, 1, 2, 3].map((k) =>
        [0, 1, 2, 5].reduce((s, coordinate, i) => s + v[coordinate] * q[i * 4 + k], 0),
      );
      const square = (values: ArrayLike<number>): number =>
        Array.from(values).reduce((s, value) => s + value * value, 0);
      expect(square(along) + square([v[3] * mask[0], v[4] * mask[1]])).toBeCloseTo(square(free), 9);
    }
  });

  it("has the volume of its columns", () => {
    const whole = patterns.of([DRAWN, DRAWN, DRAWN, DRAWN]);
    const rows = Array.from({ length: n }, (_, i) => standard.matrix.slice(i * n, (i + 1) * n));
    expect(logVolumeOf(whole)).toBeCloseTo(Math.log(Math.abs(determinant(rows))), 9);
  });

  it("keeps categories separate", () => {
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++)
        if ((i === 3 || i === 4) !== (j === 3 || j === 4))
          expect(standard.matrix[i * n + j]).toBeCloseTo(0, 12);
  });
});

describe("a head", () => {
  it("is Bayes' rule for a class whose probabilities the network predicts", () => {
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
