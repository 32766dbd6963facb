/**
 * Tables of every domain, from fit to rows that are inside, by networks that hardly learned
 * anything.
 */
import { affine } from "diffeo/bijector";
import {
  angle,
  ball,
  type Cell,
  correlation,
  covariance,
  type Domain,
  domain,
  ordered,
  real,
  simplex,
  sphere,
} from "diffeo/domain";
import { key, normal } from "diffeo/random";
import { describe, expect, it } from "vitest";
import { fitTable } from "../../src/diffusion/fit/fit.ts";

const tiny = { width: 8, blocks: 1, steps: 2, threads: 1 } as const;
const few = { evaluations: 20 };

/** A custom domain: a map, and what is inside. */
const doubled = domain({
  kind: "doubled",
  map: affine({ scale: 2 }),
  dimension: 1,
  fault: ([y]) => (Math.abs(y) < 1e6 ? undefined : `${y} is too large`),
});

const shares = (a: number, b: number, c: number): number[] => {
  const total = Math.exp(a) + Math.exp(b) + Math.exp(c);
  return [a, b, c].map((v) => Math.exp(v) / total);
};

type Case = readonly [
  name: string,
  domain: Domain,
  columns: readonly string[],
  row: (z: Float64Array) => readonly Cell[],
];
const cases: readonly Case[] = [
  ["an angle", angle({ period: 360, centre: 90 }), ["of"], ([a]) => [90 + 60 * a]],
  ["a ball", ball(["x", "y"], { radius: 3 }), ["x", "y"], ([a, b]) => [Math.tanh(a), Math.tanh(b)]],
  [
    "a sphere",
    sphere(["x", "y", "z"], { centre: [0, 0, 1] }),
    ["x", "y", "z"],
    ([a, b]) => [a, b, 2].map((v) => v / Math.hypot(a, b, 2)),
  ],
  [
    "a covariance",
    covariance(["s11", "s21", "s22"]),
    ["s11", "s21", "s22"],
    ([a, b, c]) => [Math.exp(2 * a), Math.exp(a) * b, b * b + Math.exp(c)],
  ],
  ["a correlation", correlation(["r21"]), ["r21"], ([a]) => [Math.tanh(a)]],
  [
    "an ordered triple within bounds",
    ordered(["p", "q", "r"], { above: 0, below: 24 }),
    ["p", "q", "r"],
    ([a, b, c]) => {
      const [s, t, u] = shares(a, b, c);
      return [20 * s, 20 * (s + t), 20 * (s + t + u) + 1];
    },
  ],
  [
    "a whole with exact zeros",
    simplex(["sand", "silt", "clay"], { total: 100, zeros: 0.02 }),
    ["sand", "silt", "clay"],
    ([a, b, c]) => {
      const [s, t, u] = shares(a, b, c);
      return s < 0.2 ? [0, (100 * t) / (t + u), (100 * u) / (t + u)] : [100 * s, 100 * t, 100 * u];
    },
  ],
  ["custom", doubled, ["of"], ([a]) => [2 * a]],
];

describe("a table with", () => {
  it.each(cases)(
    "%s next to a number gives rows inside the domain",
    async (_, of, columns, row) => {
      const z = normal(key(1), [60, 3], { dtype: "float64" }).data;
      const rows = Array.from({ length: 60 }, (_, i) => [
        ...row(z.subarray(3 * i, 3 * i + 3)),
        z[3 * i],
      ]);
      const model = await fitTable(rows, { columns: { of, more: real() }, ...tiny });
      expect(model.domain.columns).toEqual([...columns, "more"]);
      const { rows: drawn } = await model.sample({ count: 300, ...few });
      for (const one of drawn) expect(model.domain.fault(one)).toBeUndefined();
      const given = await model.sample({ count: 50, given: { more: 0.5 }, ...few });
      for (const one of given.rows) {
        expect(model.domain.fault(one)).toBeUndefined();
        expect(one.at(-1)).toBe(0.5);
      }
      const [first] = rows;
      const own = Object.fromEntries(columns.map((name, i) => [name, first[i]]));
      const { rows: rest } = await model.sample({ count: 5, given: own, ...few });
      for (const one of rest) expect(one.slice(0, -1)).toEqual(first.slice(0, -1));
      const scores = await model.logLikelihood(
        [...rows.slice(0, 5), [...columns.map(() => null), 1]],
        few,
      );
      for (const score of scores) expect(Number.isFinite(score)).toBe(true);
    },
  );

  it("some exact zeros gives samples with some", async () => {
    const [, of, , row] = cases[6];
    const z = normal(key(2), [200, 3], { dtype: "float64" }).data;
    const rows = Array.from({ length: 200 }, (_, i) => row(z.subarray(3 * i, 3 * i + 3)));
    const model = await fitTable(rows, {
      columns: { of },
      ...tiny,
      width: 16,
      steps: 120,
      rate: 8e-3,
    });
    const { rows: drawn } = await model.sample({ count: 1000 });
    const zeros = (some: readonly (readonly Cell[])[]): number =>
      some.filter(([sand]) => sand === 0).length / some.length;
    expect(Math.abs(zeros(drawn) - zeros(rows))).toBeLessThan(0.15);
    for (const one of drawn)
      expect((one as number[]).reduce((s, v) => s + v, 0)).toBeCloseTo(100, 9);
    // 0 is anything below 2: of one u its chance is 2, a zero, times the density in the middle,
    // where parts sum to 101 and 102.
    const [one, half, two, both] = await model.logLikelihood(
      [
        [0, 30, 70],
        [1, 30, 70].map((v) => v / 1.01),
        [0, 0, 100],
        [1, 1, 100].map((v) => v / 1.02),
      ],
      { ...few, spread: 1 },
    );
    expect(one - half).toBeCloseTo(Math.log(2), 4);
    expect(two - both).toBeCloseTo(2 * Math.log(2), 4);
  });
});

describe("given cells", () => {
  const rows = Array.from({ length: 40 }, (_, i) => {
    const [a, b, c] = normal(key(i), 3, { dtype: "float64" }).data;
    return [...shares(a, b, c), a, a + Math.exp(b)];
  });
  const columns = { whole: simplex(["u", "v", "w"]), span: ordered(["from", "to"]) };

  it("may be all but one of the parts of a whole, but not a part of another group", async () => {
    const model = await fitTable(rows, { columns, ...tiny });
    const { rows: drawn } = await model.sample({ count: 3, given: { u: 0.25, w: 0.25 } });
    for (const [u, v, w, from, to] of drawn as number[][]) {
      expect([u, v, w]).toEqual([0.25, 0.5, 0.25]);
      expect(to).toBeGreaterThan(from);
    }
    const draw = (given: Readonly<Record<string, Cell>>) => model.sample({ count: 1, given });
    await expect(draw({ from: 1 })).rejects.toThrow(
      'of "from", "to" some are there and some are not, and they belong together',
    );
    await expect(draw({ u: 0.5 })).rejects.toThrow('of "u", "v", "w" some are there');
    await expect(draw({ from: 2, to: 1 })).rejects.toThrow('"from", "to": 1 is not greater than 2');
    await expect(model.complete([[0.2, 0.3, 0.5, 1, null]])).rejects.toThrow(
      'row 1: of "from", "to"',
    );
    await expect(model.complete([{ fro: 1 }])).rejects.toThrow('there is no column "fro"');
    await expect(model.complete([], { draws: 0 })).rejects.toThrow("draws is 0");
  });

  it("need the network of given cells", async () => {
    const without = await fitTable(rows, { columns, given: false, ...tiny });
    await expect(without.sample({ count: 1, given: { from: 1, to: 2 } })).rejects.toThrow(
      "fitted without a network of given cells",
    );
    const alone = await fitTable(
      rows.map((row) => row.slice(0, 3)),
      { columns: { whole: columns.whole }, ...tiny },
    );
    expect(alone.given).toBeUndefined();
    await expect(alone.complete([[null, null, null]])).rejects.toThrow("has one part");
  });

  it("are refused if a column, or all rows, have only missing values", async () => {
    const holes = rows.map((row) => [...row.slice(0, 3), null, 1]);
    await expect(fitTable(holes, { columns, ...tiny })).rejects.toThrow(
      '"from", "to" has no value in any row',
    );
    const empty = rows.map((row, i) => (i < 5 ? row : row.map(() => null)));
    await expect(fitTable(empty, { columns, ...tiny })).rejects.toThrow("5 rows are too few");
    await expect(fitTable([...rows, [1, 2]], { columns, ...tiny })).rejects.toThrow(
      "row 41 has 2 cells",
    );
  });
});
